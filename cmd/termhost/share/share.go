// Package share shows a program on a pty of this machine to a host, as a client-executed terminal:
// others watch, and only the user of this machine types.
//
// What the program prints passes through the tee: to the user's terminal first, and into the
// outbox, from which the publisher sends it to the host. So a slow or lost network never disturbs
// the user. What the host missed is sent again, or is replaced by a note of how much is missing
// and by the present screen.
package share

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
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
	"termhost/cmd/termhost/sshcmd"
	"termhost/cmd/termhost/tty"
	"termhost/ptypool/nonce"
	"termhost/ptypool/vt"
)

// farewellTime is how long share waits, after the program has ended, for the host to get
// everything.
const farewellTime = 2 * time.Second

// defaultKeepalive notices within about a minute that a connection hangs. ssh's
// ServerAliveInterval does not if a ControlMaster carries the connection, or if ssh itself hangs.
const defaultKeepalive = 15 * time.Second

// idLength is how many characters tell the shares of one key apart, in base32: 50 bits.
const idLength = 10

// Config says what is shared, and with which host.
type Config struct {
	Name   string        // the terminal's NAME; "": named after this machine
	Target sshcmd.Target // the host, unless it is on this machine
	Local  client.Dialer // the way to a host on this machine; nil: the host is Target
	Argv   []string      // the program; nil: the user's shell, with shell integration
	Dir    string        // the working directory that watchers are told; "": none
	// In and Out are the user's terminal, or files. ssh and Run write messages for the user to
	// Err while the program does not run.
	In, Out *os.File
	Err     io.Writer
	Version string // of termhost, for programs that ask the terminal for it
	// Keepalive is how often a silent host is asked for a sign of life. If it gives none four
	// times in a row, a new connection is made. 0: 15 seconds, as for ssh.
	Keepalive time.Duration
}

// ErrUnreachable is wrapped by the error for a host that cannot be connected to.
var ErrUnreachable = errors.New("no connection")

// StartError is the error for a program that cannot be started.
type StartError struct{ Err error }

func (e *StartError) Error() string { return "cannot run the program: " + e.Err.Error() }

// Unwrap returns the system's error.
func (e *StartError) Unwrap() error { return e.Err }

// Run runs the program to its end and returns its exit status as a shell reports it. Meanwhile the
// user's terminal is raw; it is restored however Run ends. If there is an error, the program was
// not run: the error is a *StartError, an *ahp.Error by which the host refuses the terminal, or
// one that wraps ErrUnreachable.
func Run(c Config) (status int, err error) {
	s := newSharing(c)
	if s.program.cmd.Err != nil {
		return 0, &StartError{s.program.cmd.Err}
	}
	dest, watch := c.Target.Dest, "ssh -t "+c.Target.Dest+" attach"
	if c.Local != nil {
		dest, watch = "this machine", "termhost attach"
	}
	if err := s.connect(); err != nil {
		return 0, fmt.Errorf("cannot share with %s: %w", dest, err)
	}
	defer s.publisher.client.Close()
	shown, _ := ahp.TerminalName(s.publisher.uri())
	fmt.Fprintf(c.Err, "termhost: this terminal is shown as %s to everybody who may log in to %s; "+
		"only you can type into it\n"+
		"termhost: Ctrl-\\ p pauses that and goes on; `%s %s` watches\n",
		shown, dest, watch, shown)
	return s.run()
}

// machineName returns the name of this machine, for terminals that are given none.
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
	user      *tty.Terminal
	program   *program
	dialer    *patientDialer
	notices   *notices
	tee       *tee
	publisher *publisher
	hungUp    atomic.Bool // the program is being ended
}

func newSharing(c Config) *sharing {
	s := &sharing{cfg: c, user: tty.New(c.In, c.Out), program: newProgram(c.Argv),
		notices: newNotices()}
	s.dialer = newPatientDialer(c.Target, c.Err, func(why string) {
		s.notices.show(c.Target.Dest + " refuses the login, and others see nothing new: " + why +
			` Ctrl-\ r tries again`)
	})
	return s
}

