package tty

import (
	"bytes"
	"io"
	"os"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// newWindow returns a terminal window of 70x20 and the terminal in it.
func newWindow(t *testing.T) (window, terminal *os.File) {
	t.Helper()
	window, terminal, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		window.Close()
		terminal.Close()
	})
	if err := pty.Setsize(window, &pty.Winsize{Cols: 70, Rows: 20}); err != nil {
		t.Fatal(err)
	}
	return window, terminal
}

func modesOf(t *testing.T, f *os.File) unix.Termios {
	t.Helper()
	modes, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return *modes
}

func TestRestoreReturnsTheModesBeforeTheFirstRaw(t *testing.T) {
	_, f := newWindow(t)
	terminal, before := New(f, f), modesOf(t, f)
	terminal.Restore()
	if modesOf(t, f) != before {
		t.Error("a terminal that is not raw is changed")
	}
	for range 2 {
		if err := terminal.Raw(); err != nil {
			t.Fatal(err)
		}
		if m := modesOf(t, f); m.Lflag&(unix.ICANON|unix.ECHO|unix.ISIG) != 0 {
			t.Errorf("the terminal is not raw: %+v", m)
		}
	}
	terminal.Restore()
	if got := modesOf(t, f); got != before {
		t.Errorf("afterwards it is %+v, and was %+v", got, before)
	}
	// Somebody else's changes are left alone.
	changed := before
	changed.Lflag &^= unix.ECHO
	if err := unix.IoctlSetTermios(int(f.Fd()), unix.TCSETS, &changed); err != nil {
		t.Fatal(err)
	}
	terminal.Restore()
	if got := modesOf(t, f); got != changed {
		t.Error("a second Restore changes the terminal")
	}
}

func TestATerminalThatIsGoneHasItsLastSize(t *testing.T) {
	window, f := newWindow(t)
	terminal := New(f, f)
	for range 2 {
		if size := terminal.Size(); size.Col != 70 || size.Row != 20 {
			t.Errorf("the size is %dx%d", size.Col, size.Row)
		}
		window.Close()
	}
	if !terminal.HasInput() || !terminal.HasOutput() {
		t.Error("it does not count as a terminal any more")
	}
}

func TestAFileIsNoTerminal(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, terminal := newWindow(t)
	for _, both := range []struct {
		in, out       *os.File
		input, output bool
	}{{f, terminal, false, true}, {terminal, f, true, false}} {
		got := New(both.in, both.out)
		if got.HasInput() != both.input || got.HasOutput() != both.output {
			t.Errorf("%+v: %v, %v", both, got.HasInput(), got.HasOutput())
		}
		if size := got.Size(); size.Col != 70 {
			t.Errorf("%+v: the size is %+v", both, size)
		}
	}
	piped := New(f, f)
	if err := piped.Raw(); err != nil {
		t.Error(err)
	}
	if size := piped.Size(); size.Col != 80 || size.Row != 24 {
		t.Errorf("without a terminal the size is %+v", size)
	}
}

func TestDiscardDropsWhatNobodyHasRead(t *testing.T) {
	window, f := newWindow(t)
	terminal := New(f, f)
	if err := terminal.Raw(); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"dropped", "kept"} {
		if _, err := window.WriteString(text); err != nil {
			t.Fatal(err)
		}
		terminal.AwaitInput()
		if text == "dropped" {
			terminal.Discard()
		}
	}
	got := make([]byte, 20)
	if n, err := terminal.Read(got); err != nil || string(got[:n]) != "kept" {
		t.Errorf("what is read is %q, %v", got[:n], err)
	}
}

// TestATerminalThatTakesNoOutputHoldsNobodyUp fills a terminal that nobody looks at.
func TestATerminalThatTakesNoOutputHoldsNobodyUp(t *testing.T) {
	window, f := newWindow(t)
	terminal := New(f, f)
	terminal.WriteSoon("seen")
	got := make([]byte, 20)
	if n, err := window.Read(got); err != nil || string(got[:n]) != "seen" {
		t.Errorf("what is shown is %q, %v", got[:n], err)
	}
	huge := string(bytes.Repeat([]byte("x"), 1<<20))
	terminal.WriteSoon(huge)
	read := make(chan int64)
	go func() {
		n, _ := io.CopyN(io.Discard, window, int64(len(huge)))
		read <- n
	}()
	if n := <-read; n != int64(len(huge)) {
		t.Errorf("of %d bytes %d are shown", len(huge), n)
	}
}
