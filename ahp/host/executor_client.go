package host

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"termhost/ahp"
	"termhost/ahp/journal"
	"termhost/authz"
	"termhost/authz/admit"
	"termhost/ptypool"
)

// clientExecutor is for a client-executed terminal: a client, its owner, runs the program elsewhere
// and sends what the program prints. Only the owner changes the terminal. The owner is the clientId
// that created it, as long as the principal that created it uses it, and acts through its newest
// connection only. The claim names that clientId and never changes.
type clientExecutor struct {
	t      *Terminal
	client *client       // the owner's
	cwd    string        // a file URI of the owner's machine; "": unknown
	stream bool          // the output is a plain stream rather than a terminal's
	grace  time.Duration // how long the terminal waits for the owner

	away *absence // nil: the owner is here; guarded by Host.mu

	// Guarded by the Term's lock.
	taken int64 // the clientSeq of the owner's last action
	half  rune  // the first half of a character that is split between two actions; 0: none
	// again.N bytes of the output of the action again.Seq are in the log already: an earlier host
	// that was killed has written them.
	again  journal.OwnerMark
	untold bool        // the owner has not told its program's exit code
	ending *ahp.Origin // of the owner's terminal/exited; nil: somebody else ends the terminal
	notice string      // for the owner if somebody else ends the terminal; "": none
}

// absence is a time in which a terminal waits for its owner, which is away. It is guarded by
// Host.mu.
type absence struct {
	timer   *time.Timer // ends the terminal
	release func()      // stops following the owner's proof; nil: it is not followed
	over    bool
}

// mark returns what the log records of the owner's last action: n bytes of its output follow in the
// log, and was is what e.half was before it. The Term's lock is held.
func (e *clientExecutor) mark(n int, was rune) *journal.OwnerMark {
	m := &journal.OwnerMark{Seq: e.taken, Half: e.half, Was: was, N: int64(n)}
	if n > 0 {
		m.End = e.t.log.journal.Position() + m.N
	}
	return m
}

// baseClient is the beginning of the NAME that the host chooses for a client-executed terminal.
const baseClient = "shared"

func (e *clientExecutor) kind() authz.Executor { return authz.Client }

func (e *clientExecutor) isPty() bool { return !e.stream }

func (e *clientExecutor) piped() bool { return false }

// start returns ErrClosed if the owner has left meanwhile: nobody would know of the terminal.
func (e *clientExecutor) start(t *Terminal, o CreateOptions) error {
	e.t = t
	e.client.owns.Store(true)
	h := t.host
	h.giveWay(t.origin.creator, o)
	if err := h.register(t, o, e.cwd, baseClient); err != nil {
		return err
	}
	t.origin.screen = h.screen("")
	t.origin.screen.CharacterWidths = false // the program has asked the owner's terminal
	err := h.run(t, o.conn, func() error {
		_, err := h.pool.Virtual(o.Cols, o.Rows, t.origin.screen, events{t})
		return err
	})
	if err != nil {
		return err
	}
	h.mu.Lock()
	delete(e.client.ended, t.uri)
	left := e.client.conn == nil
	h.mu.Unlock()
	if left {
		h.remove(t, "")
		return ErrClosed
	}
	return nil
}

// owner also checks that the connection has not ended: of the connections of one clientId, only the
// newest has not. Without a connection it compares the principals alone.
func (e *clientExecutor) owner(s step) bool {
	if s.principal.ID != e.client.principal {
		return false
	}
	return s.conn == nil || s.conn.client == e.client && s.conn.ctx.Err() == nil
}

// heard records the owner's last action, which the owner is told when it comes back.
func (e *clientExecutor) heard(s step) {
	if e.owner(s) {
		e.taken = s.origin.ClientSeq
	}
}

func (e *clientExecutor) describe(d *journal.Description) { d.Grace = e.grace }

func (e *clientExecutor) owned() *journal.OwnerMark { return e.mark(0, e.half) }

// input fails: the owner types where the program runs. It is not reached, because the policy
// refuses.
func (e *clientExecutor) input([]byte, typing) error { return ptypool.ErrNoProcess }

func (e *clientExecutor) resize(cols, rows int) error { return e.t.resizeTerm(cols, rows) }

