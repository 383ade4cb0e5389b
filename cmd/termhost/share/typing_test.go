package share

import (
	"io"
	"os"
	"testing"

	"github.com/creack/pty"
)

// TestAWindowThatIsClosedTypesNothing hangs up the user's terminal, which then is no terminal any
// more. The hangup ends the program; an end of file must not be typed for it.
func TestAWindowThatIsClosedTypesNothing(t *testing.T) {
	window, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	if err := pty.Setsize(window, &pty.Winsize{Cols: 70, Rows: 20}); err != nil {
		t.Fatal(err)
	}
	s := newSharing(Config{In: tty, Out: tty, Err: io.Discard})
	if size := s.user.Size(); size.Col != 70 || size.Row != 20 {
		t.Fatalf("the size is %dx%d", size.Col, size.Row)
	}
	if got := typedAfter(t, s, func() { window.Close() }); got != "" {
		t.Errorf("%q is typed", got)
	}
	if size := s.user.Size(); size.Col != 70 || size.Row != 20 {
		t.Errorf("the size of what is gone is %dx%d", size.Col, size.Row)
	}
}

// TestTheEndOfAPipeIsTyped checks that a program whose input is a pipe reads an end of file.
func TestTheEndOfAPipeIsTyped(t *testing.T) {
	in, end, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	s := newSharing(Config{In: in, Out: in, Err: io.Discard})
	got := typedAfter(t, s, func() {
		end.Write([]byte("ls\n"))
		end.Close()
	})
	if got != "ls\n\x04" {
		t.Errorf("typed is %q", got)
	}
}

// typedAfter calls end and returns what the user has typed at the program by then.
func typedAfter(t *testing.T, s *sharing, end func()) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	s.program.pty = w
	end()
	s.readKeys()
	w.Close()
	typed, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(typed)
}
