package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"termhost/ahp"
	"termhost/ahp/client"
)

const shareUsage = "[-n NAME] [ssh options] DEST [-- CMD ARGS...]"

// shareFarewell is how long a program that has ended waits for the host to have
// everything.
const shareFarewell = 2 * time.Second

// share shows a local program, or the user's shell, to a host.
func share(args []string, std stdio) int {
	name, target, argv, err := parseShare(args)
	switch {
	case errors.Is(err, errShareHelp):
		fmt.Fprintln(std.out, "usage: termhost share", shareUsage)
		return exitOK
	case err != nil:
		return fail(std, exitUsage, err.Error(), "usage: termhost share "+shareUsage)
	}
	in, out := standardFiles(std)
	if in == nil || out == nil {
		return fail(std, exitFailure, "standard input and output must be files", "")
	}
	s := &sharing{user: &userTerminal{in: in, out: out}, shell: prepareShell(argv), news: newNews()}
	if s.shell.cmd.Err != nil {
		return fail(std, 127, "cannot run the program: "+s.shell.cmd.Err.Error(), "")
	}
	s.link = newPatientLink(target, std.err, func(why string) {
		s.news.tell(target.dest + " refuses the login, and others see nothing new: " + why + ` Ctrl-\ r tries again`)
	})
	if err := s.connect(name); err != nil {
		return fail(std, exitFailure, "cannot share with "+target.dest+": "+err.Error(), shareHint(err))
	}
	defer s.publisher.client.Close()
	shown, _ := ahp.TerminalName(s.publisher.uri())
	fmt.Fprintf(std.err, "termhost: this terminal is shown as %s to everybody who may log in to %s; only you can type into it\n"+
		"termhost: Ctrl-\\ p pauses that and goes on; `ssh -t %s attach %s` watches\n", shown, target.dest, target.dest, shown)
	return s.run(std)
}

var errShareHelp = errors.New("help")

// parseShare reads share's own options, which come first, then ssh's, the host
// and the program.
func parseShare(args []string) (name string, target sshTarget, argv []string, err error) {
	if cut := slices.Index(args, "--"); cut >= 0 {
		args, argv = args[:cut], args[cut+1:]
		if len(argv) == 0 {
			return "", target, nil, errors.New("no program is named after --")
		}
	}
	for len(args) > 0 {
		switch {
		case args[0] == "-h" || args[0] == "-help" || args[0] == "--help":
			return "", target, nil, errShareHelp
		case args[0] == "-n" && len(args) > 1: // as with ssh's own -n, which has no use here
			name, args = args[1], args[2:]
			if !ahp.ValidName(name) {
				return "", target, nil, fmt.Errorf("%q is no name for a terminal: use 1 to 64 letters, digits, dots, underscores and dashes", name)
			}
			continue
		}
		break
	}
	target, err = parseTarget(args)
	return name, target, argv, err
}

func shareHint(err error) string {
	var refused *ahp.Error
	switch {
	case errors.As(err, &refused) && refused.Code == ahp.CodeTerminalExists:
		return "choose another name with -n"
	case errors.As(err, &refused):
		return ""
	}
	return "see whether this works: ssh DEST ls"
}

// standardFiles returns the standard streams as files.
func standardFiles(std stdio) (in, out *os.File) {
	in, _ = std.in.(*os.File)
	out, _ = std.out.(*os.File)
	return in, out
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
	user      *userTerminal
	shell     *localShell
	link      *patientLink
	news      *news
	feed      *feed
	publisher *publisher
	hungUp    atomic.Bool // the program is ended
}

// connect reaches the host and makes the terminal there.
func (s *sharing) connect(name string) error {
	size := s.user.size()
	j := newJournal()
	s.feed = newFeed(s.user.out, j, int(size.Col), int(size.Row), s.shell.nonce)
	p := newPublisher(j, s.feed, s.news, s.link)
	s.publisher = p
	p.names = name == ""
	if name == "" {
		name = machineName()
	}
	p.params = ahp.CreateTerminalParams{Channel: ahp.TerminalURI(name), Name: name, ExecutionTarget: ahp.ExecutorClient,
		Meta: &ahp.CreateTerminalMeta{Termhost: &ahp.CreateTerminalExtras{Grace: shareGrace}}}
	if dir := workingDirectory(); dir != "" {
		p.params.Cwd = ahp.FileURI(dir)
	}
	ctx := context.Background()
	c, err := client.Connect(ctx, client.Config{Dial: client.Lines(s.link.open), OnState: p.onState, OnAction: p.onAction})
	if err != nil {
		return err
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
func (s *sharing) run(std stdio) int {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, shareSignals()...) // before there is anything to be given back
	defer signal.Stop(signals)
	defer s.user.restore()
	if err := s.user.raw(); err != nil {
		return fail(std, exitFailure, "cannot use the terminal: "+err.Error(), "")
	}
	s.link.words.hush()
	if err := s.shell.start(s.user.size()); err != nil {
		s.user.restore()
		return fail(std, startStatus(err), "cannot run the program: "+err.Error(), "")
	}
	if !s.user.shown() {
		s.feed.answer = func(p []byte) { _, _ = s.shell.pty.Write(p) }
	}
	ctx, stop := context.WithCancel(context.Background())
	var background sync.WaitGroup
	background.Go(s.guarded(func() { s.publisher.run(ctx) }))
	background.Go(s.guarded(func() { s.news.run(ctx, s.announcer(std.err)) }))
	go s.guarded(s.readKeys)() // ends with the process: a read of a terminal cannot be given up
	background.Go(s.guarded(func() { s.attend(ctx, signals) }))

	s.shell.carry(s.feed)
	status := s.shell.status()
	s.feed.exited(status)
	told := s.publisher.finish(shareFarewell)
	stop()
	background.Wait()
	s.feed.close()
	if s.hungUp.Load() {
		s.giveBack()
	}
	s.part(std, told)
	return status
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
			if errors.Is(err, io.EOF) && !s.user.typed() {
				const endOfInput = 4 // VEOF of termios(3)
				k.typed([]byte{endOfInput})
			}
			return
		}
	}
}

// announcer returns what shows a line to the user while the program runs, and
// returns whether it stays to be read.
func (s *sharing) announcer(stderr io.Writer) func(text string) (stays bool) {
	if s.user.shown() {
		return s.feed.notify
	}
	return func(text string) bool {
		_, err := fmt.Fprintf(stderr, "termhost: note: %s\n", text)
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
func (s *sharing) part(std stdio, told bool) {
	s.user.restore()
	select {
	case <-s.publisher.ended: // that has been told
	default:
		if !told {
			s.news.keep("the host could not be told of the end; it ends the terminal when it has waited for long enough")
		}
	}
	for _, text := range s.news.rest() {
		fmt.Fprintf(std.err, "termhost: note: %s\n", text)
	}
}

// startStatus is a shell's status for a program that cannot be started.
func startStatus(err error) int {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		return 127
	}
	return 126
}
