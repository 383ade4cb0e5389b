package local

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"termhost/sshd/wire"
)

// hostUntil takes what is typed until it has got some bytes, as a host that is killed then. It says
// what it has taken, up to said.
type hostUntil struct {
	got        bytes.Buffer
	most, said int
	taken      *taken
}

func (h *hostUntil) Write(p []byte) (int, error) {
	if h.got.Len()+len(p) > h.most {
		return 0, errors.New("gone")
	}
	n, err := h.got.Write(p)
	if h.said > 0 {
		h.says(min(h.said, h.got.Len()), true)
	}
	return n, err
}

func (h *hostUntil) says(bytes int, shown bool) {
	h.taken.mu.Lock()
	defer h.taken.mu.Unlock()
	h.taken.known, h.taken.last = true, wire.Taken{Bytes: uint64(bytes), Shown: shown}
}

func newHostUntil(most int) *hostUntil {
	return &hostUntil{most: most, taken: newTaken()}
}

func (h *hostUntil) Close() error { return nil }

// typist types at typedKeys whose host is h.
type typist struct {
	t *testing.T
	*typedKeys
	keyboard *io.PipeWriter
}

func newTypist(t *testing.T, h *hostUntil) *typist {
	in, keyboard := io.Pipe()
	k := newTypedKeys(in, true)
	k.to(h, h.taken, nil)
	t.Cleanup(func() { keyboard.Close() })
	return &typist{t, k, keyboard}
}

// loses is what a run does that has lost its host and does not come back.
func (k *typist) loses(signals <-chan os.Signal, say func()) os.Signal {
	k.loseAll()
	return k.settle(time.Now(), signals, say)
}

func (k *typist) types(text string) {
	k.t.Helper()
	for _, key := range []byte(text) {
		if _, err := k.keyboard.Write([]byte{key}); err != nil {
			k.t.Fatalf("a key was left to the shell: %v", err)
		}
	}
}

// The rest of a line whose host has gone must not be read by the shell behind this program, however
// long somebody goes on with it.
func TestTheRestOfALineIsDroppedWhenTheHostHasGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const line, most = "rm -rf /srv/projects/old; touch here\r", 15
		h := newHostUntil(most)
		k := newTypist(t, h)
		k.types(line[:20])
		var told, settled time.Duration
		began := time.Now()
		done := make(chan struct{})
		go func() {
			defer close(done)
			if sig := k.loses(nil, func() { told = time.Since(began) + 1 }); sig != nil {
				t.Errorf("it ends with %v", sig)
			}
			settled = time.Since(began)
		}()
		for _, key := range line[20:] {
			time.Sleep(typingPause - time.Millisecond)
			k.types(string(key))
		}
		<-done
		typed := time.Duration(len(line)-20) * (typingPause - time.Millisecond)
		if settled != typed+typingPause {
			t.Errorf("the shell reads %v after the loss, and the line ends after %v", settled, typed)
		}
		if told != 1 {
			t.Errorf("the user is told after %v", told)
		}
		if got := h.got.String(); got != line[:most] {
			t.Errorf("the host has got %q", got)
		}
	})
}

// Whoever was not typing when the host went, and begins at once, is told before the shell reads.
func TestAKeyJustAfterTheLossIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newTypist(t, newHostUntil(0))
		time.Sleep(time.Hour)
		told := 0
		done := make(chan struct{})
		go func() {
			defer close(done)
			k.loses(nil, func() { told++ })
		}()
		time.Sleep(typingPause / 2)
		synctest.Wait()
		if told > 0 {
			t.Error("it is said that keys are dropped, and there are none")
		}
		k.types("x\r")
		synctest.Wait()
		if told != 1 {
			t.Errorf("the user is told %d times", told)
		}
		<-done
	})
}

func TestASignalEndsTheWaitForTheEndOfTheTyping(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newTypist(t, newHostUntil(0))
		k.types("x")
		signals := make(chan os.Signal, 1)
		signals <- syscall.SIGTERM
		if sig := k.loses(signals, func() {}); sig != syscall.SIGTERM {
			t.Errorf("it ends with %v", sig)
		}
	})
}

