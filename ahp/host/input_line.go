package host

import (
	"context"
	"errors"

	"termhost/ptypool/keyboard"
)

var (
	// ErrAsksSecret refuses a line that was not meant as the answer to a question for a secret.
	ErrAsksSecret = errors.New("it asks for a secret now")
	// ErrNoSecret refuses a secret that would be shown.
	ErrNoSecret = errors.New("it asks for no secret any more")
)

// SendLine types a line and Enter as [Conn.Send] does. secret: the person knows that the line
// answers a question for a secret, which does not show it. If the program asks for a secret and
// that is not known, or asks for none and the line is one, nothing is typed, and SendLine returns
// ErrAsksSecret or ErrNoSecret.
func (c *Conn) SendLine(ctx context.Context, t *Terminal, line string, secret bool) error {
	_, err := c.sendPatiently(ctx, t, func(m keyboard.Modes) ([]byte, error) {
		switch asked := t.approvals.secretAsked(); {
		case asked && !secret:
			return nil, ErrAsksSecret
		case secret && !asked:
			return nil, ErrNoSecret
		}
		return keyboard.AppendKeys([]byte(line), m, keyboard.Key{Code: keyboard.Enter}), nil
	})
	return err
}

// AsksSecret reports whether t's program asks for a secret, as SendLine understands it.
func (c *Conn) AsksSecret(t *Terminal) bool {
	t.term.Lock()
	defer t.term.Unlock()
	return t.approvals.secretAsked()
}
