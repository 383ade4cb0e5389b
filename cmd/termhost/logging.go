package main

import (
	"io"
	"log/slog"
	"os"

	"golang.org/x/term"
)

// newLogger returns the log of the host: text for a person, JSON for a machine.
// Nobody logs input, output, tokens or the values of variables.
func newLogger(w io.Writer) *slog.Logger {
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return slog.New(slog.NewTextHandler(w, nil))
	}
	return slog.New(slog.NewJSONHandler(w, nil))
}
