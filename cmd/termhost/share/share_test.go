package share

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"termhost/ahp"
	"termhost/ptypool/vt"
)

// outputOf returns the output of everything that next gives, as the host gets it.
func outputOf(j *journal) (text string, pieces []*piece) {
	var b strings.Builder
	for {
		p, _ := j.next()
		if p == nil {
			return b.String(), pieces
		}
		pieces = append(pieces, p)
		if out, ok := p.action.(ahp.TerminalOutput); ok {
			b.Write(out.Data)
		}
	}
}

func TestAJournalSendsEverythingOnceWhereverTheConnectionIsCut(t *testing.T) {
	for seed := range 200 {
		r := rand.New(rand.NewPCG(uint64(seed), 0))
		j := newJournal()
		var want, got strings.Builder
		var seq, arrived int64 // the clientSeq sent last; the one the host got last
		var flying []*piece
		for i := range 300 {
			switch r.IntN(4) {
			case 0, 1:
				text := fmt.Sprintf("%d;", i)
				want.WriteString(text)
				j.output([]byte(text))
			case 2:
				if p, _ := j.next(); p != nil {
					seq++
					j.sent(p, seq)
					flying = append(flying, p)
				}
			case 3: // the host gets some of it, and acknowledges some of that
				for len(flying) > 0 && r.IntN(3) > 0 {
					p := flying[0]
					flying = flying[1:]
					got.Write(p.action.(ahp.TerminalOutput).Data)
					arrived = p.seq
					if r.IntN(2) == 0 {
						j.settled(p)
					}
				}
				if r.IntN(5) == 0 {
					j.cut()
					j.resume(arrived)
					flying = nil
				}
			}
		}
		j.cut()
		j.resume(arrived)
		rest, _ := outputOf(j)
		if got.WriteString(rest); got.String() != want.String() {
			t.Fatalf("seed %d: the host has\n%s\nprinted was\n%s", seed, got.String(), want.String())
		}
	}
}

func TestAJournalKeepsTheLastMiBAndSaysHowMuchIsMissing(t *testing.T) {
	j := newJournal()
	line := []byte(strings.Repeat("x", 1023) + "\n")
	for range 3 << 10 {
		j.output(line)
	}
	j.add(ahp.TerminalResized{Cols: 5, Rows: 5})
	var text strings.Builder
	resized, drained := false, false
	for !drained {
		p, done := j.next()
		if drained = done; p == nil {
			continue
		}
		if out, ok := p.action.(ahp.TerminalOutput); ok {
			text.Write(out.Data)
		} else {
			resized = true
		}
		j.settled(p)
	}
	if n := text.Len(); n < journalBytes*9/10 || n > journalBytes {
		t.Errorf("%d bytes are sent", n)
	}
	if !strings.HasPrefix(text.String(), "\x1b[0m\r\n[termhost: 2.0 MiB of output are missing here]\r\n") {
		t.Errorf("it begins with %.60q", text.String())
	}
	if !resized {
		t.Error("the size was dropped with the output")
	}
}

func TestWhatMayHaveArrivedIsNotCountedAsMissing(t *testing.T) {
	j := newJournal()
	j.output([]byte("arrived"))
	p, _ := j.next()
	j.sent(p, 1)
	j.cut()
	for range 40 {
		j.output(make([]byte, pieceBytes))
	}
	lost := j.lost
	j.resume(1)
	if j.lost != lost-len("arrived") {
		t.Errorf("%d bytes are missing, %d before", j.lost, lost)
	}
}

func TestNoActionEndsWithinARune(t *testing.T) {
	for before := range 4 {
		j := newJournal()
		text := strings.Repeat("x", before) + strings.Repeat("€", pieceBytes)
		j.output([]byte(text))
		sent, pieces := outputOf(j)
		if sent != text {
			t.Errorf("%d bytes were sent of %d", len(sent), len(text))
		}
		for _, p := range pieces {
			if out := p.action.(ahp.TerminalOutput).Data; !utf8.Valid(out) {
				t.Errorf("an action ends with %q", out[len(out)-4:])
			}
		}
	}
}

func TestARuneThatIsPrintedSlowlyIsSentWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		f := newFeed(io.Discard, j, 20, 5, vt.Options{})
		defer f.close()
		sent := func() string {
			synctest.Wait()
			text, _ := outputOf(j)
			return text
		}
		f.Write([]byte("a\xe2"))
		if got := sent(); got != "a" {
			t.Errorf("sent was %q", got)
		}
		time.Sleep(runeHeldBack - 1)
		f.Write([]byte("\x82"))
		time.Sleep(runeHeldBack - 1)
		f.Write([]byte("\xac"))
		if got := sent(); got != "€" {
			t.Errorf("sent was %q", got)
		}
		// Half a sequence, and half a rune of another encoding, wait for so long only.
		f.Write([]byte("\x1b[3"))
		time.Sleep(heldBack)
		if got := sent(); got != "\x1b[3" {
			t.Errorf("sent was %q", got)
		}
		f.Write([]byte("1m\xe2"))
		time.Sleep(runeHeldBack)
		if got := sent(); got != "1m\xe2" {
			t.Errorf("sent was %q", got)
		}
	})
}

