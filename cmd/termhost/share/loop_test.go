package share

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"termhost/ptypool/vt"
)

// watched returns what a host gives viewers of what was sent: it takes out what
// they must not see.
func watched(sent string) []byte {
	var data dataOf
	vt.New(80, 24, vt.Options{}).Feed([]byte(sent), &data)
	return data.Bytes()
}

// dataOf keeps the visible output.
type dataOf struct {
	vt.Sink // what else there is does not occur
	bytes.Buffer
}

func (d *dataOf) Data(p []byte) { d.Write(p) }

// drawn is what the host shows first to whoever attaches.
func drawn() []byte { return vt.New(80, 24, vt.Options{}).AppendRedraw(nil, vt.Redraw{}) }

func TestATerminalThatShowsItselfIsPaused(t *testing.T) {
	for name, cut := range map[string]int{"at once": 1 << 20, "in pieces": 7} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { showItself(t, cut) })
		})
	}
}

// showItself has a terminal shown inside itself, read in pieces of cut bytes.
func showItself(t *testing.T, cut int) {
	var user bytes.Buffer
	j := newJournal()
	f := newFeed(&user, j, 80, 24, vt.Options{})
	defer f.close()
	f.Write([]byte("$ ssh -t host attach\r\n"))
	outputOf(j)
	back := drawn() // to the user who has attached, and so to the host again
	for round := 0; len(back) > 0; round++ {
		if round > 3*loopHits {
			t.Fatalf("it goes on: %q", back)
		}
		for len(back) > 0 {
			n := min(cut, len(back))
			f.Write(back[:n])
			back = back[n:]
		}
		text, _ := outputOf(j)
		back = watched(text)
	}
	time.Sleep(loopSettle)
	synctest.Wait()
	if !strings.Contains(user.String(), "this terminal is shown inside itself") {
		t.Errorf("the user was shown %q", user.String())
	}
	// Going on while it is still so pauses it again.
	f.toggle()
	for round := 0; ; round++ {
		text, _ := outputOf(j)
		if text == "" {
			break
		}
		if round > 3*loopHits {
			t.Fatal("it goes on after the pause")
		}
		f.Write(watched(text))
	}
}

func TestATextThatShowsItselfIsPaused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		f := newFeed(io.Discard, j, 80, 24, vt.Options{})
		defer f.close()
		back := []byte("what was there is shown again\r\n") // as `attach -r` without a pty does
		limit := 2 * loopBytes / len(back)
		for round := 0; len(back) > 0; round++ {
			if round > limit {
				t.Fatal("it goes on")
			}
			time.Sleep(10 * time.Millisecond)
			f.Write(back)
			text, _ := outputOf(j)
			back = watched(text)
		}
	})
}

func TestOneWhoPrintsTheLogIsNotTakenForALoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		f := newFeed(io.Discard, j, 80, 24, vt.Options{})
		defer f.close()
		var log strings.Builder
		line := []byte(strings.Repeat("make: nothing to be done\r\n", 100))
		for range 200 {
			time.Sleep(time.Second)
			f.Write(drawn()) // and attaches to other terminals
			f.Write(line)
			text, _ := outputOf(j)
			log.WriteString(text)
		}
		marks := strings.Count(log.String(), string(f.loop.key))
		if marks < loopHits {
			t.Fatalf("the log has %d marks", marks)
		}
		for range loopHits { // `ssh host log --raw laptop`, now and then
			f.Write(watched(log.String()))
			text, _ := outputOf(j)
			log.WriteString(text)
			time.Sleep(loopTime)
		}
		if f.paused {
			t.Error("sharing is paused")
		}
	})
}

func TestMarksShowNothing(t *testing.T) {
	plain, marked := vt.New(20, 5, vt.Options{}), vt.New(20, 5, vt.Options{})
	g := newLoopGuard()
	for _, p := range []string{"\x1b[31mred\tand ", "\x1b[?1049h", "a\r\n\tb", "\x1b[3gc\r\n\td"} {
		plain.Feed([]byte(p), nil)
		marked.Feed([]byte(p), nil)
		marked.Feed(g.mark(time.Now()), nil)
	}
	if a, b := plain.AppendRedraw(nil, vt.Redraw{}), marked.AppendRedraw(nil, vt.Redraw{}); !bytes.Equal(a, b) {
		t.Errorf("the screen is\n%q, not\n%q", b, a)
	}
}
