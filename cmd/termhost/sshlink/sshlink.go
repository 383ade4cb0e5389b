// Package sshlink reaches a host by running the user's own ssh, so that its
// configuration, keys, agents, jump hosts and known_hosts are what they always are.
package sshlink

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Variable names the environment variable that replaces the ssh command. Its
// value is split at blanks: the program and arguments before all others.
const Variable = "TERMHOST_SSH"

// goodbye is how long ssh may take to end once nobody talks to it any more.
const goodbye = 2 * time.Second

// Target is a host, and what ssh is told to reach it.
type Target struct {
	program []string // ssh and what stands before all options
	options []string // the user's
	Dest    string   // as ssh takes it
}

// Parse reads the words "[ssh options] DEST". An error says what is wrong with it.
func Parse(args []string) (Target, error) {
	t := Target{program: strings.Fields(os.Getenv(Variable))}
	if len(t.program) == 0 {
		t.program = []string{"ssh"}
	}
	for i := 0; i < len(args); i++ {
		word := args[i]
		if !strings.HasPrefix(word, "-") || word == "-" {
			if t.Dest != "" {
				return t, fmt.Errorf("unexpected argument %q behind the host %s", word, t.Dest)
			}
			t.Dest = word
			continue
		}
		t.options = append(t.options, word)
		takes, err := optionTakesValue(word)
		if err != nil {
			return t, err
		}
		if takes {
			if i++; i == len(args) {
				return t, fmt.Errorf("ssh's option %s needs a value", word)
			}
			t.options = append(t.options, args[i])
		}
	}
	if t.Dest == "" {
		return t, errors.New("no host is named")
	}
	return t, nil
}

// optionTakesValue reports whether the next word is the value of ssh's option
// word (ssh(1), SYNOPSIS). It fails for options with which there is no
// connection to talk over.
func optionTakesValue(word string) (bool, error) {
	const (
		withValue = "BbcDEeFIiJLlmoPpRSw"
		useless   = "fGNnOQsVW"
	)
	if strings.HasPrefix(word, "--") {
		return false, fmt.Errorf("there is no option %s", word)
	}
	for i := 1; i < len(word); i++ {
		switch letter := word[i : i+1]; {
		case strings.Contains(useless, letter):
			return false, fmt.Errorf("ssh's option -%s leaves no connection to talk over", letter)
		case strings.Contains(withValue, letter):
			return i == len(word)-1, nil // else its value is the rest of the word
		}
	}
	return false, nil
}

// always returns what every ssh is told before the user's options, because of
// two options the first one counts: neither a RemoteCommand nor forwardings of
// the user's configuration belong to this connection.
func (t Target) always(first string) []string {
	return append(append([]string{}, t.program...), first, "-o", "RemoteCommand=none", "-o", "ClearAllForwardings=yes")
}

// subsystem returns the command line whose standard streams are AHP. A host that
// is not there any more is noticed after 45 seconds, unless the connection is a
// ControlMaster's. A batch connection asks nobody; a direct one is no master's.
func (t Target) subsystem(batch, direct bool) []string {
	argv := t.always("-T")
	if batch {
		argv = append(argv, "-o", "BatchMode=yes")
	}
	argv = append(argv, t.options...)
	if direct {
		argv = append(argv, "-S", "none") // the last -S counts, before any ControlPath
	}
	return append(argv, "-o", "ServerAliveInterval=15", t.Dest, "-s", "ahp")
}

// Attach returns the command line that shows a terminal, read-only.
func (t Target) Attach(terminal string) []string {
	argv := append(t.always("-t"), t.options...)
	return append(argv, t.Dest, "attach", "-r", terminal)
}

// Link opens connections to one host. Its fields are not changed once it is used. The first one may ask the user
// something; later ones never do, because nobody may be looking.
type Link struct {
	Target Target
	Stderr io.Writer // where ssh speaks to its user

	opened atomic.Bool
	direct atomic.Bool // an ssh hung: perhaps it was its ControlMaster that did
}

// UseMaster has the next connections go through the user's ControlMaster, if there is
// one, also where one has hung: for a host that refuses others.
func (l *Link) UseMaster() { l.direct.Store(false) }

// Open starts an ssh for one connection, whose Close ends it. Once one had to be
// killed, later ones do not share a connection with others (ssh_config(5),
// ControlMaster), which may hang as well.
func (l *Link) Open(context.Context) (io.ReadWriteCloser, error) {
	first := !l.opened.Swap(true)
	argv := l.Target.subsystem(!first, l.direct.Load())
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stderr = l.Stderr
	// In a process session of its own, no key that is pressed here ends ssh.
	// There it has no terminal to ask on, so the first one stays in ours, if we
	// have a terminal.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: !first || !hasTerminal()}
	cmd.WaitDelay = goodbye // for stderr, which a ControlMaster may keep open
	in, out, err := Pipes(cmd)
	if err != nil {
		return nil, err
	}
	if err := start(cmd); err != nil {
		in.Close()
		out.Close()
		return nil, fmt.Errorf("cannot run ssh: %w", err)
	}
	p := &process{cmd: cmd, in: in, out: out, killed: func() { l.direct.Store(true) }, done: make(chan struct{})}
	go p.wait()
	return p, nil
}

// hasTerminal reports whether this process has a controlling terminal.
func hasTerminal() bool {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return false
	}
	tty.Close()
	return true
}

// Pipes connects a command's standard input and output. The ends that are
// returned are ours; start closes the others.
func Pipes(cmd *exec.Cmd) (in, out *os.File, err error) {
	theirIn, in, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		theirIn.Close()
		in.Close()
		return nil, nil, err
	}
	cmd.Stdin, cmd.Stdout = theirIn, theirOut
	return in, out, nil
}

// start starts a command and closes its ends of the pipes here.
func start(cmd *exec.Cmd) error {
	err := cmd.Start()
	cmd.Stdin.(*os.File).Close()
	cmd.Stdout.(*os.File).Close()
	return err
}

// process is one connection. Close may be called at any time.
type process struct {
	cmd     *exec.Cmd
	in, out *os.File
	killed  func()        // is told that ssh did not end by itself
	done    chan struct{} // closed when ssh has ended
	err     error         // of Wait; set before done is closed
	once    sync.Once
}

func (p *process) wait() {
	p.err = p.cmd.Wait()
	close(p.done)
}

// Read reads what the host says. At the end it tells why ssh ended.
func (p *process) Read(b []byte) (int, error) {
	n, err := p.out.Read(b)
	if n > 0 || !errors.Is(err, io.EOF) {
		return n, err
	}
	select {
	case <-p.done:
		if p.err != nil {
			return 0, fmt.Errorf("ssh ended: %w", p.err)
		}
	case <-time.After(goodbye):
	}
	return 0, io.EOF
}

// Write sends something to the host.
func (p *process) Write(b []byte) (int, error) { return p.in.Write(b) }

// Close ends the connection: ssh ends by itself when nobody talks to it, or is
// killed.
func (p *process) Close() error {
	p.once.Do(func() {
		p.in.Close()
		p.out.Close()
		select {
		case <-p.done:
		case <-time.After(goodbye):
			p.killed()
			_ = p.cmd.Process.Kill() // it may just have ended
			<-p.done
		}
	})
	return nil
}
