package share

import (
	"bytes"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"termhost/ahp"
	"termhost/ptypool/vt"
)

func TestARuneThatIsPrintedSlowlyIsSentWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newOutbox()
		tee := newTee(io.Discard, b, 20, 5, vt.Options{})
		defer tee.close()
		sent := func() string {
			synctest.Wait()
			text, _ := outputOf(b)
			return text
		}
		tee.Write([]byte("a\xe2"))
		if got := sent(); got != "a" {
			t.Errorf("sent was %q", got)
		}
		time.Sleep(runeTime - 1)
		tee.Write([]byte("\x82"))
		time.Sleep(runeTime - 1)
		tee.Write([]byte("\xac"))
		if got := sent(); got != "€" {
			t.Errorf("sent was %q", got)
		}
		// Half a sequence, and half a rune of another encoding, wait for a limited time.
		tee.Write([]byte("\x1b[3"))
		time.Sleep(sequenceTime)
		if got := sent(); got != "\x1b[3" {
			t.Errorf("sent was %q", got)
		}
		tee.Write([]byte("1m\xe2"))
		time.Sleep(runeTime)
		if got := sent(); got != "1m\xe2" {
			t.Errorf("sent was %q", got)
		}
	})
}

func TestAPauseBeginsAndEndsBetweenTwoSequences(t *testing.T) {
	var user bytes.Buffer
	b := newOutbox()
	tee := newTee(&user, b, 40, 5, vt.Options{})
	defer tee.close()
	tee.Write([]byte("a\x1b[3"))
	tee.toggle()
	tee.Write([]byte("1mhidden\xe2\x82"))
	tee.toggle()
	tee.Write([]byte("\xacshown"))
	text, _ := outputOf(b)
	begin := "a\x1b[31m" + pausedText + "\x1b[!p" + resumedText
	if !strings.HasPrefix(text, begin) || !strings.HasSuffix(text, "shown") {
		t.Errorf("sent was %q", text)
	}
	if strings.Contains(text, "hidden") || strings.ContainsRune(text, '€') {
		t.Errorf("what was printed in the pause was sent: %q", text)
	}
	got := user.String()
	if !strings.Contains(got, "a\x1b[31m\r\n") || !strings.Contains(got, "hidden€\r\n") {
		t.Errorf("the user's terminal got notices within a sequence: %q", got)
	}
}

// TestNotificationsReachTheHost is about the sequences, whose text tells those who do not look.
func TestNotificationsReachTheHost(t *testing.T) {
	var user bytes.Buffer
	b := newOutbox()
	tee := newTee(&user, b, 40, 5, vt.Options{})
	defer tee.close()
	const sequences = "\x1b]9;one\x07\x1b]777;notify;a;two\x1b\\\x1b]99;i=1:d=0;th\x1b\\\x1b]99;i=1;ree\x1b\\"
	tee.Write([]byte(sequences))
	if got, _ := outputOf(b); got != "\x1b]9;one\x07\x1b]777;notify;a;two\x1b\\\x1b]99;;three\x1b\\" {
		t.Errorf("sent was %q", got)
	}
	if got := user.String(); got != sequences {
		t.Errorf("the user's terminal got %q", got)
	}
}

