package ptypool

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"termhost/ahp/hosttest/slowtest"
)

// pour writes all of p the way a door does: when the queue is full it waits for room.
func pour(t testing.TB, term *Term, p []byte) {
	t.Helper()
	for len(p) > 0 {
		n := min(len(p), 32<<10)
		err := term.Input(p[:n])
		switch {
		case err == nil:
			p = p[n:]
		case errors.Is(err, ErrInputFull):
			wait(t, "room for input", term.InputRoom())
		default:
			t.Fatal(err)
		}
	}
}

func TestAPasteOfOneMegabyteArrivesIntact(t *testing.T) {
	p := newPool(t, Config{InputQueue: 128 << 10})
	// Raw, so that the line discipline neither edits nor cuts the bytes.
	term, r := sh(t, p, `stty raw -echo; echo ready; head -c 1048576 | sha256sum; echo done`)
	r.text(t, "ready")
	paste := bytes.Repeat([]byte("0123456789 \xe2\x82\xac pasted text\r\n"), 1<<20/28+1)[:1<<20]
	pour(t, term, paste)
	r.text(t, "done")
	if want := fmt.Sprintf("%x", sha256.Sum256(paste)); !strings.Contains(r.output(), want) {
		t.Errorf("arrived: %q, sent %s", r.output(), want)
	}
	r.exit(t, term)
}

func TestAPasteThroughCatComesBackIntact(t *testing.T) {
	p := newPool(t, Config{})
	term, r := sh(t, p, `stty raw -echo; echo ready; exec cat`)
	r.text(t, "ready")
	paste := bytes.Repeat([]byte("all work and no play\n"), 1<<20/21)
	r.mu.Lock()
	before := r.data.Len()
	r.mu.Unlock()
	pour(t, term, paste)
	r.await(t, "echo of the whole paste", func() bool { return r.data.Len()-before >= len(paste) })
	if got := r.output()[before:]; got != string(paste) {
		t.Errorf("%d bytes came back changed", len(got))
	}
	term.Hangup(0)
	r.exit(t, term)
}

// fill pours until the queue is full and returns how much was taken.
func fill(t *testing.T, term *Term) (n int) {
	t.Helper()
	piece := bytes.Repeat([]byte("typed ahead\n"), 512)
	for {
		switch err := term.Input(piece); {
		case err == nil:
			n += len(piece)
		case errors.Is(err, ErrInputFull):
			return n
		default:
			t.Fatal(err)
		}
	}
}

// queued returns how many bytes wait for the program.
func queued(t *Term) int {
	t.in.mu.Lock()
	defer t.in.mu.Unlock()
	return t.in.queued()
}

func TestAFullQueueRefusesWholePiecesWithoutBlocking(t *testing.T) {
	const limit = 64 << 10
	p := newPool(t, Config{InputQueue: limit})
	term, r := sh(t, p, `stty raw -echo; echo ready; exec sleep 1000`)
	r.text(t, "ready")
	n := fill(t, term)
	slowtest.Hurry(t)
	if n < limit {
		t.Errorf("full after %d bytes", n)
	}
	if err := term.Input(make([]byte, limit)); !errors.Is(err, ErrInputFull) {
		t.Errorf("one more: %v", err)
	}
	if got := queued(term); got > limit {
		t.Errorf("%d bytes are queued", got)
	}
	select {
	case <-term.InputRoom():
		t.Error("a full queue has room")
	default:
	}
	room := term.InputRoom()
	term.DiscardInput()
	wait(t, "room after a discard", room)
	term.Hangup(0)
	r.exit(t, term)
	if err := term.Input([]byte("x")); !errors.Is(err, ErrExited) {
		t.Errorf("input after the exit: %v", err)
	}
	wait(t, "room after the exit", term.InputRoom())
}

func TestTheEndWakesThoseThatWaitForRoom(t *testing.T) {
	p := newPool(t, Config{InputQueue: 64 << 10})
	term, r := sh(t, p, `stty raw -echo; echo ready; exec sleep 1000`)
	r.text(t, "ready")
	fill(t, term)
	slowtest.Hurry(t)
	room := term.InputRoom()
	if err := term.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	wait(t, "room", room)
	r.exit(t, term)
}

func TestTheInterruptCharacterJumpsABacklog(t *testing.T) {
	for _, c := range []struct {
		mode, keys string
		sig        syscall.Signal
	}{
		{"", "\x03", syscall.SIGINT},
		{"-icanon", "\x03", syscall.SIGINT},
		{"-icanon -echo", "abc\x03", syscall.SIGINT},
		{"-icanon", "\x1c", syscall.SIGQUIT},
		{"-icanon intr ^X", "\x18", syscall.SIGINT},
		{"istrip", "\u0083", syscall.SIGINT},
		{"-icanon istrip", "\x9c", syscall.SIGQUIT},
	} {
		t.Run(fmt.Sprintf("%s %q", c.mode, c.keys), func(t *testing.T) {
			p := newPool(t, Config{InputQueue: 256 << 10})
			term, r := sh(t, p, `stty sane `+c.mode+`; echo ready; exec sleep 1000`)
			r.text(t, "ready")
			fill(t, term)
			input(t, term, c.keys)
			if st := r.exit(t, term); st.Signal != c.sig {
				t.Errorf("exit %+v", st)
			}
		})
	}
}

