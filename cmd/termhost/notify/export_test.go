package notify

import "context"

// SetSend has messages go to a function, in the place of all targets.
func SetSend(n *Notifier, told func(title string)) {
	n.send = func(_ context.Context, _ *Target, m message) error { told(m.Title); return nil }
}

// SetSending has messages go to a function that says whether they arrive.
func SetSending(n *Notifier, send func(title, body string) error) {
	n.send = func(_ context.Context, _ *Target, m message) error { return send(m.Title, m.Body) }
}

// ErrRefused is what a server says that refuses a message.
var ErrRefused error = &refusedError{"403 Forbidden"}

// Operand is operand.
var Operand = operand