func TestALostLineIsShownFromTheFirstKeyThatTheHostHasNotTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const line = "make deploy && rm -rf old\r"
		for _, c := range []struct {
			most, said int // see hostUntil
			hidden     bool
			typed      string
			want       string
		}{
			{20, 20, false, line, `perhaps not typed: "f old\r"`},
			{20, 5, false, line, `perhaps not typed: "deploy && rm -rf old\r"`}, // some waited in the socket
			{99, 5, false, line, `perhaps not typed: "deploy && rm -rf old\r"`}, // all that was left did
			{99, 99, false, line, ""},
			{20, 20, true, line, "what you typed last is dropped; type it again"},
			{20, 0, false, line, "what you typed last is dropped; type it again"},
			{20, 20, false, line[:20] + "\x1b[I\x1b[O", ""}, // the terminal's own
			{20, 20, false, line[:20] + strings.Repeat("y", 5000), "(5000 bytes)"},
		} {
			h := newHostUntil(c.most)
			h.said = c.said
			if c.said > 0 {
				h.says(0, true)
			}
			k := newTypist(t, h)
			k.types(c.typed)
			synctest.Wait()
			if c.hidden {
				h.says(c.said, false)
			}
			k.loses(nil, func() {})
			close(h.taken.ended)
			if got := k.notTyped(); !strings.HasSuffix(got, c.want) || c.want == "" && got != "" {
				t.Errorf("%+v: %q", c, got)
			}
		}
	})
}

// What is no terminal is not read to its end for a host that has gone.
func TestAFileIsNotReadOnForAHostThatHasGone(t *testing.T) {
	in := bytes.NewReader(bytes.Repeat([]byte("x"), 100<<10))
	h := newHostUntil(40 << 10)
	k := newTypedKeys(in, false)
	k.to(h, h.taken, nil)
	<-k.ended
	if in.Len() == 0 {
		t.Error("all of it was read")
	}
}

// What somebody types while the host is away, or in the middle of a line then, is not typed at the
// terminal that is shown again; what their terminal answers meanwhile is.
func TestKeysOfALineThatBeganBeforeTheReturnAreDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newTypist(t, newHostUntil(99))
		k.types("make")
		synctest.Wait()
		k.loseAll()
		k.types(" deploy")
		synctest.Wait()
		next := newHostUntil(99)
		k.to(next, next.taken, nil)
		k.types("; rm")
		if _, err := k.keyboard.Write([]byte("\x1b[?62c")); err != nil {
			t.Fatal(err)
		}
		k.settle(time.Time{}, nil, nil)
		k.accept(next)
		k.types("ls\r")
		synctest.Wait()
		if got := next.got.String(); got != "\x1b[?62cls\r" {
			t.Errorf("the next host has got %q", got)
		}
	})
}

// Once the user sees the terminal again, keys are typed there, unless a line was begun before.
func TestKeysAreTypedFromTheFirstOutputOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newTypist(t, newHostUntil(99))
		k.types("make")
		synctest.Wait()
		k.loseAll()
		next := newHostUntil(99)
		k.to(next, next.taken, nil)
		first := func() { k.acceptSettled(next) }
		for _, out := range []io.Writer{&announced{w: io.Discard, first: first},
			&announced{w: io.Discard, first: first}} {
			if _, err := io.WriteString(out, "ready"); err != nil {
				t.Fatal(err)
			}
			k.types("ls\r")
			synctest.Wait()
			time.Sleep(typingPause)
		}
		if got := next.got.String(); got != "ls\r" {
			t.Errorf("the next host has got %q", got)
		}
	})
}

// Only keys that are pressed as such end the wait for a host.
func TestTheWaitForAHostEndsByItsKeys(t *testing.T) {
	for typed, want := range map[string]bool{
		"abc": false, "d": false, "ab\x03c": true, "\x1cd": true, "\x1cx": false, "\x1c\x03": true,
	} {
		if got := newLeaving(0x1c).in([]byte(typed)); got != want {
			t.Errorf("%q: %v", typed, got)
		}
	}
	if l := newLeaving(0x01); l.in([]byte("\x01")) || !l.in([]byte("d")) {
		t.Error("the prefix in one piece and d in the next")
	}
}
