package host

import (
	"bytes"
	"context"
	"errors"
	"regexp"
	"strings"
	"time"

	"termhost/ahp"
	"termhost/ahp/store"
	"termhost/authz"
	"termhost/ptypool/vt"
)

// WaitFor says what [Conn.Wait] waits for besides the terminal's end, which ends every wait. The
// first condition to hold counts.
type WaitFor struct {
	Match   *regexp.Regexp // a line that is shown, one that is retained included; nil: none
	Fresh   bool           // a line for Match that is retained does not count
	Command bool           // no command is running any more
	Blocked bool           // the program waits for input or a secret
	Idle    time.Duration  // so long without output; 0: does not count
	Timeout time.Duration  // the longest wait; 0: unlimited
}

// WaitReason is what ended a wait.
type WaitReason string

// The reasons, in AHP's words for them.
const (
	WaitExit    WaitReason = "exit"
	WaitMatch   WaitReason = "match"
	WaitCommand WaitReason = "command"
	WaitIdle    WaitReason = "idle"
	WaitBlocked WaitReason = "blocked"
	WaitTimeout WaitReason = "timeout"
)

// Waited is how a wait ended.
type Waited struct {
	Reason WaitReason
	// ExitCode is the terminal's for WaitExit and the command's for WaitCommand; nil: the shell did
	// not tell it, or the reason has none.
	ExitCode *int
	// Waiting is what the program waits for, for WaitBlocked: [WaitingInput] or [WaitingSecret].
	Waiting Waiting
	// Line is the line so far that has matched, and Match the part of it, for WaitMatch.
	Line, Match string
}

// ErrNoCommands refuses to wait for the command of a terminal whose shell does not report any.
var ErrNoCommands = errors.New("this terminal's shell does not tell of its commands")

// Wait is [Conn.StartWait] and [PendingWait.End] in one.
func (c *Conn) Wait(ctx context.Context, t *Terminal, w WaitFor) (Waited, error) {
	p, err := c.StartWait(t, w)
	if err != nil {
		return Waited{}, err
	}
	return p.End(ctx)
}

// PendingWait is a wait that has begun. It is used by one goroutine.
type PendingWait struct {
	WaitFor
	a     *Attach
	lines lineMatcher
	found *Waited // nil: nothing was found yet
	// reacted is closed when the shell has reacted to an Enter, after which lastCommand may be
	// another; nil: there is none to be waited for.
	reacted <-chan struct{}
}

// StartWait begins to wait until the terminal has ended or a condition of w holds. Whatever happens
// from now on counts. With Command and no command running, the last one counts if there was one;
// else the next. An Enter that the shell has not reacted to yet counts as a command. StartWait
// returns *authz.Denied, [ErrNoCommands], *ahp.Error if the terminal has been disposed, or the
// cause of the connection's end. The wait must be ended.
func (c *Conn) StartWait(t *Terminal, w WaitFor) (*PendingWait, error) {
	if err := authz.Check(c.principal, authz.Wait, t.seen()); err != nil {
		return nil, err
	}
	// A read-only attach is given every byte and every command from now on.
	a, retained, err := c.Attach(t, AttachOptions{ReadOnly: true, quiet: true})
	if err != nil {
		return nil, err
	}
	p := &PendingWait{WaitFor: w, a: a, lines: lineMatcher{expr: w.Match}}
	switch {
	case w.Match != nil && w.Fresh:
		p.lines.skip(retained)
	case w.Match != nil && p.lines.add(retained):
		p.found = p.lines.found()
	}
	if w.Command && p.found == nil {
		if p.found, err = p.lastCommand(); err != nil {
			a.Close()
			return nil, err
		}
	}
	return p, nil
}

// End returns when the wait is over, and how. It returns the cause of ctx or of the connection's
// end. It is called once.
func (p *PendingWait) End(ctx context.Context) (Waited, error) {
	defer p.a.Close()
	if p.found != nil {
		return *p.found, nil
	}
	return p.wait(ctx)
}

// lastCommand returns how the last command ended; nil if one is running or about to be run, or
// there was none yet.
func (p *PendingWait) lastCommand() (*Waited, error) {
	t := p.a.t
	t.term.Lock()
	defer t.term.Unlock()
	st, _ := t.ch.Terminal()
	p.reacted = t.typist.reaction()
	switch {
	case !st.Detection && !t.integrated:
		return nil, ErrNoCommands
	case st.Running() != nil, t.typist.entered:
		return nil, nil
	}
	for i := len(st.Content) - 1; i >= 0; i-- {
		if c := st.Content[i].Command; c != nil {
			return &Waited{Reason: WaitCommand, ExitCode: c.ExitCode}, nil
		}
	}
	return nil, nil
}

