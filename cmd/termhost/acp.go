package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"termhost/ahp/acp"
	"termhost/ahp/client"
)

const acpUsage = "[--local [-c FILE] | [ssh options] DEST] -- AGENT ARGS..."

const (
	// agentLeave is how long an agent may take to end when its editor has gone,
	// and when it is told to by a signal, before it is killed.
	agentLeave = 5 * time.Second
	// agentDrain is how long the output of an agent that has ended is read, when a
	// process that it left behind keeps it open.
	agentDrain = time.Second
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
	attach func(name string) []string // what shows a terminal here
	local  bool                       // the host is on this machine
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
	target, err := parseTarget(args)
	if err != nil {
		return hostWay{}, err
	}
	link := &sshLink{target: target, stderr: std.err}
	return hostWay{dial: client.Lines(link.open), attach: target.attach}, nil
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
		attach: func(name string) []string { return append(slices.Clip(attach), name) },
		local:  true,
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
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stderr = std.err
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that what a launcher starts ends as well
	cmd.WaitDelay = agentDrain
	if cmd.Err != nil {
		return fail(std, 127, "cannot run the agent: "+cmd.Err.Error(), "")
	}
	in, out, err := pipes(cmd)
	if err != nil {
		return fail(std, exitFailure, err.Error(), "")
	}
	defer in.Close()
	defer out.Close()
	proxy := acp.NewProxy(acp.ProxyConfig{
		Editor:    acp.Stream{In: std.in, Out: nopCloser{std.out}},
		Agent:     acp.Stream{In: out, Out: in},
		AgentName: filepath.Base(argv[0]),
		Dir:       workingDirectory(),
		Env:       way.environment(),
		Attach:    way.attach,
		Note:      func(s string) { fmt.Fprintf(std.err, "termhost: note: %s\n", s) },
	})
	host, err := client.Connect(context.Background(), client.Config{Dial: way.dial, MirrorBytes: acpMirrorBytes, OnState: proxy.HostState})
	if err != nil {
		return fail(std, exitFailure, "cannot reach the host: "+err.Error(), way.hint())
	}
	defer host.Close()
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	if err := start(cmd); err != nil {
		return fail(std, 126, "cannot run the agent: "+err.Error(), "")
	}
	return attend(cmd, proxy, host, signals, out)
}

// attend waits for the agent's end, or brings it about when the editor has gone
// or a signal says so, and returns the agent's exit status.
func attend(cmd *exec.Cmd, proxy *acp.Proxy, host *client.Client, signals <-chan os.Signal, out io.Closer) int {
	exited, carried := make(chan struct{}), make(chan error, 1)
	go func() {
		_ = cmd.Wait() // ProcessState says how it ended
		close(exited)
	}()
	go func() { carried <- proxy.Run(host) }()
	tell := func(sig syscall.Signal) { _ = syscall.Kill(-cmd.Process.Pid, sig) }
	gone, next := proxy.EditorGone(), syscall.SIGTERM
	var due <-chan time.Time
	for running := true; running; {
		select {
		case <-exited:
			running = false
		case <-gone:
			gone, due = nil, time.After(agentLeave)
		case sig := <-signals:
			tell(sig.(syscall.Signal))
			next, due = syscall.SIGKILL, time.After(agentLeave)
		case <-due:
			tell(next)
			next, due = syscall.SIGKILL, time.After(agentLeave)
		}
	}
	select {
	case <-carried:
	case <-time.After(agentDrain):
		out.Close() // somebody else has it open, or the editor does not read
		select {
		case <-carried:
		case <-time.After(agentDrain):
		}
	}
	return statusOf(cmd.ProcessState)
}

// statusOf returns a process's exit status as a shell tells it.
func statusOf(st *os.ProcessState) int {
	if ws, ok := st.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return st.ExitCode()
}

func workingDirectory() string {
	dir, err := os.Getwd()
	if err != nil {
		return "" // the host's choice
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
