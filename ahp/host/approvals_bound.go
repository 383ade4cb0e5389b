package host

import (
	"errors"

	"termhost/ptypool"
	"termhost/ptypool/foreground"
	"termhost/ptypool/keyboard"
)

// Input of an agent that no person has seen is bound to what the person has approved: a command, or
// a question for a secret. No other program may read it: see [ptypool.Term.InputBound]. Input that
// a person has seen and approved is not bound.

var errTrustUnwatched = errors.New("nobody may watch whether the program reads; say yes to each")

// binds reports whether p, typed by s, is bound. The Term's lock is held.
func (ap *approvals) binds(s step, p []byte) bool {
	if s.answers != nil {
		return true
	}
	return ap.on && s.conn != nil && s.conn.agent() && !s.approved && !ap.interrupts(p)
}

// bind sets what the next input, which s types, is bound to. The Term's lock is held.
func (ap *approvals) bind(s step) {
	if s.answers != nil || ap.t.term.Held() == 0 {
		ap.answers = s.answers
	}
}

// boundTo returns the process group that bound input is for, and whether the input may be a secret;
// 0: there is no such group. If the input answers a question that is over, boundTo drops it. The
// Term's lock is held.
func (ap *approvals) boundTo() (group int, secrets bool) {
	q := ap.answers
	switch {
	case q == nil:
		ap.lookAtTrust()
		return ap.trust.group, ap.trust.secrets
	case ap.stillAsked(q):
		return q.line.Foreground, true
	}
	ap.answers = nil
	ap.dropTypedAhead(errQuestionOver.Error())
	return 0, false
}

// LookBound finds out whether the program that the input is bound to reads.
func (g gate) LookBound(line ptypool.Line) (pass ptypool.Pass, still func() bool) {
	t := g.t
	t.term.Lock()
	if t.life.exited {
		t.term.Unlock()
		return ptypool.PassNothing, nil
	}
	t.kept.loadLocked()
	group, secrets := t.approvals.boundTo()
	asked, at := t.approvals.answers != nil, t.waiting.foregroundLocked(line)
	secret := !secrets && (line.Hidden() || t.approvals.secretAsked())
	t.term.Unlock()
	switch {
	case group == 0, group != line.Foreground:
		return ptypool.PassNothing, nil
	case secret:
		return ptypool.PassRefused, nil
	}
	reads, secret, by := foreground.Readers(at)
	switch {
	case secret && !secrets:
		return ptypool.PassRefused, nil
	case reads == foreground.Somebody:
		return passBound(line), by.Waits
	case reads == foreground.Unknown && asked: // sudo asks as another user
		return passBound(line), nil
	case reads == foreground.Unknown:
		t.term.Lock()
		defer t.term.Unlock()
		if t.approvals.trust.group == group {
			t.approvals.endTrust(errTrustUnwatched)
		}
	}
	return ptypool.PassNothing, nil
}

// passBound returns what may be typed while one program alone reads.
func passBound(line ptypool.Line) ptypool.Pass {
	if !line.Canonical {
		return ptypool.PassKey
	}
	return ptypool.PassLine
}

// Key returns the length of the first key in p. A sequence with a control character in it counts as
// separate bytes, because that character could act by itself.
func (gate) Key(p []byte) int {
	n := keyboard.Length(p)
	for i := 1; i < n; i++ {
		if p[i] < ' ' || p[i] == 0x7f {
			return 1
		}
	}
	return max(n, 1)
}
