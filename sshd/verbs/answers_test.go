package verbs

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
			c := newAnswers(time.Now(), true, false)
			var got []byte
			for _, piece := range []string{in[:i], in[i:j], in[j:]} {
				rest, _ := c.take([]byte(piece))
				got = append(got, rest...)
			}
			got = append(got, c.release()...)
			fg, bg, cursor, ok := c.theme()
			known := ok && fg == 0xaabbcc && bg == 0x123456 && cursor == 0xff0000
			if string(got) != want || !known || !c.complete() {
				t.Fatalf("cut at %d and %d: %q, %06x %06x %06x %v", i, j, got, fg, bg, cursor, ok)
			}
		}
	}
}

func TestWhatIsNoAnswerIsTyped(t *testing.T) {
	for _, in := range []string{
		"\x1b]", "\x1b]1", "\x1b]q", "\x1b]4;1;rgb:0/0/0\x07", "\x1b]13;rgb:0/0/0\x07",
		"\x1b]11;hello\x07", "\x1b]11;rgb:0/0\r", "\x1b]11;" + strings.Repeat("x", 100),
		"\x1b[1;2R", "\x1b[?62c", "\x1bx",
	} {
		c := newAnswers(time.Now(), true, false)
		rest, found := c.take([]byte(in))
		if got := string(rest) + string(c.release()); got != in || found {
			t.Errorf("%q became %q", in, got)
		}
	}
}

func TestATerminalSaysHowItNotifies(t *testing.T) {
	for in, want := range map[string]notifyBy{
		"\x1bP>|xterm(390)\x1b\\\x1b[?64;1;9c":                                                        notifyBell,
		"\x1bP>|tmux 3.4\x1b\\\x1b[?1;2;4c":                                                           notifyBell,
		"\x1bP>|WezTerm 20240203\x1b\\\x1b[?65;4;6c":                                                  notify777,
		"\x1bP>|iTerm2 3.5.0\x1b\\\x1b[?62;4c":                                                        notify9,
		"\x1b]99;i=termhost:p=?;a=focus,report:p=title,body\x1b\\\x1bP>|kitty(0.36.4)\x1b\\\x1b[?62c": notify99,
		"\x1b]99;i=termhost:p=?;p=title\x07\x1bP>|foot(1.20.0)\x1b\\\x1b[?62;4;22c":                   notify99,
	} {
		for i := range len(in) {
			c := newAnswers(time.Now(), false, true)
			var typed []byte
			for _, piece := range []string{"a" + in[:i], in[i:] + "\x1b[?1c", "b"} {
				rest, _ := c.take([]byte(piece))
				typed = append(typed, rest...)
			}
			if c.notifier != want || string(typed) != "a\x1b[?1cb" || !c.complete() {
				t.Fatalf("%q cut at %d: %d, typed %q, complete: %v", in, i, c.notifier, typed, c.complete())
			}
		}
	}
}

func FuzzAnswers(f *testing.F) {
	f.Add([]byte("a"+answer10+answer11+"b"+answer12), 3, false)
	f.Add([]byte("a\x1b]99;i=termhost:p=?;p=title\x07\x1bP>|foot(1.20.0)\x1b\\"+answer10+"\x1b[?62;4;22cb"), 5, true)
	f.Add([]byte("\x1b[?"+strings.Repeat("1", maxAnswer)+"c"), 7, true)
	f.Add([]byte("\x1bP>|"+strings.Repeat("x", maxAnswer)+"\x1b\\"), 7, true)
	f.Add([]byte("\x1b]11;rgb:"+strings.Repeat("1/", maxAnswer)+"\x07"), 7, true)
	f.Fuzz(func(t *testing.T, in []byte, size int, kind bool) {
		size = max(1, size%16)
		whole, pieces := newAnswers(time.Now(), true, kind), newAnswers(time.Now(), true, kind)
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