// connect reaches the host and makes the terminal there.
func (s *sharing) connect() error {
	size := s.user.Size()
	b := newOutbox()
	options := vt.Options{Version: s.cfg.Version}
	if s.program.grant != nil {
		options.Nonce = nonce.Genuine
	}
	s.tee = newTee(s.user, b, int(size.Col), int(size.Row), options)
	p := newPublisher(b, s.tee, s.notices, s.dialer)
	s.publisher = p
	name := s.cfg.Name
	p.renames = name == ""
	if name == "" {
		name = machineName()
	}
	extras := ahp.CreateTerminalExtras{Grace: ownerGrace}
	p.params = ahp.CreateTerminalParams{Channel: ahp.TerminalURI(name), Name: name,
		ExecutionTarget: ahp.ExecutorClient, Meta: &ahp.CreateTerminalMeta{Termhost: &extras}}
	if s.cfg.Dir != "" {
		p.params.Cwd = ahp.FileURI(s.cfg.Dir)
	}
	ctx := context.Background()
	dial := s.cfg.Local
	if dial == nil {
		dial = client.Lines(s.dialer.dial)
	}
	c, err := client.Connect(ctx, client.Config{Dial: dial,
		ClientID:  "share-" + strings.ToLower(rand.Text()[:idLength]), // people read it in listings
		Keepalive: cmp.Or(s.cfg.Keepalive, defaultKeepalive),
		OnState:   p.onState, OnAction: p.onAction})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	p.client = c
	s.program.sharedBy(c.ID())
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
	signal.Notify(arriving, handledSignals()...) // before the terminal is changed
	defer signal.Stop(arriving)
	defer s.user.Restore()
	if err := s.user.Raw(); err != nil {
		return 0, fmt.Errorf("cannot use the terminal: %w", err)
	}
	s.dialer.stderr.Hide()
	if err := s.program.start(s.user.Size()); err != nil {
		s.user.Restore()
		return 0, &StartError{err}
	}
	if !s.user.HasOutput() {
		s.tee.answer = func(p []byte) { _, _ = s.program.pty.Write(p) }
	}
	ctx, stop := context.WithCancel(context.Background())
	var background sync.WaitGroup
	background.Go(s.guarded(func() { s.publisher.run(ctx) }))
	background.Go(s.guarded(func() { s.notices.run(ctx, s.display()) }))
	go s.guarded(s.readKeys)() // until this process ends: a read of a terminal cannot be given up
	background.Go(s.guarded(func() { s.attend(ctx, arriving) }))

	s.program.copyOutput(s.tee)
	status = s.program.wait()
	s.tee.exit(status)
	told := s.publisher.finish(farewellTime)
	stop()
	background.Wait()
	s.tee.close()
	if s.hungUp.Load() {
		s.giveBack()
	}
	s.farewell(told)
	return status, nil
}

// readKeys passes on what the user types.
func (s *sharing) readKeys() {
	k := &typedKeys{
		program: func(p []byte) { _, _ = s.program.pty.Write(p) }, // it may just have ended
		command: s.command,
		help: func() {
			s.tee.notify(`Ctrl-\ p pauses sharing or goes on; Ctrl-\ Ctrl-\ types Ctrl-\`)
		},
	}
	buf := make([]byte, 4<<10)
	for {
		s.user.AwaitInput()
		n, err := s.user.Read(buf)
		k.take(buf[:n])
		if err != nil {
			if errors.Is(err, io.EOF) && !s.user.HasInput() {
				const endOfInput = 4 // VEOF of termios(3)
				k.program([]byte{endOfInput})
			}
			return
		}
	}
}

// display returns a function that shows the user a notice while the program runs, and reports
// whether it stays to be read.
func (s *sharing) display() func(text string) (stays bool) {
	if s.user.HasOutput() {
		return s.tee.notify
	}
	return func(text string) bool {
		_, err := fmt.Fprintf(s.cfg.Err, "termhost: note: %s\n", text)
		return err == nil
	}
}

// command does what the key after the prefix stands for. It returns false if that is nothing.
func (s *sharing) command(key rune) bool {
	switch key {
	case 'p':
		s.tee.toggle()
		return true
	case 'r':
		return s.dialer.retry()
	}
	return false
}

// guarded restores the user's terminal before a panic in f ends this process.
func (s *sharing) guarded(f func()) func() {
	return func() {
		defer func() {
			if v := recover(); v != nil {
				s.user.Restore()
				panic(v)
			}
		}()
		f()
	}
}

// farewell prints the notices that are still to be told. told says whether the host knows of the
// program's end.
func (s *sharing) farewell(told bool) {
	s.user.Restore()
	select {
	case <-s.publisher.ended: // the user knows why
	default:
		if !told {
			s.notices.keep("the host could not be told of the end; " +
				"it ends the terminal when it has waited for long enough")
		}
	}
	for _, text := range s.notices.rest() {
		fmt.Fprintf(s.cfg.Err, "termhost: note: %s\n", text)
	}
}