func TestAPauseBeginsAndEndsBetweenTwoSequences(t *testing.T) {
	var user bytes.Buffer
	j := newJournal()
	f := newFeed(&user, j, 40, 5, vt.Options{})
	defer f.close()
	f.Write([]byte("a\x1b[3"))
	f.toggle()
	f.Write([]byte("1mhidden\xe2\x82"))
	f.toggle()
	f.Write([]byte("\xacshown"))
	text, _ := outputOf(j)
	if want := "a\x1b[31m" + pausedMark + "\x1b[!p" + resumedMark; !strings.HasPrefix(text, want) || !strings.HasSuffix(text, "shown") {
		t.Errorf("sent was %q", text)
	}
	if strings.Contains(text, "hidden") || strings.ContainsRune(text, '€') {
		t.Errorf("what was printed in the pause was sent: %q", text)
	}
	if got := user.String(); !strings.Contains(got, "a\x1b[31m\r\n") || !strings.Contains(got, "hidden€\r\n") {
		t.Errorf("the user's terminal got notes within a sequence: %q", got)
	}
}

func TestNothingThatWasPrintedInAPauseIsEverSent(t *testing.T) {
	for name, during := range map[string]string{
		"a shell":                              "secret\r\n$ ",
		"a full-screen program that has ended": "\x1b[?1049hsecret\x1b[?1049lsecret\r\n",
		"a screen that is cleared":             "\x1b[2J\x1b[Hsecret",
		"a title":                              "\x1b]0;secret\x07",
		"a command":                            "\x1b]133;A\x07\x1b]633;E;secret;n\x07\x1b]133;C\x07secret\x1b]133;D;1\x07",
	} {
		t.Run(name, func(t *testing.T) {
			var user bytes.Buffer
			j := newJournal()
			f := newFeed(&user, j, 20, 5, vt.Options{Nonce: "n"})
			defer f.close()
			f.Write([]byte("before\r\n"))
			f.toggle()
			f.Write([]byte(during))
			f.toggle()
			f.Write([]byte("after\r\n"))
			f.draw() // as after a loss
			if !strings.Contains(user.String(), "secret") {
				t.Error("the user does not see it")
			}
			var all strings.Builder
			for {
				p, _ := j.next()
				if p == nil {
					break
				}
				fmt.Fprintf(&all, "%+v %s\n", p.action, ahp.AppendAction(nil, p.action, ahp.ShapeLifecycle))
			}
			if strings.Contains(all.String(), "secret") {
				t.Errorf("it was sent: %s", all.String())
			}
			for _, want := range []string{"before", "paused by its owner", "goes on", "after"} {
				if !strings.Contains(all.String(), want) {
					t.Errorf("not sent: %q", want)
				}
			}
		})
	}
}

func TestAFullScreenProgramIsSeenAsItIsAfterAPause(t *testing.T) {
	const states = "\x1b[2;4r\x1b[?6h\x1b[4h\x1b(0\x1b[?7l\x1b[?1000h\x1b[1;31m\x1b7\x1b[2;4H"
	for name, before := range map[string]string{"begun before it": "\x1b[?1049h\x1b[Hold", "begun in it": ""} {
		t.Run(name, func(t *testing.T) {
			j := newJournal()
			f := newFeed(&bytes.Buffer{}, j, 40, 9, vt.Options{})
			defer f.close()
			f.Write([]byte("$ edit\r\n" + before))
			f.toggle()
			f.Write([]byte("secret\x1b[?1049h\x1b[H\x1b[31mnew\x1b[0m text" + states))
			f.toggle()
			f.Write([]byte("x\n\n\n\n")) // only in its region
			text, _ := outputOf(j)
			watcher := vt.New(40, 9, vt.Options{})
			watcher.Feed([]byte(text), nil)
			if got, want := watcher.AppendAlternate(nil), f.screen.AppendAlternate(nil); !bytes.Equal(got, want) {
				t.Errorf("watchers see\n%q\nthe user\n%q", got, want)
			}
			watcher.Feed([]byte("\x1b[?1049l"), nil)
			if main := string(watcher.AppendText(nil, false)); !strings.HasPrefix(main, "$ edit\n") {
				t.Errorf("the main screen has become\n%s", main)
			}
		})
	}
}

