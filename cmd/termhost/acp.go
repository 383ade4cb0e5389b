package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"termhost/ahp/client"
	"termhost/cmd/termhost/acpproxy"
	"termhost/cmd/termhost/config"
	"termhost/cmd/termhost/sshcmd"
)

const (
	// agentLeave is how long an agent may take to end: after its editor has gone, until SIGTERM,
	// and after SIGTERM or another signal, until SIGKILL.
	agentLeave = 5 * time.Second
	// agentDrain is how long the output of an agent that has ended is read on if a process that it
	// left behind keeps it open.
	agentDrain = time.Second
	// acpKeepalive is how often a silent host is asked for a sign of life. After four times of that
	// it counts as lost.
	acpKeepalive = 15 * time.Second
	// acpAway is how long the agent's terminals wait for a host that is lost, before the agent is
	// told: longer than a restart of the host takes.
	acpAway = 30 * time.Second
	// acpMirrorBytes is how much of a terminal's output is kept to be shown as text, in bytes.
	acpMirrorBytes = 256 << 10
)

// proxyACP is `termhost acp`. It runs an agent, and stands between it and the editor, which is on
// the standard streams.
func proxyACP(c *call) int {
	cut := slices.Index(c.args, "--")
	switch {
	case len(c.args) > 0 && isHelp(c.args[0]):
		return c.printUsage()
	case cut < 0 || cut == len(c.args)-1:
		return c.badUsage("no agent is named")
	}
	way, err := parseWay(c.args[:cut], c.std)
	if err != nil {
		return c.badUsage(err.Error())
	}
	return runAgent(way, c.args[cut+1:], c.std)
}

// hostWay is how a host is reached.
type hostWay struct {
	dial   client.Dialer
	attach func(uri string) []string // the command that shows a terminal on this machine
	local  bool                      // the host is on this machine

	keepalive time.Duration // acpKeepalive, or less in a test
	away      time.Duration // acpAway, or less in a test
}

// parseWay returns the way that the arguments before "--" name.
func parseWay(args []string, std stdio) (hostWay, error) {
	if len(args) > 0 && args[0] == "--local" {
		switch args = args[1:]; {
		case len(args) == 0:
			return localWay("")
		case len(args) == 2 && args[0] == "-c":
			return localWay(args[1])
		}
		return hostWay{}, errors.New("--local takes no host, only -c FILE")
	}
	target, err := sshcmd.Parse(args)
	if err != nil {
		return hostWay{}, err
	}
	dialer := &sshcmd.Dialer{Target: target, Stderr: std.err}
	return hostWay{
		dial:      client.Lines(dialer.Dial),
		attach:    target.Attach,
		keepalive: acpKeepalive,
		away:      acpAway,
	}, nil
}

// localWay returns the way through the unix socket of a host on this machine, which runs with a
// configuration file; "": without one.
func localWay(file string) (hostWay, error) {
	cfg, err := config.Load(file)
	if err != nil {
		return hostWay{}, err
	}
	self, err := os.Executable()
	if err != nil {
		return hostWay{}, fmt.Errorf("cannot tell which program this is: %w", err)
	}
	attach := []string{self, "attach", "-r"}
	if file != "" {
		if file, err = filepath.Abs(file); err != nil {
			return hostWay{}, fmt.Errorf("cannot tell where the configuration is: %w", err)
		}
		attach = append(attach, "-c", file)
	}
	socket := client.WebSocketOptions{Socket: cfg.SocketPath()}
	return hostWay{
		dial:      client.WebSocket("ws://localhost"+cfg.HTTP.Path, socket),
		attach:    func(uri string) []string { return append(slices.Clip(attach), uri) },
		local:     true,
		keepalive: acpKeepalive,
		away:      acpAway,
	}, nil
}

// hint says what to do when the host cannot be reached.
func (w hostWay) hint() string {
	if w.local {
		return "start it with: termhost serve"
	}
	return "see whether this works: ssh DEST ls"
}

// runAgent runs the agent between the standard streams and the host, and returns the agent's exit
// status.
func runAgent(way hostWay, argv []string, std stdio) int {
	agent, err := prepareAgent(argv, std.err)
	if err != nil {
		return fail(std, startStatus(err), "cannot run the agent: "+err.Error(), "")
	}
	defer agent.close()
	proxy := acpproxy.New(acpproxy.Config{
		Editor:    acpproxy.Stream{In: std.in, Out: nopCloser{std.out}},
		Agent:     acpproxy.Stream{In: agent.out, Out: agent.in},
		AgentName: filepath.Base(argv[0]),
		Dir:       workingDirectory(),
		Env:       way.environment(),
		Attach:    way.attach,
		Away:      way.away,
		Notice:    func(s string) { fmt.Fprintf(std.err, "termhost: note: %s\n", s) },
	})
	host, err := client.Connect(context.Background(), client.Config{
		Dial:        way.dial,
		MirrorBytes: acpMirrorBytes,
		Keepalive:   way.keepalive,
		OnState:     proxy.HostState,
	})
	if err != nil {
		why := strings.TrimPrefix(err.Error(), "client: ")
		return fail(std, exitFailure, "cannot reach the host: "+why, way.hint())
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
		return fail(std, startStatus(err), "cannot run the agent: "+err.Error(), "")
	}
	return attend(agent, proxy, host, signals)
}

// attend carries messages until the agent has ended, and returns its exit status. It brings the end
// about when the editor has gone or a signal comes. Processes that the agent leaves behind are hung
// up.
func attend(
	agent *agentProcess, proxy *acpproxy.Proxy, host *client.Client, signals <-chan os.Signal,
) int {
	ended, carried := agent.ended(), make(chan error, 1)
	go func() { carried <- proxy.Run(host) }()
	gone, next := proxy.EditorGone(), syscall.SIGTERM
	var due <-chan time.Time
	for running := true; running; {
		select {
		case <-ended:
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
	agent.signal(syscall.SIGHUP)
	agent.signal(syscall.SIGCONT) // what is stopped cannot be hung up
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

// workingDirectory returns this process's working directory; "" if it cannot be told.
func workingDirectory() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	return dir
}

// environment returns the variables of this process that the agent's commands get. On the same
// machine they should find the programs that the agent finds.
func (w hostWay) environment() []string {
	if path := os.Getenv("PATH"); w.local && path != "" {
		return []string{"PATH=" + path}
	}
	return nil
}

// nopCloser is a stream that is not closed here.
type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