// clear trusts that the owner has cleared its own screen. After the exit the content stays, as a
// record of what was shown.
func (e *clientExecutor) clear() (redrawn bool, reason string) {
	if e.t.life.exited {
		return false, reasonExited
	}
	e.half = 0
	return true, ""
}

// end ends the terminal and tells the owner, so that it can end its program.
func (e *clientExecutor) end(_ time.Duration, notice string) {
	t := e.t
	t.term.Lock()
	running := !t.life.exited
	if running {
		e.notice = notice
		e.finish(ptypool.UnknownExit, nil)
	}
	t.term.Unlock()
	if running && notice != "" {
		e.tellOwner()
	}
}

// finishOwn is finish for the end of a program that the owner tells, and so need not be told of.
// The Term's lock is held.
func (e *clientExecutor) finishOwn(code int, origin *ahp.Origin) {
	e.t.attention.ender.knows(authz.Person(e.t.origin.creator.ID), e.t.host.now())
	e.finish(code, origin)
}

// finish ends the terminal. origin is that of the owner's action; nil: somebody else ends it. The
// Term's lock is held.
func (e *clientExecutor) finish(code int, origin *ahp.Origin) {
	e.releaseHalf()
	e.ending = origin
	e.t.term.End(ptypool.ExitStatus{Code: code})
}

func (e *clientExecutor) exited(code int) (a ahp.TerminalExited, origin *ahp.Origin) {
	a.Notice = e.notice
	if !e.untold {
		a.ExitCode = &code
	}
	return a, e.ending
}

// forget ends the wait for the owner. It also forgets the clientId of a [Share], which nobody else
// can use.
func (e *clientExecutor) forget() {
	e.endAbsenceLocked()
	h, cl := e.t.host, e.client
	if strings.HasPrefix(cl.id, sshPrefix) && cl.conn == nil && h.clients[cl.id] == cl {
		delete(h.clients, cl.id)
	}
}

// Bounds of what an owner tells of its commands, in bytes. An id is bounded as a clientId is, and a
// line as the parser bounds the lines of the host's own shells.
const (
	maxCommandID   = 256
	maxCommandLine = 64 << 10
)

// The reasons for which an owner's action is rejected.
const (
	reasonPanic = "the output could not be handled, and the terminal was ended; " +
		"the host's log says more"
	reasonCommandID   = "the commandId must be 1 to 256 bytes long"
	reasonCommandLine = "the commandLine is longer than 64 KiB"
	reasonRunning     = "a command of this commandId is running"
	reasonNotRunning  = "no command of this commandId is running"
)

// take takes an action of the owner's, or returns why not.
func (e *clientExecutor) take(s step, a ahp.Action) (reason string) {
	t := e.t
	if t.life.exited {
		return reasonExited
	}
	switch a := a.(type) {
	case ahp.TerminalOutput:
		return e.takeOutput(s, a)
	case ahp.TerminalExited:
		code := ptypool.UnknownExit
		if a.ExitCode != nil {
			code = *a.ExitCode
		}
		e.untold = a.ExitCode == nil
		e.finishOwn(code, s.origin)
		if !s.conn.sub.Subscribed(t.ch) {
			s.conn.sub.Answer(t.uri, ahp.TerminalExited{ExitCode: a.ExitCode}, s.origin, "")
		}
	case ahp.TerminalCommandExecuted:
		return e.takeExecuted(s, a)
	case ahp.TerminalCommandFinished:
		if t.commands.running == "" || t.commands.running != a.CommandID {
			return reasonNotRunning
		}
		e.releaseHalf()
		t.accept(s, a)
		t.commands.over(a)
	}
	return ""
}

// takeOutput feeds the output of the owner's program. An owner that follows the terminal gets the
// whole action back, through the terminal's log. Another gets it without the output: its answer
// waits in the connection's outbox, which large ones would soon fill.
func (e *clientExecutor) takeOutput(s step, a ahp.TerminalOutput) (reason string) {
	t := e.t
	var p []byte
	was := e.half
	p, e.half = a.Surrogates.Join(e.half, a.Data)
	if e.again.N > 0 && e.again.Seq == s.origin.ClientSeq {
		p = p[min(e.again.N, int64(len(p))):]
	}
	e.again = journal.OwnerMark{}
	t.log.outline.Owner = e.mark(len(p), was)
	t.log.recordEvent(journal.Event{Owner: t.log.outline.Owner}, t.log.when())
	if !e.feed(p) {
		return reasonPanic
	}
	a.Notice = s.notice
	if s.conn.sub.Subscribed(t.ch) {
		t.ch.Echo(a, s.origin)
	} else {
		s.conn.sub.Answer(t.uri, ahp.TerminalOutput{Notice: s.notice}, s.origin, "")
	}
	return ""
}

