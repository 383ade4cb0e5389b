package verbs

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"syscall"
	"time"

	"termhost/ahp"
	"termhost/ahp/history"
	"termhost/ahp/host"
)

// grepFlags are the flags of `grep`.
type grepFlags struct {
	ignoreCase bool
	context    int
	command    string
	labels     ahp.Selector
}

// maxContext bounds the lines of context, which are kept in memory.
const maxContext = 1000

// defineGrep searches what terminals have printed.
func defineGrep(fs *flag.FlagSet) func(*invocation) int {
	var f grepFlags
	fs.BoolVar(&f.ignoreCase, "i", false, "match in upper and lower case alike")
	fs.IntVar(&f.context, "C", 0, "print `N` lines before and behind each as well")
	fs.StringVar(&f.command, "command", "",
		"search only the output of commands whose line contains `TEXT`")
	selectorFlag(fs, &f.labels)
	return func(v *invocation) int { return v.grep(f) }
}

// grepBatch is the size of a write, in bytes: a packet's worth (RFC 4253 section 6.1).
const grepBatch = 32 << 10

// grep prints the lines that match, each with its terminal's NAME and the time it was printed. As
// grep(1), it returns StatusFailed if there are none, and StatusUsage after an error.
func (v *invocation) grep(f grepFlags) int {
	if f.context < 0 || f.context > maxContext {
		return v.misused("-C is a number of lines, from 0 to %d", maxContext)
	}
	pattern, leave, err := v.Conn.Pattern(v.args[0], f.ignoreCase)
	var room *host.PatternRoomError
	switch {
	case errors.As(err, &room):
		v.failed(err)
		return StatusUsage
	case err != nil:
		return v.misused("%s", host.Printable(err.Error()))
	}
	defer leave()
	list, err := v.selected(v.args[1:], f.labels)
	if err != nil {
		v.failed(err)
		return StatusUsage
	}
	ctx, stop := v.untilInterrupted()
	defer stop()
	release, err := v.Conn.WaitReading(ctx)
	switch {
	case ctx.Err() != nil:
		return v.stopped(ctx)
	case err != nil:
		v.failed(err)
		return StatusUsage
	}
	defer release()
	work := v.Conn.Work(ctx)
	defer work.Rest()
	p := grepPrinter{w: bufio.NewWriterSize(work.Writer(v.stdout), grepBatch),
		groups: f.context > 0, shown: v.shown}
	s := history.Search{Pattern: pattern, Command: f.command, Context: f.context}
	for _, t := range list {
		p.t = t
		err := v.Conn.History(work, host.Source{Terminal: t}).Search(work, s, p.print)
		failed := p.w.Flush() != nil
		switch {
		case ctx.Err() != nil:
			return v.stopped(ctx)
		case failed:
			return StatusFailed
		case err != nil:
			v.failed(err)
			return StatusUsage
		}
	}
	if !p.found {
		return StatusFailed
	}
	return StatusOK
}

// grepPrinter prints lines as grep(1) does, with "--" between those that do not follow each other
// if there is context.
type grepPrinter struct {
	w      *bufio.Writer
	t      *host.Terminal // the one that is searched
	shown  func(name string) string
	groups bool
	found  bool
	buf    []byte
}

func (p *grepPrinter) print(l *history.Line) bool {
	sep := byte('-')
	if l.Matches {
		sep = ':'
	}
	out := p.buf[:0]
	if l.Apart && p.groups && p.found {
		out = append(out, "--\n"...)
	}
	out = append(append(out, p.shown(p.t.Name())...), sep)
	out = append(l.Time.UTC().AppendFormat(out, time.RFC3339), sep)
	p.buf = append(append(out, l.Text...), '\n')
	p.found = true
	_, err := p.w.Write(p.buf)
	return err == nil
}

// errInterrupted is the cause of a context that the peer has interrupted.
var errInterrupted = errors.New("interrupted")

// untilInterrupted returns a context that ends when the peer interrupts the verb, by ctrl-C at its
// terminal or by a signal, reads no more output, or is lost. stop must be called.
func (v *invocation) untilInterrupted() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(v.ctx)
	typed := v.interrupted()
	v.Go("waiting for an interrupt", func() {
		for {
			select {
			case sig := <-v.Signals():
				if sig != syscall.SIGINT && sig != syscall.SIGTERM {
					continue
				}
			case <-typed:
			case <-v.OutputRefused():
			case <-ctx.Done():
				return
			}
			cancel(errInterrupted)
			return
		}
	})
	return ctx, func() { cancel(nil) }
}

// statusInterrupted is a shell's status for a program that ctrl-C has ended.
const statusInterrupted = 128 + int(syscall.SIGINT)

// stopped returns the exit status after a context of untilInterrupted has ended.
func (v *invocation) stopped(ctx context.Context) int {
	if errors.Is(context.Cause(ctx), errInterrupted) {
		return statusInterrupted
	}
	return v.cutShort()
}
