package sshd

import (
	"strings"
	"testing"
	"time"
)

const (
	answer10 = "\x1b]10;rgb:aaaa/bbbb/cccc\x1b\\"
	answer11 = "\x1b]11;rgb:1212/3434/5656\x07"
	answer12 = "\x1b]12;rgba:ffff/0000/0000/8000\x1b\\"
)

func TestAnswersAboutColoursAreTakenOutOfWhatIsTyped(t *testing.T) {
	in := "a" + answer10 + "\x1b[A\x1b\x1b" + answer11 + "é" + answer12 + "\x1b]11;rgb:0/0/0\x07z"
	want := "a\x1b[A\x1b\x1bé\x1b]11;rgb:0/0/0\x07z" // the second answer for the background is none
	for i := range len(in) + 1 {
		for _, j := range []int{i, min(i+1, len(in)), min(i+5, len(in))} {
			c := newColorAnswers(time.Now())
			var got []byte
			for _, piece := range []string{in[:i], in[i:j], in[j:]} {
				rest, _ := c.take([]byte(piece))
				got = append(got, rest...)
			}
			got = append(got, c.release()...)
			fg, bg, cursor, ok := c.theme()
			if string(got) != want || fg != 0xaabbcc || bg != 0x123456 || cursor != 0xff0000 || !ok || !c.complete() {
				t.Fatalf("cut at %d and %d: %q, %06x %06x %06x %v", i, j, got, fg, bg, cursor, ok)
			}
		}
	}
}

func TestWhatIsNoAnswerIsTyped(t *testing.T) {
	for _, in := range []string{"\x1b]", "\x1b]1", "\x1b]q", "\x1b]4;1;rgb:0/0/0\x07", "\x1b]13;rgb:0/0/0\x07", "\x1b]11;hello\x07",
		"\x1b]11;rgb:0/0\r", "\x1b]11;" + strings.Repeat("x", 100), "\x1b[1;2R", "\x1b[?62c", "\x1bx"} {
		c := newColorAnswers(time.Now())
		rest, found := c.take([]byte(in))
		if got := string(rest) + string(c.release()); got != in || found {
			t.Errorf("%q became %q", in, got)
		}
	}
}

func FuzzColorAnswers(f *testing.F) {
	f.Add([]byte("a"+answer10+answer11+"b"+answer12), 3)
	f.Fuzz(func(t *testing.T, in []byte, size int) {
		size = max(1, size%16)
		whole, pieces := newColorAnswers(time.Now()), newColorAnswers(time.Now())
		want, _ := whole.take(append([]byte(nil), in...))
		want = append(want, whole.release()...)
		var got []byte
		for i := 0; i < len(in); i += size {
			rest, _ := pieces.take(append([]byte(nil), in[i:min(i+size, len(in))]...))
			got = append(got, rest...)
			if len(pieces.held) > maxAnswer {
				t.Fatalf("%d bytes are held back", len(pieces.held))
			}
		}
		if got = append(got, pieces.release()...); string(got) != string(want) {
			t.Fatalf("whole: %q, in pieces: %q", want, got)
		}
	})
}

// asking asks for the background as soon as a key is typed, and shows all keys.
const asking = `new -n work -- stty raw -echo; printf ready; dd bs=1 count=1 2>/dev/null; printf '\033]11;?\033\\'; exec cat -v`

func TestTheHoldersTerminalIsAskedForItsColours(t *testing.T) {
	r := newRig(t, rigOptions{people: map[string]string{"alice": "", "bob": ""}})
	p := r.open(r.dial("alice"), 80, 24, asking)
	p.sees(askColors)
	other := r.open(r.dial("bob"), 80, 24, "attach work")
	other.sees("ready")
	p.typeIn(answer10 + answer11[:1])
	p.typeIn(answer11[1:9])
	p.typeIn(answer11[9:] + answer12 + "K")
	p.sees(`^[]11;rgb:1212/3434/5656^[\`)
	p.typeIn("\x1b]10;\x07\x1bEND") // nothing is looked for any more
	p.sees("END")
	if got, want := r.screen(), `readyK^[]11;rgb:1212/3434/5656^[\^[]10;^G^[END`; got != want {
		t.Errorf("the program was typed\n%s\nnot\n%s", got, want)
	}
	if strings.Contains(other.out.all(), "]11;?") {
		t.Error("a viewer who does not hold the claim is asked")
	}
}

func TestATerminalThatDoesNotAnswerTypesAtOnce(t *testing.T) {
	r := newRig(t, rigOptions{})
	p := r.open(r.dial("alice"), 80, 24, catV)
	p.sees("ready")
	for _, key := range []string{"x", "\x1b", "\x1b]", "\x1b[A", "\x1b[1;2R"} {
		p.typeIn(key)
		p.sees(strings.ReplaceAll(key, "\x1b", "^["))
	}
	p.typeIn(answer11[:10])
	p.sees("^[]11;rgb:") // after its time
	p.typeIn(answer11)
	p.sees("^[]11;rgb:1212/3434/5656^G") // too late
}
