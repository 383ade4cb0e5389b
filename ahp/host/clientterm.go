package host

import (
	"time"
	"unicode/utf8"

	"termhost/ahp"
	"termhost/authz"
	"termhost/ptypool"
)

// A client-executed terminal has no pty here: its owner runs one and sends what
// it prints. Everything else is as with any terminal, and the parser and the
// screen are the same. Only the owner changes it: the connection that is at
// present that of the clientId which created it, of the principal which did. The
// claim names that clientId and never changes.

// ownership is what a client-executed terminal has and others have not.
type ownership struct {
	clientID  string
	principal string        // its ID
	grace     time.Duration // how long the owner may be away

	// Guarded by Host.mu.
	away *absence // nil: the owner is here

	// Guarded by the Term's lock.
	taken  int64       // the clientSeq of the owner's last action
	half   rune        // the first half of a character that the output was cut in; 0: none
	untold bool        // the owner has not said with what code its program exited
	ending *ahp.Origin // of the owner's terminal/exited; nil: it is the host that ends it
	notice string      // why the host does
}

// clientOptions say what a client-executed terminal is.
type clientOptions struct {
	owner  *Conn
	cwd    string // a file URI of the owner's machine; "": unknown
	grace  time.Duration
	stream bool // no pty: plain output
}

// baseClient begins the NAME that the host chooses for a client-executed terminal.
const baseClient = "shared"

// startClient makes the terminal that o.client describes.
func (h *Host) startClient(t *Terminal, o CreateOptions) error {
	c := o.client
	t.owned = &ownership{clientID: o.Claim.ClientID, principal: t.creator.ID, grace: c.grace}
	if err := h.register(t, o, c.cwd, baseClient); err != nil {
		return err
	}
	err := h.run(t, func() error {
		_, err := h.pool.Virtual(o.Cols, o.Rows, h.screen(""), events{t})
		return err
	})
	if err != nil {
		return err
	}
	h.mu.Lock()
	delete(c.owner.client.ended, t.uri)
	left := c.owner.client.conn == nil
	h.mu.Unlock()
	if left { // while the terminal was made, so that nobody has seen it
		h.remove(t)
		return ErrClosed
	}
	return nil
}

// targetOf is [Terminal.target] for who asks on a connection. Of the connections
// of one clientId only the newest is not ended.
func (t *Terminal) targetOf(s step) authz.Target {
	target := t.target(s.principal)
	if own := t.owned; own != nil {
		c := s.conn
		target.Owner = own.principal == s.principal.ID && c.client != nil && c.client.id == own.clientID && c.ctx.Err() == nil
	}
	return target
}

// The bounds of what an owner says of its commands, in bytes: those of the
// parser for a shell of the host's, and of a clientId.
const (
	maxCommandID   = 256
	maxCommandLine = 64 << 10
)

// The reasons for which an owner's action is rejected.
const (
	reasonPanic       = "the output could not be handled, and the terminal was ended; the host's log says more"
	reasonCommandID   = "the commandId must be 1 to 256 bytes long"
	reasonCommandLine = "the commandLine is longer than 64 KiB"
	reasonRunning     = "a command of this commandId is running"
	reasonNotRunning  = "no command of this commandId is running"
)

// takeOwned does what the owner of a client-executed terminal asks for, or
// returns why not. The Term's lock is held and the policy has agreed.
func (t *Terminal) takeOwned(s step, a ahp.Action) (reason string) {
	if t.exited {
		return reasonExited
	}
	switch a := a.(type) {
	case ahp.TerminalOutput:
		return t.takeOutput(s, a)
	case ahp.TerminalExited:
		code := ptypool.UnknownExit
		if a.ExitCode != nil {
			code = *a.ExitCode
		}
		t.owned.untold = a.ExitCode == nil
		t.endOwned(code, s.origin)
		if !s.conn.sub.Subscribed(t.ch) {
			s.conn.sub.Answer(t.uri, ahp.TerminalExited{ExitCode: a.ExitCode}, s.origin, "")
		}
	case ahp.TerminalCommandExecuted:
		return t.takeExecuted(s, a)
	case ahp.TerminalCommandFinished:
		if t.running == "" || t.running != a.CommandID {
			return reasonNotRunning
		}
		t.releaseHalf()
		t.running = ""
		t.accept(s, a)
	}
	return ""
}

// takeOutput feeds what the owner's pty printed. The owner gets its action back: whole
// if it follows the terminal, through the log, which is bounded in bytes. One that
// does not gets it without the bytes: its answers wait in the connection's own log,
// which is bounded in answers, each of which could be as large as a message. Output of
// nothing is for nobody else.
func (t *Terminal) takeOutput(s step, a ahp.TerminalOutput) (reason string) {
	var p []byte
	p, t.owned.half = a.Halves.Join(t.owned.half, a.Data)
	if !t.feed(p) {
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

// feedBytes is how much output is parsed at a time, so that log and content get
// it in the pieces that a pty of the host's would give.
const feedBytes = 64 << 10

// feed takes output of a client-executed terminal. It is false if that has ended
// the terminal. p is not kept.
func (t *Terminal) feed(p []byte) bool {
	for len(p) > 0 {
		n := min(len(p), feedBytes)
		t.term.Feed(p[:n])
		p = p[n:]
	}
	return !t.exited
}

// releaseHalf shows half a character, of which the other half does not come, as
// what it is in UTF-8: U+FFFD.
func (t *Terminal) releaseHalf() {
	if t.owned.half != 0 {
		t.owned.half = 0
		t.feed(utf8.AppendRune(nil, utf8.RuneError))
	}
}

// endOwned ends a client-executed terminal. origin is of the owner's own action;
// nil: it is not the owner that ends it.
func (t *Terminal) endOwned(code int, origin *ahp.Origin) {
	t.releaseHalf()
	t.owned.ending = origin
	t.term.End(ptypool.ExitStatus{Code: code})
}

// exitedAction is what tells of the end of t.
func (t *Terminal) exitedAction(code int) (a ahp.TerminalExited, origin *ahp.Origin) {
	a.ExitCode = &code
	if own := t.owned; own != nil {
		a.Notice, origin = own.notice, own.ending
		if own.untold {
			a.ExitCode = nil
		}
	}
	return a, origin
}

// takeExecuted begins a command. One that still runs is over.
func (t *Terminal) takeExecuted(s step, a ahp.TerminalCommandExecuted) (reason string) {
	switch {
	case a.CommandID == "" || len(a.CommandID) > maxCommandID:
		return reasonCommandID
	case len(a.CommandLine) > maxCommandLine:
		return reasonCommandLine
	case a.CommandID == t.running:
		return reasonRunning
	}
	t.releaseHalf()
	events{t}.finish(nil)
	t.runningAt = t.host.now()
	t.running = a.CommandID
	t.accept(s, a)
	t.content.command(t.ch, a)
	t.content.fed(t.ch, t.term.Screen())
	return ""
}
