package host

import (
	"errors"

	"termhost/ptypool"
	"termhost/ptypool/foreground"
	"termhost/ptypool/keyboard"
)

// What an agent types without a person having seen it is bound to what the person has said yes to:
// to a command, or to a question. See [ptypool.Term.InputBound]. What was shown and approved is
// not.

var errTrustUnwatched = errors.New("nobody may watch whether the program reads; say yes to each")

// binds reports whether p, which s types, is bound. The Term's lock is held.
func (ap *approvals) binds(s step, p []byte) bool {
	if s.answers != nil {
		return true
	}
	return ap.on && s.conn != nil && s.conn.agent() && !s.approved && !ap.interrupts(p)
}

// bind notes what s types next is bound to. The Term's lock is held.
func (ap *approvals) bind(s step) {
	if s.answers != nil || ap.t.term.Held() == 0 {
		ap.answers = s.answers
	}
}

// boundTo returns for which process group bound input is, and whether it may be a secret; 0: for
// none any more, and what was held of it has been dropped. The Term's lock is held.
func (ap *approvals) boundTo() (group int, secrets bool) {
	q := ap.answers
	switch {
	case q == nil:
		ap.lookAtTrust()
		return ap.trust.group, ap.trust.secrets
	case ap.stands(q):
		return q.line.Foreground, true
	}
	ap.answers = nil
	ap.dropHeldText(errQuestionOver.Error())
	return 0, false
}

// boundSecrets reports whether what is held may be a secret because of what it is bound to. The
// Term's lock is held.
func (ap *approvals) boundSecrets() bool {
	return ap.answers != nil || ap.trust.secrets
}

// LookBound finds out whether the program reads that the input is bound to.
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
	secret := !secrets && t.approvals.asksSecret()
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
		return passBound(line, secrets), by.Waits
	case reads == foreground.Unknown && asked: // sudo asks as another user
		return passBound(line, secrets), nil
	case reads == foreground.Unknown:
		t.term.Lock()
		defer t.term.Unlock()
		if t.approvals.trust.group == group {
			t.approvals.endTrust(errTrustUnwatched)
		}
	}
	return ptypool.PassNothing, nil
}

// passBound returns what may be typed to a program that reads alone.
func passBound(line ptypool.Line, secrets bool) ptypool.Pass {
	switch {
	case !line.Canonical:
		return ptypool.PassKey
	case line.Hidden() && !secrets:
		return ptypool.PassHidden
	}
	return ptypool.PassLine
}

// Key takes what is pressed as a sequence for one key, unless another could act in it by itself.
func (gate) Key(p []byte) int {
	n := keyboard.Length(p)
	for i := 1; i < n; i++ {
		if p[i] < ' ' || p[i] == 0x7f {
			return 1
		}
	}
	return max(n, 1)
}
