package viewer

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/visible"
	"termhost/ptypool/keyboard"
	"termhost/ptypool/vt/width"
)

// asked is an approval on a screen, and a clock. There is nobody who could decide, so that a key
// which answers fails with a panic.
type asked struct {
	*approval
	t     *testing.T
	clock time.Time
	size  Window
	due   time.Time // when fires is called; it is nil: nothing is
	fires func()
}

func newAsked(t *testing.T, text string) *asked {
	is := host.HeldInput{}
	is.By, is.Text, is.Ask, is.Does = "ann/claude", text, "@7", visible.Does(text)
	is.Lines, is.Hidden = visible.Lines(text)
	d := &asked{t: t, clock: time.Unix(1e9, 0), size: Window{Cols: 80, Rows: 24}}
	d.approval = &approval{front: newFront(true), typing: &typing{}, is: is,
		now: func() time.Time { return d.clock }, window: func() Window { return d.size },
		after: func(wait time.Duration, f func()) func() bool {
			d.due, d.fires = d.clock.Add(wait), f
			return func() bool { d.fires = nil; return true }
		}}
	return d
}

// writes presses the keys of a text, with a pause behind each, and returns whether one has answered.
func (d *asked) writes(text string, pause time.Duration) (answered bool) {
	d.t.Helper()
	defer func() {
		if recover() != nil {
			answered = true
			d.mu.TryLock() // as it may be
			d.mu.Unlock()
		}
	}()
	for _, c := range text {
		if v := d.key(keyboard.Key{Code: c}); v != dialogStays {
			d.t.Fatalf("%c of %q: %v", c, text, v)
		}
		if fires := d.fires; fires != nil && d.due.Sub(d.clock) <= pause {
			d.fires = nil
			fires()
		}
		d.waits(pause)
	}
	return false
}

// shows draws the dialog, has it come to the screen, and returns what is there.
func (d *asked) shows() string {
	d.t.Helper()
	o := d.draw(d.size, d.size)
	if fitted := o.fitted(d.size); len(o.lines) > len(fitted) && d.next.offers != offersNothing {
		d.t.Fatalf("of %d lines %d are drawn in %v", len(o.lines), len(fitted), d.size)
	}
	for _, line := range o.lines {
		if d.next.offers != offersNothing && width.String(line) > lineRoom(d.size) {
			d.t.Fatalf("%q is cut in %v", line, d.size)
		}
	}
	d.drawn()
	return strings.Join(o.fitted(d.size), "\n")
}

// waits lets time pass, at whose end the dialog is drawn, and returns what is on the screen.
func (d *asked) waits(after time.Duration) string {
	d.t.Helper()
	d.clock = d.clock.Add(after)
	return d.shows()
}

// press returns whether a key was an answer, "answered", and else its verdict.
func (d *asked) press(code rune) (was string) {
	d.t.Helper()
	defer func() {
		if recover() != nil {
			was = "answered"
			d.mu.TryLock() // as it may be
			d.mu.Unlock()
		}
	}()
	v := d.key(keyboard.Key{Code: code})
	if fires := d.fires; fires != nil { // no other key follows
		d.fires = nil
		fires()
	}
	return map[verdict]string{dialogStays: "nothing", notMine: "typed", dialogEnds: "ended"}[v]
}

// TestAWordIsNoAnswer: who types at the program without a look at the dialog decides nothing.
func TestAWordIsNoAnswer(t *testing.T) {
	for _, word := range []string{"make test\r", "python x\r", "vim ay\r", "person\r", "echo yes\r", "npm i\r",
		"y\r", "yy", "ay", "nay", "kill\r", "back\r", "\ty", "ls -a\r"} {
		for _, pause := range []time.Duration{0, 60 * time.Millisecond, 250 * time.Millisecond} {
			d := newAsked(t, "rm -rf /\r")
			d.is.All = true
			d.shows()
			d.waits(answerDelay)
			if got := d.waits(answerDelay); !strings.Contains(got, "refuses") {
				t.Fatalf("keys do not answer:\n%s", got)
			}
			if d.writes(word, pause) {
				t.Errorf("%q, with %v between keys, has answered", word, pause)
			}
			if got := d.shows(); word != "yy" && !strings.Contains(got, waiting) {
				t.Errorf("after %q:\n%s", word, got)
			}
			d.waits(wordPause)
			if got := d.press('y'); got != "answered" {
				t.Errorf("a second after %q: %s", word, got)
			}
		}
	}
}