// feedBytes is how much output is parsed at a time, so that the log and the content get pieces of
// the same size as from a pty.
const feedBytes = 64 << 10

// feed gives output to the parser. It returns false if the output has ended the terminal. p is not
// kept.
func (e *clientExecutor) feed(p []byte) bool {
	for len(p) > 0 {
		n := min(len(p), feedBytes)
		e.t.term.Feed(p[:n])
		p = p[n:]
	}
	return !e.t.life.exited
}

// releaseHalf shows the first half of a character as U+FFFD, because no other half follows.
func (e *clientExecutor) releaseHalf() {
	if e.half != 0 {
		e.half = 0
		e.feed(utf8.AppendRune(nil, utf8.RuneError))
	}
}

// takeExecuted begins a command, and ends another one that still runs.
func (e *clientExecutor) takeExecuted(s step, a ahp.TerminalCommandExecuted) (reason string) {
	t := e.t
	switch {
	case a.CommandID == "" || len(a.CommandID) > maxCommandID:
		return reasonCommandID
	case len(a.CommandLine) > maxCommandLine:
		return reasonCommandLine
	case a.CommandID == t.commands.running:
		return reasonRunning
	}
	e.releaseHalf()
	t.commands.finish(nil)
	t.commands.startedAt = t.host.now()
	t.commands.running = a.CommandID
	a.By, a.Cwd = s.name(), t.ch.Summary().Cwd // whatever the owner says
	t.accept(s, a)
	t.commands.began(a.By)
	t.output.content.command(t.ch, a)
	t.output.content.fed(t.ch, t.term.Screen())
	t.log.keepCheckpoint()
	return ""
}

// maxEnded bounds the notices of ended terminals that are kept for an owner that is away.
const maxEnded = 64

// tellOwner sends the notice to an owner that does not follow the terminal, and keeps it for an
// owner that is away. An owner that follows the terminal gets the notice with the exit.
func (e *clientExecutor) tellOwner() {
	t, cl := e.t, e.client
	t.host.mu.Lock()
	defer t.host.mu.Unlock()
	if len(cl.ended) < maxEnded {
		if cl.ended == nil {
			cl.ended = map[string]string{}
		}
		cl.ended[t.uri] = e.notice
	}
	if c := cl.conn; c != nil && !c.sub.Subscribed(t.ch) {
		code := ptypool.UnknownExit
		c.sub.Answer(t.uri, ahp.TerminalExited{ExitCode: &code, Notice: e.notice}, nil, "")
	}
}

// endAbsenceLocked ends the wait, because the owner is back or the terminal gone. Host.mu is held.
func (e *clientExecutor) endAbsenceLocked() {
	a := e.away
	if a == nil {
		return
	}
	e.away = nil
	e.setAwayLocked(time.Time{})
	a.over = true
	a.timer.Stop()
	if a.release != nil {
		a.release()
	}
}

// setAwayLocked sets since when the owner is away; the zero time: it is here. Host.mu is held.
func (e *clientExecutor) setAwayLocked(at time.Time) {
	e.t.away.Store(&at)
	text := ""
	if !at.IsZero() {
		text = at.UTC().Format(time.RFC3339)
	}
	e.t.ch.SetMeta(func(m *ahp.TerminalMeta) { m.AwaySince = text })
	e.t.host.list.changed()
}

// WaitOutput returns when the connection's reader may read on: at once, unless its peer sends what
// client-executed terminals show faster than the configuration allows. An error is ctx's cause.
func (c *Conn) WaitOutput(ctx context.Context) error {
	if c.client == nil {
		return nil
	}
	return admit.Pause(ctx, c.client.output.delay(c.host.cfg().ClientOutputRate, c.host.now()))
}