// wait looks at what comes until a condition holds or the terminal has ended. What was shown before
// the end counts before the end does.
func (w *PendingWait) wait(ctx context.Context) (Waited, error) {
	idle, late := startTimer(w.Idle), startTimer(w.Timeout)
	defer idle.Stop()
	defer late.Stop()
	exited, done := false, w.a.t.done
	var items []store.Item
	for {
		program, changed := w.program()
		items = w.a.Pull(items[:0], pullPiece)
		for i := range items {
			if found, over := w.sees(items[i]); over {
				return found, nil
			}
			if w.Idle > 0 {
				idle.Reset(w.Idle)
			}
		}
		switch {
		case len(items) > 0:
			continue
		case exited:
			code := w.a.t.exit.Load().Code
			return Waited{Reason: WaitExit, ExitCode: &code}, nil
		case program != WaitingNone:
			return Waited{Reason: WaitBlocked, Waiting: program}, nil
		}
		select {
		case <-changed:
		case <-w.reacted:
			switch last, err := w.lastCommand(); {
			case err != nil:
				return Waited{}, err
			case last != nil:
				return *last, nil
			}
		case <-w.a.Signal():
		case <-done:
			exited, done = true, nil
		case <-idle.C:
			return Waited{Reason: WaitIdle}, nil
		case <-late.C:
			return Waited{Reason: WaitTimeout}, nil
		case <-w.a.kicked:
			return Waited{}, w.a.kickedBy
		case <-w.a.conn.ctx.Done():
			return Waited{}, context.Cause(w.a.conn.ctx)
		case <-ctx.Done():
			return Waited{}, context.Cause(ctx)
		}
	}
}

// program returns what the program waits for, if the condition is that it waits for something, and
// what is closed when that changes.
func (w *PendingWait) program() (Waiting, <-chan struct{}) {
	if !w.Blocked {
		return WaitingNone, nil
	}
	t := w.a.t
	t.term.Lock()
	defer t.term.Unlock()
	if t.waits.unsure {
		return WaitingNone, t.waitsChange()
	}
	return t.waits.program, t.waitsChange()
}

// startTimer returns a timer that fires after d; for 0, one that does not run.
func startTimer(d time.Duration) *time.Timer {
	t := time.NewTimer(max(d, 0))
	if d <= 0 {
		t.Stop()
	}
	return t
}

// sees reports whether what came is what is waited for.
func (w *PendingWait) sees(it store.Item) (found Waited, over bool) {
	if it.Lagged != nil {
		return w.matched(w.seesRetained())
	}
	if it.Entry == nil {
		return Waited{}, false
	}
	switch a := it.Entry.Action().(type) {
	case ahp.TerminalData:
		return w.matched(w.Match != nil && w.lines.add(a.Data))
	case ahp.TerminalCommandFinished:
		return Waited{Reason: WaitCommand, ExitCode: a.ExitCode}, w.Command
	}
	return Waited{}, false
}

func (w *PendingWait) matched(over bool) (Waited, bool) {
	if !over {
		return Waited{}, false
	}
	return *w.lines.found(), true
}

// seesRetained looks at all that is retained, after output came faster than it was looked at: the
// log is longer than the content, so all of that has come since.
func (w *PendingWait) seesRetained() bool {
	retained, err := w.a.Redraw()
	if err != nil || w.Match == nil { // err: the terminal is disposed, and its end comes next
		return false
	}
	w.lines = lineMatcher{expr: w.lines.expr}
	return w.lines.add(retained)
}

// lineMatcher looks for a line in output, of which only the text counts.
type lineMatcher struct {
	expr    *regexp.Regexp
	strip   vt.Stripper
	current []byte // the line so far
}

// maxMatchLine bounds the line that is kept, in bytes; of a longer one it is the end.
const maxMatchLine = 64 << 10

// add reports whether a line that p ends, or is part of, matches. It is the current one then.
func (m *lineMatcher) add(p []byte) bool { return m.each(p, m.expr.Match) }

// skip notes p, of which nothing counts but how the last line begins, for more of it may come.
func (m *lineMatcher) skip(p []byte) { m.each(p, func([]byte) bool { return false }) }

// each calls matches with each line of p as far as it has come, until that returns true.
func (m *lineMatcher) each(p []byte, matches func(line []byte) bool) bool {
	text := m.strip.Append(nil, p)
	for len(text) > 0 {
		line, rest, ended := cutLine(text)
		m.current = append(m.current, line...)
		if over := len(m.current) - maxMatchLine; over > 0 {
			m.current = append(m.current[:0], m.current[over:]...)
		}
		if matches(m.current) {
			return true
		}
		if ended {
			m.current = m.current[:0]
		}
		text = rest
	}
	return false
}

// found returns the current line, which has matched, as what ended a wait.
func (m *lineMatcher) found() *Waited {
	return &Waited{Reason: WaitMatch, Line: strings.ToValidUTF8(string(m.current), "\ufffd"),
		Match: strings.ToValidUTF8(string(m.expr.Find(m.current)), "\ufffd")}
}

// cutLine cuts p at its first line end, which is \r, too: programs draw progress with it.
func cutLine(p []byte) (line, rest []byte, ended bool) {
	i := bytes.IndexAny(p, "\r\n")
	if i < 0 {
		return p, nil, false
	}
	return p[:i], p[i+1:], true
}