func TestKeysAnswerWhenTheWholeTextHasStoodOnTheScreen(t *testing.T) {
	d := newAsked(t, "rm -rf /\r")
	if got := d.shows(); !strings.Contains(got, "wants to type 1 line and run it (@7)\n1 rm -rf /^M\n"+waiting) {
		t.Errorf("at first:\n%s", got)
	}
	for _, key := range []rune{'y', 'n', 'e', 'a', ' ', 'l', keyboard.Enter, keyboard.Escape} {
		if got := d.press(key); got != "nothing" {
			t.Errorf("%c, pressed as it appeared: %s", key, got)
		}
	}
	d.waits(699 * time.Millisecond)
	d.clock = d.clock.Add(2 * time.Millisecond)
	if got := d.press('y'); got != "nothing" {
		t.Errorf("pressed before the screen says that it answers: %s", got)
	}
	for range 9 { // it is held down
		if got := d.waits(pressPause - time.Millisecond); !strings.Contains(got, waiting) {
			t.Fatalf("while a key is held down:\n%s", got)
		}
		if got := d.press('y'); got != "nothing" {
			t.Errorf("while it is held down: %s", got)
		}
	}
	if got := d.waits(pressPause); !strings.Contains(got, "y\u00a0types\u00a0it  n\u00a0refuses  e\u00a0edits\u00a0it  Esc") {
		t.Errorf("then:\n%s", got)
	}
	if got := d.press('y'); got != "answered" {
		t.Errorf("then: %s", got)
	}
	// Something else lay over it for a while, or the window has changed: the time begins anew.
	d.size.Rows--
	if got := d.press('y'); got != "nothing" {
		t.Errorf("in a window that has changed: %s", got)
	}
	if got := d.shows(); !strings.Contains(got, waiting) || d.press('y') != "nothing" {
		t.Errorf("as it is drawn for that:\n%s", got)
	}
	d.waits(answerDelay)
	d.leaves()
	if got := d.shows(); !strings.Contains(got, waiting) || d.press('y') != "nothing" {
		t.Errorf("as it comes back:\n%s", got)
	}
	d.waits(answerDelay)
	if got := d.press('y'); got != "answered" {
		t.Errorf("in the end: %s", got)
	}
}

// types has the person type at the program, some time ago.
func (d *asked) types(line int64, ago time.Duration) {
	d.typing.line.Store(line)
	d.typing.typedAt.Store(d.clock.Add(-ago).UnixNano())
}

func TestWhoWasTypingTypesOn(t *testing.T) {
	for _, c := range []struct {
		line    int64
		ago     time.Duration
		typesOn bool
	}{
		{0, 0, true}, {0, 900 * time.Millisecond, true}, {0, typingPause, false},
		{1, typingPause, false}, {2, typingPause, true}, {9, 9 * time.Second, true},
		{9, linePause, false},
	} {
		d := newAsked(t, "rm -rf /\r")
		d.types(c.line, c.ago)
		words, was := waiting, "nothing"
		if c.typesOn {
			words, was = early, "typed"
		}
		if screen, got := d.shows(), d.press('y'); got != was || !strings.Contains(screen, words) {
			t.Errorf("%+v: %s, and the screen says\n%s", c, got, screen)
		}
	}
	d := newAsked(t, "rm -rf /\r")
	d.shows()
	d.types(0, 0) // before it was drawn
	if got := d.waits(0); !strings.Contains(got, waiting) {
		t.Errorf("what is typed behind the dialog's back counts:\n%s", got)
	}
	d = newAsked(t, "rm -rf /\r")
	d.types(0, 0)
	d.shows()
	for range 5 { // the person goes on
		d.waits(typingPause - time.Millisecond)
		if got := d.press('y'); got != "typed" {
			t.Errorf("a key of somebody who was typing: %s", got)
		}
		d.types(0, 0)
	}
	d.size.Rows--
	if got := d.press('y'); got != "typed" {
		t.Errorf("as the window changes: %s", got)
	}
	d.shows()
	if got := d.waits(typingPause); !strings.Contains(got, "y\u00a0types") || d.press('y') != "answered" {
		t.Errorf("after a pause:\n%s", got)
	}
	d.size.Rows--
	if got := d.shows(); !strings.Contains(got, waiting) || d.press('y') != "nothing" {
		t.Errorf("after a pause, in another window:\n%s", got)
	}
	d.waits(answerDelay + pressPause)
	if d.key(keyboard.Key{Code: 'c', Mods: keyboard.Ctrl}) != notMine {
		t.Error("ctrl-C does not reach the program")
	}
	for _, k := range []keyboard.Key{{Code: 'y', Mods: keyboard.Alt}, {Code: 'Y'}, {Code: 'x'},
		{Code: keyboard.Enter}, {Code: 'a'}} {
		if d.key(k) != dialogStays {
			t.Errorf("%+v is an answer", k)
		}
	}
}

