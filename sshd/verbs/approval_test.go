package verbs

import (
	"strings"
	"testing"
	"time"

	"termhost/ahp/host"
	"termhost/ptypool/keyboard"
)

func shownApproval(text string) *approval {
	return &approval{w: &viewer{typed: &inputLoop{}}, is: host.HeldInput{By: "claude", Text: text}}
}

func TestTheWholeOfWhatIsAskedCanBeSeen(t *testing.T) {
	d := shownApproval(strings.Repeat("echo x\r", 30) + "ls HEAD^M")
	w := Window{80, 30}
	lines := d.draw(w).lines
	all := strings.Join(lines, "\n")
	if !strings.Contains(all, "wants to type 31 lines, without Enter at the end") ||
		!strings.Contains(all, "... and 11 more rows: v shows all") || len(lines) != 23 {
		t.Errorf("at first %d lines:\n%s", len(lines), all)
	}
	d.since = time.Now().Add(-time.Hour)
	seen := map[string]bool{}
	d.key(keyboard.Key{Code: 'v'})
	for range 40 {
		o := d.draw(Window{40, 10})
		if len(o.lines) > 10 {
			t.Fatalf("%d lines in a window of 10", len(o.lines))
		}
		for _, row := range o.lines {
			seen[row] = true
		}
		d.key(keyboard.Key{Code: 'j'})
	}
	if !seen[" 1 echo x^M"] || !seen["31 ls HEAD^M"] {
		t.Errorf("seen: %v", seen)
	}
}

func TestKeysThatWereMeantForTheProgramAnswerNothing(t *testing.T) {
	d := shownApproval("rm -rf /\r") // with an attach that would fail to decide: there is none
	y := keyboard.Key{Code: 'y'}
	if d.draw(Window{80, 24}); d.key(y) != notMine {
		t.Error("a key pressed as the question appeared answered it")
	}
	d.since = time.Now().Add(-time.Hour)
	d.w.typed.typedAt.Store(time.Now().UnixNano())
	if d.key(y) != notMine {
		t.Error("a key of somebody who was typing answered")
	}
	d.w.typed.typedAt.Store(0)
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

// Two people answer at once, or one presses a key twice: at the program it would be typed.
func TestAnAnswerThatComesTooLateIsNotTyped(t *testing.T) {
	d := shownApproval("make\r")
	d.draw(Window{80, 24}) // too new to be answered
	y := keyboard.Key{Code: 'y'}
	l := d.w.typed
	l.answered()
	if d.key(y) != dialogStays {
		t.Error("an answer to the question before this one is typed")
	}
	if d.key(keyboard.Key{Code: 'l'}) != notMine {
		t.Error("what is no answer is dropped")
	}
	// There is no program to type at, so what is not dropped fails.
	l.w = &viewer{v: &invocation{ctx: t.Context()}}
	for _, key := range []string{"y", "n", "e", "a", "\x1b", "\x1b[110u"} {
		l.Typed([]byte(key))
	}
	l.answeredAt.Add(-int64(lateAnswer))
	if l.late(y) {
		t.Error("keys are dropped for ever")
	}
}
