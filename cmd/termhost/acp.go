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

	"termhost/ahp/acp"
	"termhost/ahp/client"
	"termhost/cmd/termhost/sshlink"
)

const acpUsage = "[--local [-c FILE] | [ssh options] DEST] -- AGENT ARGS..."

const (
	// agentLeave is how long an agent may take to end when its editor has gone,
	// and when it is told to by a signal, before it is killed.
	agentLeave = 5 * time.Second
	// agentDrain is how long the output of an agent that has ended is read, when a
	// process that it left behind keeps it open.
	agentDrain = time.Second
	// acpKeepalive is how often a host that is silent is asked for a sign of life;
	// after a minute of silence it is lost, and the agent is told.
	acpKeepalive = 15 * time.Second
	// acpMirrorBytes is how much of a terminal's output is kept to be shown as text.
	acpMirrorBytes = 256 << 10
)

// proxyACP stands between an editor, on the standard streams, and an agent, which
// it runs.
func proxyACP(args []string, std stdio) int {
	cut := slices.Index(args, "--")
	switch {
	case len(args) > 0 && (args[0] == "-h" || args[0] == "--help"):
		fmt.Fprintln(std.out, "usage: termhost acp", acpUsage)
		return exitOK
	case cut < 0 || cut == len(args)-1:
		return fail(std, exitUsage, "no agent is named", "usage: termhost acp "+acpUsage)
	}
	way, err := parseWay(args[:cut], std)
	if err != nil {
		return fail(std, exitUsage, err.Error(), "usage: termhost acp "+acpUsage)
	}
	return runAgent(way, args[cut+1:], std)
}

// hostWay is how a host is reached.
type hostWay struct {
	dial   client.Dialer
	attach func(uri string) []string // what shows a terminal here
	local  bool                      // the host is on this machine
	// keepalive is how often the host is asked for a sign of life: acpKeepalive.
	keepalive time.Duration
}

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
	target, err := sshlink.Parse(args)
	if err != nil {
		return hostWay{}, err
	}
	link := &sshlink.Link{Target: target, Stderr: std.err}
	return hostWay{dial: client.Lines(link.Open), attach: target.Attach, keepalive: acpKeepalive}, nil
}

// localWay is the unix socket of the host on this machine that runs with the
// given configuration; "": none.
func localWay(file string) (hostWay, error) {
	cfg, err := loadConfig(file)
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
	socket := filepath.Join(cfg.StateDir, socketName)
	return hostWay{
		dial:   client.WebSocket("ws://localhost"+cfg.HTTP.Path, client.WebSocketOptions{Socket: socket}),
		attach: func(uri string) []string { return append(slices.Clip(attach), uri) },
		local:  true,

		keepalive: acpKeepalive,
	}, nil
}

// hint says what to do when the host cannot be reached.
func (w hostWay) hint() string {
	if w.local {
		return "start it with: termhost serve"
	}
	return "see whether this works: ssh DEST ls"
}

// runAgent runs the agent between the standard streams and the host, and returns
// its exit status.
func runAgent(way hostWay, argv []string, std stdio) int {
	agent, err := prepareAgent(argv, std.err)
	if err != nil {
		return fail(std, startStatus(err), "cannot run the agent: "+err.Error(), "")
	}
	defer agent.close()
	proxy := acp.NewProxy(acp.ProxyConfig{
		Editor:    acp.Stream{In: std.in, Out: nopCloser{std.out}},
		Agent:     acp.Stream{In: agent.out, Out: agent.in},
		AgentName: filepath.Base(argv[0]),
		Dir:       workingDirectory(),
		Env:       way.environment(),
		Attach:    way.attach,
		Note:      func(s string) { fmt.Fprintf(std.err, "termhost: note: %s\n", s) },
	})
	host, err := client.Connect(context.Background(), client.Config{Dial: way.dial, MirrorBytes: acpMirrorBytes, Keepalive: way.keepalive,
		OnState: proxy.HostState})
	if err != nil {
		return fail(std, exitFailure, "cannot reach the host: "+strings.TrimPrefix(err.Error(), "client: "), way.hint())
	}
	defer host.Close()
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	// An editor that does not read any more is an error of the write, and no end of
	// this process that leaves the agent behind.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	defer signal.Stop(broken)
	if err := agent.start(); err != nil {
		return fail(std, startStatus(err), "cannot run the agent: "+err.Error(), "")
	}
	return attend(agent, proxy, host, signals)
}

// attend waits for the agent's end, or brings it about when the editor has gone
// or a signal says so, and returns the agent's exit status. What the agent has
// started and left behind is hung up.
func attend(agent *agentProcess, proxy *acp.Proxy, host *client.Client, signals <-chan os.Signal) int {
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
		agent.out.Close() // somebody else has it open, or the editor does not read
		select {
		case <-carried:
		case <-time.After(agentDrain):
		}
	}
	return status
}

// workingDirectory returns where this process is; "": that is the host's choice.
func workingDirectory() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	return dir
}

// environment returns what of this process's environment the agent's commands
// get: on the same machine they should find the programs that the agent finds.
func (w hostWay) environment() []string {
	if path := os.Getenv("PATH"); w.local && path != "" {
		return []string{"PATH=" + path}
	}
	return nil
}

// nopCloser is a stream that is not ours to close.
type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
