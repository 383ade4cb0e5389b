package acpproxy

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"termhost/ahp/client"
)

const (
	// agentLeave is how long an agent may take to end: after its editor has gone, until SIGTERM,
	// and after SIGTERM or another signal, until SIGKILL.
	agentLeave = 5 * time.Second
	// agentDrain is how long the output of an agent that has ended is read on if a process that it
	// left behind keeps it open.
	agentDrain = time.Second
	// Keepalive is how often a silent host is asked for a sign of life. After four times of that it
	// counts as lost.
	Keepalive = 15 * time.Second
	// Away is how long the agent's terminals wait for a host that is lost, before the agent is
	// told: longer than a restart of the host takes.
	Away = 30 * time.Second
	// mirrorBytes is how much of a terminal's output is kept to be shown as text, in bytes.
	mirrorBytes = 256 << 10
)

// Agent says how an agent is run. All fields but Env are required.
type Agent struct {
	Argv []string
	Dir  string // see [Config]
	Env  []string

	// The editor's streams, and where the agent and the proxy tell the user something.
	In       io.Reader
	Out, Err io.Writer

	Dial      client.Dialer             // the host
	Attach    func(uri string) []string // see [Config]
	Keepalive time.Duration             // how often a silent host is asked for a sign of life
	Away      time.Duration             // see [Config]
}

// StartError says that the agent cannot be run.
type StartError struct{ Err error }

func (e *StartError) Error() string { return "cannot run the agent: " + e.Err.Error() }
func (e *StartError) Unwrap() error { return e.Err }

// Run runs an agent between an editor and a host, until the agent has ended, and returns its exit
// status. SIGINT, SIGTERM and SIGHUP go to the agent. Run returns a [*StartError], or why the host
// cannot be reached.
func Run(a Agent) (status int, err error) {
	agent, err := prepareAgent(a.Argv, a.Err)
	if err != nil {
		return 0, &StartError{err}
	}
	defer agent.close()
	proxy := New(Config{
		Editor:    Stream{In: a.In, Out: nopCloser{a.Out}},
		Agent:     Stream{In: agent.out, Out: agent.in},
		AgentName: filepath.Base(a.Argv[0]),
		Dir:       a.Dir,
		Env:       a.Env,
		Attach:    a.Attach,
		Away:      a.Away,
		Notice:    func(s string) { fmt.Fprintf(a.Err, "termhost: note: %s\n", s) },
	})
	host, err := client.Connect(context.Background(), client.Config{
		Dial:        a.Dial,
		MirrorBytes: mirrorBytes,
		Keepalive:   a.Keepalive,
		OnState:     proxy.HostState,
	})
	if err != nil {
		why := strings.TrimPrefix(err.Error(), "client: ")
		return 0, fmt.Errorf("cannot reach the host: %s", why)
	}
	defer host.Close()
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	// Go ends a process that writes to a closed standard output (os/signal, SIGPIPE), which would
	// leave the agent behind. Notify makes that an error of the write.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	defer signal.Stop(broken)
	if err := agent.start(); err != nil {
		return 0, &StartError{err}
	}
	return attend(agent, proxy, host, signals), nil
}

// attend carries messages until the agent has ended, and returns its exit status. It brings the end
// about when the editor has gone or a signal comes. What the agent leaves behind ends with it.
func attend(
	agent *agentProcess, proxy *Proxy, host *client.Client, signals <-chan os.Signal,
) int {
	carried := make(chan error, 1)
	go func() { carried <- proxy.Run(host) }()
	gone, next := proxy.EditorGone(), syscall.SIGTERM
	var due <-chan time.Time
	for running := true; running; {
		select {
		case <-agent.ended:
			running = false
		case <-gone:
			gone, due = nil, time.After(agentLeave)
		case sig := <-signals:
			agent.signal(sig.(syscall.Signal))
			next, due = syscall.SIGKILL, time.After(agentLeave)
		case <-due:
			agent.signal(next)
			next, due = syscall.SIGKILL, time.After(agentLeave)
		}
	}
	agent.family.end()
	status := agent.reap()
	select {
	case <-carried:
	case <-time.After(agentDrain):
		agent.out.Close() // another process keeps it open, or the editor does not read
		select {
		case <-carried:
		case <-time.After(agentDrain):
		}
	}
	return status
}

// nopCloser is a stream that is not closed here.
type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
