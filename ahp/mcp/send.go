package mcp

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"

	"termhost/ahp/host"
	"termhost/authz"
	"termhost/ptypool/keyboard"
)

// send is terminal_send.
func (c *call) send() (string, error) {
	t, err := c.find()
	if err != nil {
		return "", err
	}
	text, keys, err := c.typing()
	if err != nil {
		return "", err
	}
	const otherwise = 5 // seconds
	wait, err := c.wait(otherwise)
	if err != nil {
		return "", err
	}
	if _, err := c.chars(); err != nil {
		return "", err
	}
	begun := time.Now()
	pending, err := c.conn.StartWait(t, host.WaitFor{Blocked: true, Idle: settled, Taken: true,
		Timeout: max(wait, 1)})
	if err != nil {
		return "", err
	}
	undecided, err := c.typed(t, wait, severalLines(text), text, keys...)
	if err != nil || undecided || time.Since(begun) > settled {
		_ = c.giveUp(pending) // it has been quiet for long, while a person decided
		pending = nil
	}
	switch {
	case err != nil:
		return "", err
	case undecided:
		return c.header(t, &output{}, c.client.cursor(t)) + "\n", nil
	case pending == nil:
		return c.after(t, host.WaitFor{Blocked: true, Idle: settled, Taken: true,
			Timeout: max(wait-time.Since(begun), settled)}, c.client.cursor(t))
	}
	if _, err := c.await(pending, nil); err != nil && !errors.Is(err, host.ErrGone) {
		return "", err
	}
	return c.result(t, c.client.cursor(t), false)
}

// typing returns the text and keys that the arguments have typed.
func (c *call) typing() (text []byte, keys []keyboard.Key, err error) {
	given, err := c.args.Text("text")
	if err != nil {
		return nil, nil, err
	}
	enter, err := c.args.Bool("enter", given != "")
	if err != nil {
		return nil, nil, err
	}
	names, err := c.args.Texts("keys")
	if err != nil {
		return nil, nil, err
	}
	if given != "" {
		c.what = quoted(given)
	}
	if key, meant := meantKey(given); meant {
		c.hint("%q means the key %s: name keys in keys.", given, key)
		given, names, enter = "", append([]string{key}, names...), false
	}
	if enter {
		given = withoutEnter(given)
		again := len(names) > 0 && strings.EqualFold(names[0], "enter")
		if !again || c.args.given("enter") != nil {
			names = append([]string{"enter"}, names...)
		}
	}
	for _, name := range names {
		key, err := keyboard.Parse(name)
		if err != nil {
			return nil, nil, &ArgumentError{"keys", "are refused: " + reason(err)}
		}
		keys = append(keys, key)
	}
	if len(given) == 0 && len(keys) == 0 {
		return nil, nil, &ArgumentError{"text", "or keys must be given"}
	}
	return []byte(given), keys, nil
}

// withoutEnter returns a text without the end of its last line, for which Enter is pressed.
func withoutEnter(text string) string {
	return strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
}

// severalLines reports whether a text has more than one line.
func severalLines(text []byte) bool { return bytes.ContainsAny(text, "\r\n") }

// meantKey returns the key that a model means that types its name.
func meantKey(text string) (key string, meant bool) {
	switch text {
	case "C-c", "^C", "\x03", "ctrl-c", "Ctrl-C", "Ctrl+C":
		return "ctrl-c", true
	case "C-d", "^D", "\x04", "ctrl-d", "Ctrl-D", "Ctrl+D":
		return "ctrl-d", true
	}
	return "", false
}

// typed types into a terminal; paste: as a paste. If that needs a person's yes, it waits for it for
// some time; undecided: nobody has decided then, and the input goes on waiting.
func (c *call) typed(
	t *host.Terminal, wait time.Duration, paste bool, text []byte, keys ...keyboard.Key,
) (undecided bool, err error) {
	if !t.Guarded() {
		if _, err := c.conn.SendText(c.ctx, t, paste, text, keys...); err != nil {
			return false, c.refusal(t, err)
		}
		return false, c.unread(t)
	}
	what := c.what
	if what == "" {
		what = "What you sent"
	}
	d := c.decide(t, what, "typed", func() (string, error) {
		return c.conn.SendText(c.conn.Context(), t, paste, text, keys...)
	})
	if !c.decided(d, max(wait, settled)) {
		return true, c.ctx.Err()
	}
	if d.err != nil {
		return false, c.refusal(t, d.err)
	}
	if c.typedIt = true; d.by != "" {
		c.hint("%s", d.text())
	}
	return false, nil
}

// unread notes if the program does not read yet what was typed. It returns an error if the rest of
// that was dropped.
func (c *call) unread(t *host.Terminal) error {
	held, err := c.conn.Held(c.ctx, t)
	var secret *authz.Denied
	switch {
	case c.ctx.Err() != nil: // what follows notices
	case errors.As(err, &secret) && c.conn.AsksSecret(t):
		return fmt.Errorf("%s asks for a secret, and what it had not read of what you sent was "+
			"dropped. %s", t.Name(), c.personTypes(t))
	case err != nil:
		return fmt.Errorf("%s: what %s had not read of what you sent was dropped", reason(err),
			t.Name())
	}
	c.waits, c.typedIt = held > 0, true
	return nil
}

// hintWaits tells how much of what was typed the program still does not read.
func (c *call) hintWaits() {
	if t := c.terminal.Load(); c.waits && t != nil {
		if held, err := t.Ahead(c.asked); err == nil && held > 0 {
			c.hint("The program does not read yet: %d bytes of it wait.", held)
		}
	}
}

// personTypes says how a secret is typed.
func (c *call) personTypes(t *host.Terminal) string {
	return fmt.Sprintf("A person must type it: ssh -t HOST attach %s; then %s", t.Name(),
		callText("terminal_read", "terminal", t.Name(), "wait_s", c.limit))
}

// heldBy refuses what only the holder may do. undone says that it was not done.
func (c *call) heldBy(t *host.Terminal, holder, undone string) error {
	return fmt.Errorf("held by %s; %s. Reading goes on: %s waits until it is handed back",
		holder, undone, callText("terminal_read", "terminal", t.Name(), "wait_s", c.limit))
}

// refusal returns what a model is told when an input was refused. Then nothing of it was typed: see
// [host.Conn.Send].
func (c *call) refusal(t *host.Terminal, err error) error {
	const undone = "nothing was typed"
	var held *host.HeldError
	if errors.As(err, &held) {
		return c.heldBy(t, held.Holder, undone)
	}
	if info := t.Info(c.conn.Principal()); c.ctx.Err() == nil && c.elsewhere(t, &info) {
		return c.heldBy(t, info.Holder, undone)
	}
	if errors.Is(err, host.ErrExited) {
		return fmt.Errorf("%s has exited; %s. Its output: %s; a new shell: %s",
			t.Name(), undone, callText("terminal_read", "terminal", t.Name(), "cursor", 0),
			callText("terminal_open"))
	}
	var denied *authz.Denied
	if errors.As(err, &denied) && c.conn.AsksSecret(t) {
		return fmt.Errorf("%s asks for a secret, and %s. %s", t.Name(), undone, c.personTypes(t))
	}
	return err
}
