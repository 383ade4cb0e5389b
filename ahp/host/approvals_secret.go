package host

import (
	"termhost/authz"
	"termhost/ptypool/foreground"
)

// errSecret refuses an agent's input.
var errSecret = &authz.Denied{Verb: authz.Input, Rule: "a person must type this"}

// typesSecrets reports whether the one who asks may type where a program asks for a secret: people
// may, and tokens that were made for it.
func (s step) typesSecrets() bool {
	return s.principal.TypesSecrets || s.conn == nil || !s.conn.agent()
}

// refusesSecret returns errSecret if s may not type p because a program asks for a secret. The
// Term's lock is held.
func (ap *approvals) refusesSecret(s step, p []byte) error {
	if ap.t.host.cfg().AgentsTypeSecrets || s.typesSecrets() || breaksOff(p) || !ap.asksSecret() {
		return nil
	}
	return ap.t.denied(errSecret)
}

// asksSecret reports whether the program asks for a secret. It may have turned the echo off and not
// been found to wait yet, so the terminal itself is asked. The Term's lock is held.
func (ap *approvals) asksSecret() bool {
	t := ap.t
	if t.waiting.needs.program == WaitingSecret {
		return true
	}
	line, err := t.term.Line()
	return err == nil && line.Hidden() && foreground.Asks(t.term.Screen().LineText())
}

// dropForSecret drops what agents typed ahead, as far as the program has not taken it, when it asks
// for a secret. The Term's lock is held.
func (ap *approvals) dropForSecret() {
	t := ap.t
	queued, held := t.term.QueuesShown(), t.term.Held() > 0 && !ap.boundSecrets()
	if !queued && !held || !ap.asksSecret() {
		return
	}
	if queued {
		t.term.DropQueue()
	}
	ap.dropHeldText(errSecret.Rule)
}

// breaksOff reports whether p is nothing but ctrl-C or ctrl-D, with which anybody may end a
// question.
func breaksOff(p []byte) bool { return len(p) == 1 && (p[0] == 0x03 || p[0] == 0x04) }
