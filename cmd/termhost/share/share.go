// Package share shows a program of this machine, on a pty of this machine, to a host
// as a client-executed terminal: others watch, and only its user types.
//
// What the program prints goes to the user's terminal first, through feed, and into
// a journal that publisher sends from: losing the network disturbs nobody here, and
// what is missing there is sent again or marked.
package share

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"termhost/ahp"
	"termhost/ahp/client"
	"termhost/cmd/termhost/sshlink"
	"termhost/ptypool/vt"
)

// farewell is how long a program that has ended waits for the host to have
// everything.
const farewell = 2 * time.Second

// Config says what is shared, and with whom.
type Config struct {
	Name   string         // the terminal's NAME; "": this machine's
	Target sshlink.Target // the host
	Argv   []string       // the program; nil: the user's shell, with shell integration
	Dir    string         // where it runs, for watchers; "": unknown
	// In and Out are the user's terminal, or files. Err is where ssh and Run speak
	// to the user while the program does not run.
	In, Out *os.File
	Err     io.Writer
	Version string // of termhost, for programs that ask
	// Keepalive is how often a host that says nothing is asked for a sign of life;
	// one that gives none four times in a row is connected to again. 0: 15 seconds,
	// as ssh is told.
	Keepalive time.Duration
}

// defaultKeepalive notices a connection that hangs after about a minute. ssh's own
// ServerAliveInterval does not where a ControlMaster carries it, or ssh itself hangs.
const defaultKeepalive = 15 * time.Second

// ErrUnreachable is what the errors of a host match that cannot be talked to at all.
var ErrUnreachable = errors.New("no connection")

// StartError is a program that cannot be started.
type StartError struct{ Err error }

func (e *StartError) Error() string { return "cannot run the program: " + e.Err.Error() }

// Unwrap returns what the system says.
func (e *StartError) Unwrap() error { return e.Err }

// Run runs the program to its end and returns its exit status, as a shell tells it.
// The user's terminal is raw meanwhile, and given back on every way out. An error
// says that nothing was run: a *StartError, an *ahp.Error with which the host refuses
// the terminal, or one that matches ErrUnreachable.
func Run(c Config) (status int, err error) {
	s := newSharing(c)
	if s.shell.cmd.Err != nil {
		return 0, &StartError{s.shell.cmd.Err}
	}
	dest := c.Target.Dest
	if err := s.connect(); err != nil {
		return 0, fmt.Errorf("cannot share with %s: %w", dest, err)
	}
	defer s.publisher.client.Close()
	shown, _ := ahp.TerminalName(s.publisher.uri())
	fmt.Fprintf(c.Err, "termhost: this terminal is shown as %s to everybody who may log in to %s; only you can type into it\n"+
		"termhost: Ctrl-\\ p pauses that and goes on; `ssh -t %s attach %s` watches\n", shown, dest, dest, shown)
	return s.run()
}

// machineName begins the name of a terminal that was given none.
func machineName() string {
	host, err := os.Hostname()
	host, _, _ = strings.Cut(host, ".")
	if err != nil || !ahp.ValidName(host) {
		return "shared"
	}
	return host
}

// sharing is one run of share.
type sharing struct {
	cfg       Config
	user      *userTerminal
	shell     *localShell
	link      *patientLink
	news      *news
	feed      *feed
	publisher *publisher
	hungUp    atomic.Bool // the program is ended
}

func newSharing(c Config) *sharing {
	s := &sharing{cfg: c, user: newUserTerminal(c.In, c.Out), shell: prepareShell(c.Argv), news: newNews()}
	s.link = newPatientLink(c.Target, c.Err, func(why string) {
		s.news.tell(c.Target.Dest + " refuses the login, and others see nothing new: " + why + ` Ctrl-\ r tries again`)
	})
	return s
}