func TestNothingThatWasPrintedInAPauseIsEverSent(t *testing.T) {
	for name, during := range map[string]string{
		"a shell":                              "secret\r\n$ ",
		"a full-screen program that has ended": "\x1b[?1049hsecret\x1b[?1049lsecret\r\n",
		"a screen that is cleared":             "\x1b[2J\x1b[Hsecret",
		"a title":                              "\x1b]0;secret\x07",
		"a command": "\x1b]633;A;n\x07\x1b]633;E;secret;n\x07\x1b]633;C;n\x07" +
			"secret\x1b]633;D;1;n\x07",
	} {
		t.Run(name, func(t *testing.T) {
			var user bytes.Buffer
			b := newOutbox()
			tee := newTee(&user, b, 20, 5, vt.Options{Nonce: "n"})
			defer tee.close()
			tee.Write([]byte("before\r\n"))
			tee.toggle()
			tee.Write([]byte(during))
			tee.toggle()
			tee.Write([]byte("after\r\n"))
			tee.draw() // as after a lost connection
			if !strings.Contains(user.String(), "secret") {
				t.Error("the user does not see it")
			}
			var all strings.Builder
			for {
				p, _ := b.next()
				if p == nil {
					break
				}
				fmt.Fprintf(&all, "%+v %s\n", p.action,
					ahp.AppendAction(nil, p.action, ahp.ShapeLifecycle))
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
	for name, before := range map[string]string{
		"begun before it": "\x1b[?1049h\x1b[Hold",
		"begun in it":     "",
	} {
		t.Run(name, func(t *testing.T) {
			b := newOutbox()
			tee := newTee(&bytes.Buffer{}, b, 40, 9, vt.Options{})
			defer tee.close()
			tee.Write([]byte("$ edit\r\n" + before))
			tee.toggle()
			tee.Write([]byte("secret\x1b[?1049h\x1b[H\x1b[31mnew\x1b[0m text" + states))
			tee.toggle()
			tee.Write([]byte("x\n\n\n\n")) // scrolls its region only
			text, _ := outputOf(b)
			watcher := vt.New(40, 9, vt.Options{})
			watcher.Feed([]byte(text), nil)
			got, want := watcher.AppendAlternate(nil), tee.screen.AppendAlternate(nil)
			if !bytes.Equal(got, want) {
				t.Errorf("watchers see\n%q\nthe user\n%q", got, want)
			}
			watcher.Feed([]byte("\x1b[?1049l"), nil)
			main := string(watcher.AppendText(nil, false))
			if !strings.HasPrefix(main, "$ edit\n") {
				t.Errorf("the main screen has become\n%s", main)
			}
		})
	}
}

func TestANoticeLeavesAFullScreenAsItWas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var user bytes.Buffer
		tee := newTee(&user, newOutbox(), 20, 5, vt.Options{})
		defer tee.close()
		tee.Write([]byte("\x1b[?1049h\x1b[H" + strings.Repeat("0123456789", 2*5) + "\x1b[2;3H"))
		seen := func() *vt.Screen {
			tee.mu.Lock()
			defer tee.mu.Unlock()
			v := vt.New(20, 5, vt.Options{})
			v.Feed(user.Bytes(), nil)
			return v
		}
		before := string(seen().AppendText(nil, true))
		if tee.notify("a notice that is longer than a line") {
			t.Error("a notice on a full screen is said to stay")
		}
		got := string(seen().AppendText(nil, false))
		if !strings.HasSuffix(got, "\n termhost: a notice\n") ||
			!strings.HasPrefix(got, before[:len(before)/2]) {
			t.Errorf("with the notice the screen is\n%s", got)
		}
		time.Sleep(overlayTime)
		synctest.Wait()
		after := seen()
		if got := string(after.AppendText(nil, true)); got != before {
			t.Errorf("after the notice the screen is\n%s", got)
		}
		if x, y, _ := after.Cursor(); x != 2 || y != 1 {
			t.Errorf("the cursor is at %d,%d", x, y)
		}
	})
}

// TestANoticeWaitsForTheEndOfAString shows a notice in the middle of a string, such as a title.
// There it would end the string, and the rest would appear as text.
func TestANoticeWaitsForTheEndOfAString(t *testing.T) {
	for _, begin := range []string{"\x1b]0;", "\x1bP+q", "\x1b_G", "\x1b]52;c;"} {
		var user bytes.Buffer
		tee := newTee(&user, newOutbox(), 40, 9, vt.Options{})
		tee.Write([]byte("before" + begin + "the string"))
		tee.notify("a notice")
		tee.Write([]byte(" goes on\x1b\\after it"))
		tee.close()
		want := "the string goes on\x1b\\\r\n\x1b[7m[termhost: a notice]\x1b[0m\r\nafter it"
		if got := user.String(); !strings.HasSuffix(got, want) {
			t.Errorf("the user is sent %q, want %q at the end", got, want)
		}
	}
}

func TestCommandsOfASharedShellAreTold(t *testing.T) {
	b := newOutbox()
	tee := newTee(&bytes.Buffer{}, b, 80, 24, vt.Options{Nonce: "nonce"})
	defer tee.close()
	tee.Write([]byte("\x1b]633;A;nonce\x07$ \x1b]633;E;make;nonce\x07\x1b]633;C;nonce\x07out" +
		"\x1b]633;D;2;nonce\x07\x1b]633;P;Cwd=/tmp;nonce\x07\x1b]633;A;nonce\x07$ \x1b]133;B\x07"))
	var got []string
	for {
		p, _ := b.next()
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
	want := `"\x1b]133;A\a$ " executed make "out" finished 2 "\x1b]7;file:///tmp\a\x1b]133;A\a$ \x1b]133;B\a"`
	if text := strings.Join(got, " "); text != want {
		t.Errorf("sent was\n%s, want\n%s", text, want)
	}
}

// told returns what a host is told about commands.
func told(b *outbox) (list []string) {
	for {
		p, _ := b.next()
		if p == nil {
			return list
		}
		switch a := p.action.(type) {
		case ahp.TerminalCommandExecuted:
			list = append(list, "begins "+a.CommandLine)
		case ahp.TerminalCommandFinished:
			how := "somehow"
			if a.ExitCode != nil {
				how = fmt.Sprint(*a.ExitCode)
			}
			list = append(list, "ends "+how)
		}
	}
}

func TestWatchersHearOfTheEndOfACommandThatEndsInAPause(t *testing.T) {
	const (
		begin  = "\x1b]633;E;make;n\x07\x1b]633;C;n\x07"
		end    = "\x1b]633;D;3;n\x07"
		prompt = "\x1b]633;A;n\x07"
		other  = "\x1b]633;E;secret;n\x07\x1b]633;C;n\x07"
	)
	for name, tc := range map[string]struct {
		during, after string
		want          []string
	}{
		"it goes on": {"x", end + prompt, []string{"begins make", "ends 3"}},
		"it ends":    {end + prompt, "", []string{"begins make", "ends somehow"}},
		"it ends, and another runs": {end + prompt + other, end + prompt,
			[]string{"begins make", "ends somehow"}},
		"another one has come after": {end + prompt + other + end + prompt, begin,
			[]string{"begins make", "ends somehow", "begins make"}},
		"without an end, a prompt": {prompt, "", []string{"begins make", "ends somehow"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newOutbox()
			tee := newTee(&bytes.Buffer{}, b, 80, 24, vt.Options{Nonce: "n"})
			defer tee.close()
			tee.Write([]byte(begin))
			tee.toggle()
			tee.Write([]byte(tc.during))
			tee.toggle()
			tee.Write([]byte(tc.after))
			if got := told(b); !reflect.DeepEqual(got, tc.want) {
				t.Errorf("told was %q, want %q", got, tc.want)
			}
		})
	}
}

func TestTheEndOfTheProgramComesBehindTheScreen(t *testing.T) {
	b := newOutbox()
	tee := newTee(&bytes.Buffer{}, b, 80, 24, vt.Options{})
	defer tee.close()
	for range 40 {
		tee.Write(bytes.Repeat([]byte{'x'}, chunkBytes))
	}
	tee.Write([]byte("\r\nthe end"))
	tee.exit(0)
	var text strings.Builder
	var items []*item
	for more := true; more; {
		some, sent := outputOf(b) // as much as may be in flight
		for _, p := range sent {
			b.settled(p)
		}
		text.WriteString(some)
		items = append(items, sent...)
		more = len(sent) > 0
	}
	if _, ok := items[len(items)-1].action.(ahp.TerminalExited); !ok {
		t.Errorf("the last of %d items is not the end", len(items))
	}
	if strings.Count(text.String(), "the end") != 2 {
		t.Error("the screen is not sent after the gap")
	}
	tee.draw()
	if rest, _ := outputOf(b); rest != "" {
		t.Errorf("behind the end %d bytes are sent", len(rest))
	}
}
