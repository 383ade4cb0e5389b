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

// watched returns what a host sends viewers when it was sent this: without queries and the like.
func watched(sent string) []byte {
	var data dataOf
	vt.New(80, 24, vt.Options{}).Feed([]byte(sent), &data)
	return data.Bytes()
}

// dataOf keeps the output that viewers get.
type dataOf struct {
	vt.Sink // its other methods are not called
	bytes.Buffer
}

func (d *dataOf) Data(p []byte) { d.Write(p) }

// drawn returns the host's first output at each attach.
func drawn() []byte { return vt.New(80, 24, vt.Options{}).AppendRedraw(nil, vt.Redraw{}) }

func TestATerminalThatShowsItselfIsPaused(t *testing.T) {
	for name, cut := range map[string]int{"at once": 1 << 20, "in pieces": 7} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { showItself(t, cut) })
		})
	}
}

// showItself shows a terminal inside itself, in pieces of cut bytes.
func showItself(t *testing.T, cut int) {
	var user bytes.Buffer
	b := newOutbox()
	tee := newTee(&user, b, 80, 24, vt.Options{})
	defer tee.close()
	tee.Write([]byte("$ ssh -t host attach\r\n"))
	outputOf(b)
	back := drawn() // to the user who has attached, and so to the host again
	for round := 0; len(back) > 0; round++ {
		if round > 3*probeReplies {
			t.Fatalf("it goes on: %q", back)
		}
		for len(back) > 0 {
			n := min(cut, len(back))
			tee.Write(back[:n])
			back = back[n:]
		}
		text, _ := outputOf(b)
		back = watched(text)
	}
	time.Sleep(settleTime)
	synctest.Wait()
	if !strings.Contains(user.String(), "this terminal is shown inside itself") {
		t.Errorf("the user was shown %q", user.String())
	}
	// Going on while it is still so pauses it again.
	tee.toggle()
	for round := 0; ; round++ {
		text, _ := outputOf(b)
		if text == "" {
			break
		}
		if round > 3*probeReplies {
			t.Fatal("it goes on after the pause")
		}
		tee.Write(watched(text))
	}
}

func TestATextThatShowsItselfIsPaused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newOutbox()
		tee := newTee(io.Discard, b, 80, 24, vt.Options{})
		defer tee.close()
		back := []byte("what was there is shown again\r\n") // as `attach -r` without a pty does
		limit := 2 * probeBytes / len(back)
		for round := 0; len(back) > 0; round++ {
			if round > limit {
				t.Fatal("it goes on")
			}
			time.Sleep(10 * time.Millisecond)
			tee.Write(back)
			text, _ := outputOf(b)
			back = watched(text)
		}
	})
}

func TestOneWhoPrintsTheLogIsNotTakenForALoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newOutbox()
		tee := newTee(io.Discard, b, 80, 24, vt.Options{})
		defer tee.close()
		var log strings.Builder
		line := []byte(strings.Repeat("make: nothing to be done\r\n", 100))
		for range 200 {
			time.Sleep(time.Second)
			tee.Write(drawn()) // and attaches to other terminals
			tee.Write(line)
			text, _ := outputOf(b)
			log.WriteString(text)
		}
		probes := strings.Count(log.String(), string(tee.selfView.key))
		if probes < probeReplies {
			t.Fatalf("the log has %d probes", probes)
		}
		for range probeReplies { // `ssh host log --raw laptop`, now and then
			tee.Write(watched(log.String()))
			text, _ := outputOf(b)
			log.WriteString(text)
			time.Sleep(probeTime)
		}
		if tee.paused {
			t.Error("sharing is paused")
		}
	})
}

func TestProbesShowNothing(t *testing.T) {
	plain, probed := vt.New(20, 5, vt.Options{}), vt.New(20, 5, vt.Options{})
	v := newSelfView()
	for _, p := range []string{"\x1b[31mred\tand ", "\x1b[?1049h", "a\r\n\tb", "\x1b[3gc\r\n\td"} {
		plain.Feed([]byte(p), nil)
		probed.Feed([]byte(p), nil)
		probed.Feed(v.probe(time.Now()), nil)
	}
	a, b := plain.AppendRedraw(nil, vt.Redraw{}), probed.AppendRedraw(nil, vt.Redraw{})
	if !bytes.Equal(a, b) {
		t.Errorf("the screen is\n%q, not\n%q", b, a)
	}
}

// A share that has gone on for days has sent more probes than a host passes on as one number.
func TestALateProbeComesBackUnchanged(t *testing.T) {
	v := newSelfView()
	for _, round := range []int{1, 9_998, 9_999, 10_000, 1_234_567} {
		v.round = round
		sent := v.probe(time.Now())
		back := watched(string(sent))
		if !bytes.Equal(back, sent) {
			t.Errorf("%q came back as %q", sent, back)
		}
		got, ok := roundOf(bytes.TrimPrefix(back, v.key))
		if !ok || got != round+1 {
			t.Errorf("%q is of round %d %v, want %d", back, got, ok, round+1)
		}
	}
}