// Who was typing in a window that is too small is not typing any more when it becomes larger.
func TestAKeyPressedAsAWindowBecomesLargeEnoughIsNotTyped(t *testing.T) {
	d := newAsked(t, "rm -rf /\r")
	d.types(5, 0)
	d.size = Window{Cols: 20, Rows: 2}
	d.shows()
	d.clock = d.clock.Add(linePause)
	d.size = Window{Cols: 100, Rows: 30}
	for _, when := range []string{"before it is drawn", "as it is drawn"} {
		if got := d.press('y'); got != "nothing" {
			t.Errorf("%s: %s", when, got)
		}
		d.shows()
	}
}

func TestALongTextIsReadToItsEndBeforeItIsApproved(t *testing.T) {
	d := newAsked(t, strings.Repeat("echo x\r", 30)+"ls HEAD^M")
	d.size = Window{Cols: 62, Rows: 11}
	d.shows()
	got := d.waits(answerDelay)
	if !strings.Contains(got, "wants to type 31 lines and run them (@7)") ||
		!strings.Contains(got, "rows 1 to 8 of 31; 23 more, read on\nspace\u00a0reads\u00a0on  n\u00a0refuses  Esc") {
		t.Fatalf("at first:\n%s", got)
	}
	for _, key := range "yaexv\r" {
		if got := d.press(key); got != "nothing" {
			t.Errorf("%c before it is read: %s", key, got)
		}
	}
	d.waits(wordPause)
	if got := d.press('n'); got != "answered" {
		t.Errorf("refused before it is read: %s", got)
	}
	seen := map[string]bool{}
	for page := 1; ; page++ {
		for _, row := range strings.Split(d.shows(), "\n") {
			seen[row] = true
		}
		if d.view.last == d.view.rows {
			break
		}
		if d.waits(answerDelay); d.press('y') != "nothing" {
			t.Errorf("approved on page %d", page)
		}
		d.press(' ')
	}
	if d.press('y') != "nothing" {
		t.Error("approved as its end appeared")
	}
	if got := d.waits(answerDelay); !strings.Contains(got, "y\u00a0types") || d.press('y') != "answered" {
		t.Errorf("read to the end:\n%s", got)
	}
	if !seen[" 1 echo x^M"] || !seen["31 ls HEAD^M"] || len(seen) < 31 {
		t.Errorf("seen: %v", seen)
	}
	d.size.Cols = 50 // the rows may be others
	d.shows()
	if got := d.waits(answerDelay); d.press('y') != "nothing" || !strings.Contains(got, "rows 1 to") {
		t.Errorf("in another window:\n%s", got)
	}
}