func TestTheInterruptCharacterDoesNotWaitInTheKernel(t *testing.T) {
	p := newPool(t, Config{})
	term, r := sh(t, p, `stty sane -icanon -echo; echo ready; exec sleep 1000`)
	r.text(t, "ready")
	slowtest.Hurry(t)
	// More than the line discipline holds, less than the pty.
	input(t, term, strings.Repeat("typed ahead\n", 600))
	if n := queued(term); n != 0 {
		t.Fatalf("%d bytes are queued: the pty has become smaller", n)
	}
	input(t, term, "\x03")
	if st := r.exit(t, term); st.Signal != syscall.SIGINT {
		t.Errorf("exit %+v", st)
	}
}

func TestInputBeforeAnInterruptIsDropped(t *testing.T) {
	p := newPool(t, Config{InputQueue: 256 << 10})
	// The shell traps the interrupt, which its command dies of, and then reads lines. It is the
	// command that says ready, so that the interrupt meets it.
	term, r := sh(t, p, `trap 'echo interrupted' INT; sh -c 'echo ready; exec sleep 1000'
		while read line; do echo "got <$line>"; done`)
	r.text(t, "ready")
	fill(t, term)
	input(t, term, "lost\x03kept\n")
	r.text(t, "interrupted")
	r.text(t, "got <")
	input(t, term, "\x04")
	r.exit(t, term)
	out := r.output()
	out = out[strings.Index(out, "interrupted"):]
	if strings.Count(out, "got <") != 1 || !strings.Contains(out, "got <kept>") {
		t.Errorf("read after the interrupt: %q", out)
	}
}

// What is shown to be typed whole is not dropped by an interrupt in it.
func TestOnlyInterruptsMayStandBeforeAnInterruptOfTextThatIsTypedWhole(t *testing.T) {
	term, r := sh(t, newPool(t, Config{}), `stty sane istrip; echo ready; exec sleep 1000`)
	r.text(t, "ready")
	for text, want := range map[string]error{
		"x\x03": ErrInterrupted, "x\u0083y\n": ErrInterrupted, "\x03x\x1cy\n": ErrInterrupted,
		"\x03": nil, "\x1c\x03whole\n": nil, "\x83\x9cwhole\n": nil,
	} {
		if err := term.Whole([]byte(text)); !errors.Is(err, want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	term.Hangup(0)
	r.exit(t, term)
}

func TestARefusedPieceDoesNotInterrupt(t *testing.T) {
	const limit = 4 << 10
	p := newPool(t, Config{InputQueue: limit})
	term, r := sh(t, p, `trap 'echo interrupted' INT; stty -echo; echo ready
		read line; echo "got <$line>"`)
	r.text(t, "ready")
	input(t, term, "half a ")
	tooLong := append([]byte{3}, bytes.Repeat([]byte("x\n"), limit/2+1)...)
	if err := term.Input(tooLong); !errors.Is(err, ErrInputFull) {
		t.Errorf("a piece that never fits: %v", err)
	}
	input(t, term, "line\n")
	r.exit(t, term)
	if got := r.output(); got != "ready\r\ngot <half a line>\r\n" {
		t.Errorf("output %q", got)
	}
}

func TestTheInterruptCharacterIsPlainInputToARawProgram(t *testing.T) {
	p := newPool(t, Config{InputQueue: 64 << 10})
	wanted := filepath.Join(t.TempDir(), "wanted") // how many bytes the program reads
	if err := unix.Mkfifo(wanted, 0o600); err != nil {
		t.Fatal(err)
	}
	term, r := sh(t, p, `stty raw -echo; echo ready; read n <`+wanted+`
head -c $n | tail -c 1 | od -An -tx1`)
	r.text(t, "ready")
	n := fill(t, term)
	eventually(t, "there is room for a key", func() bool { return term.Input([]byte{3}) == nil })
	if err := os.WriteFile(wanted, fmt.Appendln(nil, n+1), 0); err != nil {
		t.Fatal(err)
	}
	r.text(t, " 03") // the last of all that was typed
	term.Hangup(0)
	r.exit(t, term)
}

func TestDiscardDropsAHalfTypedLine(t *testing.T) {
	p := newPool(t, Config{})
	term, r := sh(t, p, `stty -echo; echo ready; read line; echo "<$line>"`)
	r.text(t, "ready")
	input(t, term, "rm -rf precious ")
	term.DiscardInput()
	input(t, term, "ls\n")
	r.exit(t, term)
	if got := lines(r.output()); got[len(got)-1] != "<ls>" {
		t.Errorf("read %q", got)
	}
}

// A reader that looks for a program's question on the screen learns that more output is coming,
// wherever that is on its way.
func TestOutputThatIsNotOnTheScreenYetCountsAsUnread(t *testing.T) {
	p := newPool(t, Config{})
	printed := filepath.Join(t.TempDir(), "printed")
	term, r := sh(t, p, `stty -echo; printf ready; read x; printf question; : >`+printed+`; read x`)
	r.text(t, "ready")
	func() {
		term.Lock() // the reader cannot hand over what it reads
		defer term.Unlock()
		if err := term.Input([]byte("\n")); err != nil {
			t.Fatal(err)
		}
		eventually(t, "it is printed, and read from the kernel", func() bool {
			_, err := os.Stat(printed)
			l, lerr := term.in.to.Line()
			return err == nil && lerr == nil && !l.Unread
		})
		if l, err := term.Line(); err != nil || !l.Unread {
			t.Errorf("it is not told: %+v, %v", l, err)
		}
	}()
	r.text(t, "question")
	eventually(t, "all is on the screen", func() bool {
		l, err := term.Line()
		return err == nil && !l.Unread
	})
	term.Hangup(0)
	r.exit(t, term)
}
