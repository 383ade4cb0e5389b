package host

import "termhost/authz"

// errSecret refuses an agent's input.
var errSecret = &authz.Denied{Verb: authz.Input, Rule: "a person must type this"}

// mayTypeSecrets reports whether s may type while a program asks for a secret: people may, and
// tokens that were made for it.
func (s step) mayTypeSecrets() bool {
	return s.principal.TypesSecrets || s.conn == nil || !s.conn.agent()
}

// checkSecret returns errSecret if s may not type p because a program asks for a secret. The Term's
// lock is held.
func (ap *approvals) checkSecret(s step, p []byte) error {
	if ap.t.host.cfg().AgentsTypeSecrets || s.mayTypeSecrets() {
		return nil
	}
	if breaksOff(p) || !ap.secretAsked() {
		return nil
	}
	return ap.t.denied(errSecret)
}

// secretAsked reports whether what is typed now may be a secret: the program asks for one, or the
// terminal does not show the line that is typed, whoever reads it and whatever stands before it. It
// looks at the pty itself, because no look may have found yet that the echo is off. The Term's
// lock is held.
func (ap *approvals) secretAsked() bool {
	t := ap.t
	if t.waiting.Reads() == WaitingSecret {
		return true
	}
	line, err := t.term.Line()
	return err == nil && line.Hidden()
}

// breaksOff reports whether p is ctrl-C or ctrl-D alone, with which anybody may end a question.
func breaksOff(p []byte) bool { return len(p) == 1 && (p[0] == 0x03 || p[0] == 0x04) }
