package ptypool

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Floods with silence between them are read to their end, although in the silence the reader waits
// for the program's next byte and the program for its input.
func TestFloodsWithSilenceBetweenThemAreReadCompletely(t *testing.T) {
	p := newPool(t, Config{})
	const rounds = 40
	term, r := sh(t, p, `stty -echo; i=0; while [ $i -lt 40 ]; do i=$((i+1))
		head -c 50000 /dev/zero | tr '\0' x; echo "end $i."; read answer; done`)
	for i := range rounds {
		r.text(t, fmt.Sprintf("end %d.", i+1))
		if err := term.Input([]byte("\r")); err != nil {
			t.Fatal(err)
		}
	}
	r.exit(t, term)
	if n := strings.Count(r.output(), "x"); n != rounds*50_000 {
		t.Errorf("%d bytes came of %d", n, rounds*50_000)
	}
}

// A program that closes its terminal after a flood, and opens it again later, is heard.
func TestAProgramCanReopenItsTerminalAfterAFlood(t *testing.T) {
	p := newPool(t, Config{})
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	term, r := sh(t, p, `tty=$(tty); head -c 50000 /dev/zero | tr '\0' x; echo closing.
		exec >/dev/null 2>&1 <`+fifo+`; read go; exec >$tty; echo opened.; read go`)
	r.text(t, "closing.")
	// It returns when the program has opened it, and so has closed the terminal.
	f, err := os.OpenFile(fifo, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("go\n"); err != nil {
		t.Fatal(err)
	}
	r.text(t, "opened.")
	if _, err := f.WriteString("go\n"); err != nil {
		t.Fatal(err)
	}
	r.exit(t, term)
}