// connect reaches the host and makes the terminal there.
func (s *sharing) connect() error {
	size := s.user.size()
	j := newJournal()
	s.feed = newFeed(s.user.out, j, int(size.Col), int(size.Row), vt.Options{Nonce: s.shell.nonce, Version: s.cfg.Version})
	p := newPublisher(j, s.feed, s.news, s.link)
	s.publisher = p
	name := s.cfg.Name
	p.names = name == ""
	if name == "" {
		name = machineName()
	}
	p.params = ahp.CreateTerminalParams{Channel: ahp.TerminalURI(name), Name: name, ExecutionTarget: ahp.ExecutorClient,
		Meta: &ahp.CreateTerminalMeta{Termhost: &ahp.CreateTerminalExtras{Grace: grace}}}
	if s.cfg.Dir != "" {
		p.params.Cwd = ahp.FileURI(s.cfg.Dir)
	}
	ctx := context.Background()
	c, err := client.Connect(ctx, client.Config{Dial: client.Lines(s.link.open), Keepalive: cmp.Or(s.cfg.Keepalive, defaultKeepalive),
		OnState: p.onState, OnAction: p.onAction})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	p.client = c
	s.shell.owned(c.ID())
	if !bytes.Contains(c.Hello().Meta, []byte(ahp.MetaClientExecuted)) {
		c.Close()
		return errors.New("this host does not take client-executed terminals")
	}
	if err := p.create(ctx); err != nil {
		c.Close()
		return err
	}
	p.begin()
	return nil
}

// run runs the program to its end and returns its exit status.
func (s *sharing) run() (status int, err error) {
	arriving := make(chan os.Signal, 16)
	signal.Notify(arriving, signals()...) // before there is anything to be given back
	defer signal.Stop(arriving)
	defer s.user.restore()
	if err := s.user.raw(); err != nil {
		return 0, fmt.Errorf("cannot use the terminal: %w", err)
	}
	s.link.words.hush()
	if err := s.shell.start(s.user.size()); err != nil {
		s.user.restore()
		return 0, &StartError{err}
	}
	if !s.user.shown {
		s.feed.answer = func(p []byte) { _, _ = s.shell.pty.Write(p) }
	}
	ctx, stop := context.WithCancel(context.Background())
	var background sync.WaitGroup
	background.Go(s.guarded(func() { s.publisher.run(ctx) }))
	background.Go(s.guarded(func() { s.news.run(ctx, s.announcer()) }))
	go s.guarded(s.readKeys)() // ends with the process: a read of a terminal cannot be given up
	background.Go(s.guarded(func() { s.attend(ctx, arriving) }))

	s.shell.carry(s.feed)
	status = s.shell.status()
	s.feed.exited(status)
	told := s.publisher.finish(farewell)
	stop()
	background.Wait()
	s.feed.close()
	if s.hungUp.Load() {
		s.giveBack()
	}
	s.part(told)
	return status, nil
}

// readKeys passes on what the user types.
func (s *sharing) readKeys() {
	k := &keyboard{
		typed:   func(p []byte) { _, _ = s.shell.pty.Write(p) }, // it may just have ended
		command: s.command,
		help:    func() { s.feed.notify(`Ctrl-\ p pauses sharing or goes on; Ctrl-\ Ctrl-\ types Ctrl-\`) },
	}
	buf := make([]byte, 4<<10)
	for {
		s.user.awaitKeys()
		n, err := s.user.in.Read(buf)
		k.take(buf[:n])
		if err != nil {
			if errors.Is(err, io.EOF) && !s.user.tty {
				const endOfInput = 4 // VEOF of termios(3)
				k.typed([]byte{endOfInput})
			}
			return
		}
	}
}

// announcer returns what shows a line to the user while the program runs, and
// returns whether it stays to be read.
func (s *sharing) announcer() func(text string) (stays bool) {
	if s.user.shown {
		return s.feed.notify
	}
	return func(text string) bool {
		_, err := fmt.Fprintf(s.cfg.Err, "termhost: note: %s\n", text)
		return err == nil
	}
}

// command does what a key after the prefix stands for. It is false if it stands for
// nothing.
func (s *sharing) command(key rune) bool {
	switch key {
	case 'p':
		s.feed.toggle()
		return true
	case 'r':
		return s.link.retry()
	}
	return false
}

// guarded gives the user's terminal back before a panic ends the program.
func (s *sharing) guarded(f func()) func() {
	return func() {
		defer func() {
			if v := recover(); v != nil {
				s.user.restore()
				panic(v)
			}
		}()
		f()
	}
}

// part tells the user what could not be said while the terminal was the
// program's.
func (s *sharing) part(told bool) {
	s.user.restore()
	select {
	case <-s.publisher.ended: // that has been told
	default:
		if !told {
			s.news.keep("the host could not be told of the end; it ends the terminal when it has waited for long enough")
		}
	}
	for _, text := range s.news.rest() {
		fmt.Fprintf(s.cfg.Err, "termhost: note: %s\n", text)
	}
}
