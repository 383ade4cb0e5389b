package mcpproxy

import (
	"context"
	"errors"
	"io"
	"sync/atomic"

	"termhost/cmd/termhost/sshcmd"
)

// Heard has the connections that dial makes end with what they have said on their standard error
// stream. What the first one says is also shown; of the others, only why they have ended is told.
// refused is called when ssh could not log in.
func Heard(said *sshcmd.Stderr, dial func(context.Context) (io.ReadWriteCloser, error),
	refused func()) func(context.Context) (io.ReadWriteCloser, error) {
	var again atomic.Bool
	return func(ctx context.Context) (io.ReadWriteCloser, error) {
		if again.Swap(true) {
			said.Hide()
		}
		said.Forget()
		conn, err := dial(ctx)
		if err != nil {
			return nil, err
		}
		return &heard{conn, said, refused}, nil
	}
}

// heard is a connection whose last error is what it has said.
type heard struct {
	io.ReadWriteCloser
	said    *sshcmd.Stderr
	refused func()
}

// Read reads what the host sends.
func (h *heard) Read(p []byte) (int, error) {
	n, err := h.ReadWriteCloser.Read(p)
	if err == nil {
		return n, nil
	}
	if line := h.said.Refusal(); line != "" {
		h.refused()
		return n, &RefusedError{line, sshcmd.RefusalPause}
	}
	if line := h.said.Last(); line != "" {
		return n, errors.New(line)
	}
	return n, err
}