// In whatever window, what answers has been there to be read, and nothing is ever cut.
func TestNoKeyAnswersWhatWasNotDrawn(t *testing.T) {
	texts := []string{"touch F\r", "echo harmless" + strings.Repeat(" ", 300) + "; touch F\r",
		"#ls\x01\x0btouch F\r", strings.Repeat("long ", 100) + "; touch F\r",
		strings.Repeat("\U000e0041", 20) + "\r", strings.Repeat("日本", 30) + "\r\rtouch F"}
	answered := 0
	for _, cols := range []int{0, 1, 5, 9, 10, 11, 12, 13, 14, 20, 30, 40, 55, 80, 200} {
		for _, rows := range []int{1, 2, 3, 4, 5, 6, 12, 24} {
			for i, text := range texts {
				d := newAsked(t, text)
				d.is.All, d.is.Behind = i%2 == 0, i
				d.size = Window{Cols: cols, Rows: rows}
				d.shows()
				inView := map[int]bool{}
				for page := 0; page < 700; page++ {
					d.waits(answerDelay)
					for r := d.view.first; r < d.view.last; r++ {
						inView[r] = true
					}
					if d.view.last == d.view.rows {
						break
					}
					d.press(' ')
				}
				screen := d.waits(answerDelay)
				small := slices.Contains(tooSmall[:], strings.ReplaceAll(screen, "\n", " "))
				switch got := d.press('y'); {
				case got == "nothing" && small:
					for _, key := range []rune{'n', 'a', 'e', keyboard.Escape} {
						if got := d.press(key); got != "nothing" {
							t.Errorf("%v: %c: %s", d.size, key, got)
						}
					}
				case got == "answered" && !small:
					answered++
					drawn := numbered(d.is.Lines, lineRoom(d.size))
					if len(inView) != len(drawn) || !strings.Contains(screen, "y\u00a0") {
						t.Errorf("%v: %d of %d rows were in view:\n%s", d.size, len(inView), len(drawn), screen)
					}
				default:
					t.Errorf("%v: %s, and on the screen is\n%s", d.size, got, screen)
				}
			}
		}
	}
	if answered < 200 {
		t.Errorf("only %d were answered", answered)
	}
	for _, w := range []Window{{Cols: 30, Rows: 4}, {Cols: 40, Rows: 5}, {Cols: 80, Rows: 3}} {
		d := newAsked(t, "touch F\r")
		d.size = w
		d.shows()
		if screen := d.waits(answerDelay); d.press('y') != "answered" {
			t.Errorf("in %v a short line is not to be answered:\n%s", w, screen)
		}
	}
}

// A sign does not look like the same characters meant literally.
func TestASignStandsOut(t *testing.T) {
	d := newAsked(t, "^M\u3164\r")
	d.shows()
	o := d.draw(d.size, d.size)
	if got := string(o.appendTo(nil, d.size)); !strings.Contains(got,
		"1 ^M\x1b[0;1m<U+3164>\x1b[0;7m\x1b[0;1m^M\x1b[0;7m ") {
		t.Errorf("drawn as %q", got)
	}
	d.is.Secret, d.is.Lines = true, nil
	if got := fmt.Sprint(d.draw(d.size, d.size).lines); !strings.Contains(got, "1 (a secret)") ||
		!strings.Contains(got, "wants to answer the question for a secret; nothing else will read it (@7)") {
		t.Errorf("a secret: %s", got)
	}
	d.is.Secret, d.is.Does = false, ahp.AskTypes
	if got := fmt.Sprint(d.draw(d.size, d.size).lines); !strings.Contains(got, "without Enter; nothing runs yet") {
		t.Errorf("without Enter: %s", got)
	}
	d.is.Does = ahp.AskActs
	if got := fmt.Sprint(d.draw(d.size, d.size).lines); !strings.Contains(got, "without Enter; the program acts at once") {
		t.Errorf("at a key: %s", got)
	}
}

// TestAWarningIsShownAndAnswersTheQuestionAnew: keys answer once it has stood there, too.
func TestAWarningIsShownAndAnswersTheQuestionAnew(t *testing.T) {
	d := newAsked(t, "rm -rf /\r")
	d.shows()
	d.waits(time.Second)
	if was := d.press('n'); was != "answered" {
		t.Fatalf("before the warning: %s", was)
	}
	d = newAsked(t, "rm -rf /\r")
	d.shows()
	d.waits(time.Second)
	is := d.is
	is.Warning = "it was meant for vim, which has ended"
	if !d.news(is) {
		t.Fatal("it is not drawn anew")
	}
	if screen := d.shows(); !strings.Contains(screen, is.Warning) {
		t.Errorf("not shown:\n%s", screen)
	}
	if was := d.press('y'); was != "nothing" {
		t.Errorf("a key answers at once what has changed: %s", was)
	}
}