func TestANoteLeavesAFullScreenAsItWas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var user bytes.Buffer
		f := newFeed(&user, newJournal(), 20, 5, vt.Options{})
		defer f.close()
		f.Write([]byte("\x1b[?1049h\x1b[H" + strings.Repeat("0123456789", 2*5) + "\x1b[2;3H"))
		seen := func() *vt.Terminal {
			f.mu.Lock()
			defer f.mu.Unlock()
			v := vt.New(20, 5, vt.Options{})
			v.Feed(user.Bytes(), nil)
			return v
		}
		before := string(seen().AppendText(nil, true))
		if f.notify("a note that is longer than a line") {
			t.Error("a note on a full screen is said to stay")
		}
		if got := string(seen().AppendText(nil, false)); !strings.HasSuffix(got, "\n termhost: a note th\n") || !strings.HasPrefix(got, before[:len(before)/2]) {
			t.Errorf("with the note the screen is\n%s", got)
		}
		time.Sleep(noteTime)
		synctest.Wait()
		after := seen()
		if got := string(after.AppendText(nil, true)); got != before {
			t.Errorf("after the note the screen is\n%s", got)
		}
		if x, y, _ := after.Cursor(); x != 2 || y != 1 {
			t.Errorf("the cursor is at %d,%d", x, y)
		}
	})
}

func TestCommandsOfASharedShellAreTold(t *testing.T) {
	j := newJournal()
	f := newFeed(&bytes.Buffer{}, j, 80, 24, vt.Options{Nonce: "nonce"})
	defer f.close()
	f.Write([]byte("\x1b]633;A\x07$ \x1b]633;E;make;nonce\x07\x1b]633;C\x07out\x1b]633;D;2\x07\x1b]633;P;Cwd=/tmp\x07\x1b]633;A\x07$ "))
	var got []string
	for {
		p, _ := j.next()
		if p == nil {
			break
		}
		switch a := p.action.(type) {
		case ahp.TerminalOutput:
			got = append(got, fmt.Sprintf("%q", a.Data))
		case ahp.TerminalCommandExecuted:
			got = append(got, "executed "+a.CommandLine)
		case ahp.TerminalCommandFinished:
			got = append(got, fmt.Sprintf("finished %d", *a.ExitCode))
		}
	}
	want := `"\x1b]133;A\a$ " executed make "out" finished 2 "\x1b]7;file:///tmp\a\x1b]133;A\a$ "`
	if text := strings.Join(got, " "); text != want {
		t.Errorf("sent was\n%s, want\n%s", text, want)
	}
}

func TestTheKeysOfShareAreNotTyped(t *testing.T) {
	const paste = "\x1b[200~rm \x1c\x1cp\x1b[92;5up\x1b[201~"
	for _, tc := range []struct {
		in       []string
		typed    string
		commands string
	}{
		{[]string{"ls\r"}, "ls\r", ""},
		{[]string{"a\x1cpb"}, "ab", "p"},
		{[]string{"a\x1c", "p", "b"}, "ab", "p"},
		{[]string{"\x1c\x1c"}, "\x1c", ""},
		{[]string{"\x1cx"}, "\x1cx", ""},
		{[]string{"\x1cé"}, "\x1cé", ""},
		{[]string{"\x1cp\x1cp"}, "", "pp"},
		{[]string{"\x1cr"}, "", "r"},
		// The kitty keyboard protocol: with Caps Lock, with everything reported.
		{[]string{"\x1b[92;5u", "p"}, "", "p"},
		{[]string{"\x1b[92;5u\x1b[92;5u"}, "\x1b[92;5u", ""},
		{[]string{"\x1b[92;69up"}, "", "p"},
		{[]string{"\x1b[92;5:1u\x1b[92;5:3u\x1b[112;1:1u\x1b[112;1:3ux"}, "\x1b[112;1:3ux", "p"},
		{[]string{"\x1b[9", "2;5", "up"}, "", "p"},
		// xterm's modifyOtherKeys.
		{[]string{"\x1b[27;5;92~p"}, "", "p"},
		// Other keys, also Alt-[ and half a rune, go through as they are.
		{[]string{"\x1b[", "x\x1b[A\x1bOP\x1b[15;5~\x1b[92;6:3u\x1b"}, "\x1b[x\x1b[A\x1bOP\x1b[15;5~\x1b", ""},
		{[]string{"\xe2\x82", "\xac"}, "\xe2\x82\xac", ""},
		// What the mouse says between the keys is not the key.
		{[]string{"\x1c\x1b[<35;1;1M\x1b[Ip"}, "\x1b[<35;1;1M\x1b[I", "p"},
		// Nothing that is pasted is a key, however it arrives.
		{[]string{paste, "\x1cp"}, paste, "p"},
		{[]string{"\x1b[200~a\x1c", "p\x1b[20", "1~\x1cp"}, "\x1b[200~a\x1cp\x1b[201~", "p"},
		{[]string{"\x1c" + paste + "\x1cp"}, "\x1c" + paste, "p"},
	} {
		var typed bytes.Buffer
		commands := ""
		k := &keyboard{typed: func(p []byte) { typed.Write(p) }, help: func() {}, command: func(key rune) bool {
			taken := key == 'p' || key == 'r'
			if taken {
				commands += string(key)
			}
			return taken
		}}
		for _, p := range tc.in {
			k.take([]byte(p))
		}
		if typed.String() != tc.typed || commands != tc.commands {
			t.Errorf("%q: typed is %q, commands are %q", tc.in, typed.String(), commands)
		}
	}
}
