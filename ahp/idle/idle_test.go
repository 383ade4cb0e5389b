package idle_test

import (
	"testing"
	"time"

	"termhost/ahp/idle"
	"termhost/ahp/journal"
	"termhost/ptypool"
	"termhost/ptypool/foreground"
)

// noon is when each test begins.
var noon = time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)

// after returns a time after noon.
func after(d time.Duration) time.Time { return noon.Add(d) }

// finds has a look find something.
func finds(p *idle.Program, at time.Time, s idle.Sight) idle.Change {
	return p.Found(at, p.Begin(s.Line), s)
}

func reads(text string) idle.Sight {
	return idle.Sight{State: foreground.Input, Text: text, Read: true}
}

func TestLooksBecomeSeldomAndASignOfLifeEndsThat(t *testing.T) {
	p, now := &idle.Program{}, noon
	if wait, arm := p.Active(now); !arm || wait > time.Second/10 {
		t.Errorf("the first look is due after %s, %v", wait, arm)
	}
	var longest time.Duration
	for looks := 1; looks < 100; looks++ {
		finds(p, now, idle.Sight{})
		wait, ok := p.Next(now)
		if !ok || wait > time.Minute {
			t.Fatalf("after %d looks the next is due after %s, %v", looks, wait, ok)
		}
		if now = now.Add(wait); looks == 9 && now.Sub(noon) > 2*time.Minute {
			t.Errorf("the first looks take %s", now.Sub(noon))
		}
		longest = max(longest, wait)
	}
	if longest < 40*time.Second {
		t.Errorf("they never become more seldom than every %s", longest)
	}
	finds(p, now, idle.Sight{})
	p.Next(now)
	if wait, arm := p.Active(now); !arm || wait > time.Second/10 {
		t.Errorf("after a sign of life the next look is due after %s, %v", wait, arm)
	}
	if _, arm := p.Active(now); arm {
		t.Error("the next sign puts the look off")
	}
	finds(p, now, idle.Sight{})
	if wait, _ := p.Next(now); wait > time.Second {
		t.Errorf("the second look is due after %s", wait)
	}
}

func TestALookWaitsForAPause(t *testing.T) {
	p := &idle.Program{}
	p.Active(noon)
	if wait := p.Due(noon.Add(time.Millisecond)); wait <= 0 || wait > time.Second/10 {
		t.Errorf("after a millisecond it is deferred for %s", wait)
	}
	if wait := p.Due(after(time.Second)); wait != 0 {
		t.Errorf("after a second it is deferred for %s", wait)
	}
}

func TestNobodyLooksAtAPromptUntilSomethingHappens(t *testing.T) {
	p := &idle.Program{}
	p.Active(noon)
	finds(p, noon, idle.Sight{State: foreground.Idle})
	if _, ok := p.Next(noon); !ok || p.Rests() {
		t.Error("it rests, though something that was typed is not read")
	}
	finds(p, noon, idle.Sight{State: foreground.Idle, Read: true, Held: true})
	if p.Rests() {
		t.Error("it rests, though something is held until it reads")
	}
	finds(p, noon, idle.Sight{State: foreground.Idle, Read: true})
	if _, ok := p.Next(noon); ok || !p.Rests() || p.Works() {
		t.Error("it does not rest")
	}
	changed := p.Changed()
	p.Active(noon)
	select {
	case <-changed:
	default:
		t.Error("nobody is told that it does not rest any more")
	}
	if p.Rests() {
		t.Error("it rests after a sign of life")
	}
}

func TestALookIsTooEarly(t *testing.T) {
	line := ptypool.Line{Canonical: true, Echo: true, Foreground: 7}
	unread, other := line, line
	unread.Unread, other.Foreground = true, 8
	late := 10 * time.Second
	for name, c := range map[string]struct {
		begins ptypool.Line
		sees   idle.Sight
		after  time.Duration // since the last activity
		signs  int           // of life during the look
		want   bool
	}{
		"it waits":                  {line, idle.Sight{State: foreground.Input, Line: line, Read: true}, late, 0, false},
		"it works":                  {line, idle.Sight{State: foreground.Busy, Line: line}, late, 0, false},
		"it prints meanwhile":       {line, idle.Sight{State: foreground.Busy, Line: line}, late, 1, true},
		"another one begins":        {line, idle.Sight{State: foreground.Busy, Line: other}, late, 0, true},
		"its question is not shown": {unread, idle.Sight{State: foreground.Input, Line: unread, Read: true}, late, 0, true},
		"it prints, and works":      {unread, idle.Sight{State: foreground.Busy, Line: unread}, late, 0, false},
		"an answer is there":        {line, idle.Sight{State: foreground.Input, Line: line}, late, 0, true},
		"a secret is there":         {line, idle.Sight{State: foreground.Secret, Line: line}, late, 0, true},
		"an answer is held":         {line, idle.Sight{State: foreground.Input, Line: line, Read: true, Held: true}, time.Second, 0, true},
		"it is held for long":       {line, idle.Sight{State: foreground.Input, Line: line, Read: true, Held: true}, late, 0, false},
		"a secret's is held":        {line, idle.Sight{State: foreground.Secret, Line: line, Read: true, Held: true}, time.Second, 0, false},
	} {
		p := &idle.Program{}
		p.Active(noon)
		look := p.Begin(c.begins)
		for range c.signs {
			p.Active(noon)
		}
		wait, early := p.TooEarly(after(c.after), look, c.sees)
		if early != c.want || early != (wait > 0) {
			t.Errorf("%s: %v, and again after %s", name, early, wait)
		}
	}
}

func TestAnUnchangedLookIsLikeTheLastOne(t *testing.T) {
	line := ptypool.Line{Echo: true, Foreground: 7}
	p := &idle.Program{}
	p.Active(noon)
	if p.Unchanged(p.Begin(line), foreground.Busy) {
		t.Error("there was no look before")
	}
	finds(p, noon, idle.Sight{State: foreground.Busy, Line: line})
	if look := p.Begin(line); !p.Unchanged(look, foreground.Busy) || p.Unchanged(look, foreground.Input) {
		t.Error("the state alone must make it another one")
	}
	if p.Unchanged(p.Begin(ptypool.Line{}), foreground.Busy) {
		t.Error("the line is another one")
	}
	look := p.Begin(line)
	if p.Active(noon); p.Unchanged(look, foreground.Busy) {
		t.Error("something was printed during the look")
	}
}

func TestWhatAProgramWaitsForIsToldOnceAndWithWhoAnswered(t *testing.T) {
	p := &idle.Program{}
	want := func(when string, got, want idle.Change) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %+v, want %+v", when, got, want)
		}
	}
	want("it asks", finds(p, noon, reads("Name:")), idle.Change{Now: idle.Input, Shown: true, Fresh: true})
	want("it still does", finds(p, after(1), reads("Name:")), idle.Change{Was: idle.Input, Now: idle.Input})
	want("it asks something else", finds(p, after(2), reads("Age:")),
		idle.Change{Was: idle.Input, Now: idle.Input, Shown: true})
	if p.Asks() != "Age:" || !p.Since().Equal(noon) {
		t.Errorf("it asks %q since %s", p.Asks(), p.Since())
	}
	want("a key is typed", p.Typed(after(3), "ann", []byte("4"), true),
		idle.Change{Was: idle.Input, Now: idle.Input})
	if by, begun := p.Typist(); by != "ann" || !begun || !p.Unsure() {
		t.Errorf("%q typed, a line was begun: %v, unsure: %v", by, begun, p.Unsure())
	}
	if got := p.Question("Age: 4"); got != "Age:" {
		t.Errorf("with the answer's beginning the question is %q", got)
	}
	want("a look finds the same", finds(p, after(4), reads("Age: 4")), idle.Change{Was: idle.Input, Now: idle.Input})
	want("it is answered", p.Typed(after(5), "ann", []byte("\r"), true),
		idle.Change{Was: idle.Input, By: "ann", Shown: true, Fresh: true})
	if _, begun := p.Typist(); begun {
		t.Error("the line has not ended")
	}
	want("it wants a secret", finds(p, after(6), idle.Sight{State: foreground.Secret, Text: "Password:", Read: true}),
		idle.Change{Now: idle.Secret, Shown: true, Fresh: true})
	if !p.AsksSecret("Password: ***") || p.AsksSecret("$ ") {
		t.Error("the question is over when its text is")
	}
	c, _, _ := p.End(after(7))
	want("it ends", c, idle.Change{Was: idle.Secret, Shown: true, Fresh: true})
}

// A program that reads keys one by one, and goes on by itself, was answered by the last user who
// typed since the last look.
func TestAKeyMayBeTheAnswer(t *testing.T) {
	p := &idle.Program{}
	finds(p, noon, reads("Sure?"))
	p.Typed(noon, "ann", []byte("y"), true)
	want := idle.Change{Was: idle.Input, By: "ann", Shown: true, Fresh: true}
	if got := finds(p, noon, idle.Sight{}); got != want {
		t.Errorf("%+v", got)
	}
	finds(p, noon, reads("Sure?"))
	if got := finds(p, noon, idle.Sight{}); got.By != "" {
		t.Errorf("%q answered, who has not typed", got.By)
	}
}

func TestAnApprovalComesFirst(t *testing.T) {
	p := &idle.Program{}
	finds(p, noon, reads("Name:"))
	want := idle.Change{Was: idle.Input, Now: idle.Input, Shown: true, Fresh: true}
	if got := p.Holds(after(1), true); got != want || p.Shown() != idle.Approval || p.Asks() != "" {
		t.Errorf("%+v, shown: %s %q", got, p.Shown(), p.Asks())
	}
	if p.Waits() != idle.Input || p.Journaled() != nil || p.Works() {
		t.Errorf("the program waits for %q, and %+v is kept", p.Waits(), p.Journaled())
	}
	if got := p.Holds(after(2), false); got != want || p.Shown() != idle.Input || p.Asks() != "Name:" {
		t.Errorf("%+v, shown: %s %q", got, p.Shown(), p.Asks())
	}
}

func TestAProgramsOwnWordCountsUntilSomebodyTypes(t *testing.T) {
	p := &idle.Program{}
	want := idle.Change{Now: idle.Input, Shown: true, Fresh: true}
	if got := p.Says(noon, true, "may I?"); got != want || p.Asks() != "may I?" || p.Reads() != idle.None {
		t.Errorf("%+v, it asks %q", got, p.Asks())
	}
	if got := p.AsksAnew(after(time.Minute)); !got.Fresh || got.Now != got.Was || !p.Since().Equal(after(time.Minute)) {
		t.Errorf("%+v since %s", got, p.Since())
	}
	if p.Typed(noon, "ann", []byte("\x1b[I"), false); !p.Said() {
		t.Error("a report of the terminal's has answered it")
	}
	if got := p.Typed(noon, "ann", []byte("y"), true); p.Said() || got.Was != idle.Input || got.By != "ann" {
		t.Errorf("a key has not: %+v", got)
	}
	p.Typed(noon, "ann", []byte("\r"), true)
	p.Says(noon, true, "may I?")
	finds(p, noon, reads("Name:"))
	if p.Asks() != "Name:" {
		t.Errorf("it asks %q, and not its question", p.Asks())
	}
	if got := p.AsksAnew(noon); got != (idle.Change{}) {
		t.Errorf("it has not asked anew what a look has found: %+v", got)
	}
}

func TestALongQuestionIsCutBetweenCharacters(t *testing.T) {
	p := &idle.Program{}
	long := ""
	for range 100 {
		long += "é"
	}
	finds(p, noon, reads("\x1bx"+long))
	if got := p.Asks(); len(got) > 124 || got[len(got)-2:] != "é" {
		t.Errorf("%q", got)
	}
}

func TestAProgramMayHaveWaitedSinceBeforeTheHost(t *testing.T) {
	before := noon.Add(-time.Hour)
	for name, c := range map[string]struct {
		was   journal.Waits
		typed string
		sees  idle.Sight
		want  time.Time
	}{
		"the same":         {journal.Waits{For: "input", Question: "Name:", Since: before}, "", reads("Name:"), before},
		"another question": {journal.Waits{For: "input", Question: "Name:", Since: before}, "", reads("Age:"), noon},
		"a secret":         {journal.Waits{For: "secret", Since: before}, "", reads("Name:"), noon},
		"answered":         {journal.Waits{For: "input", Question: "Name:", Since: before}, "\r", reads("Name:"), noon},
	} {
		p := &idle.Program{}
		p.Restore(&c.was)
		if c.typed != "" {
			p.Typed(noon, "ann", []byte(c.typed), true)
		}
		finds(p, noon, c.sees)
		if !p.Since().Equal(c.want) {
			t.Errorf("%s: since %s", name, p.Since())
		}
		if got := p.Journaled(); got == nil || got.For != "input" || got.Question != c.sees.Text || !got.Since.Equal(c.want) {
			t.Errorf("%s: %+v is kept for the next host", name, got)
		}
	}
}

func TestAProgramThatPrintsNothingIsMarked(t *testing.T) {
	p := &idle.Program{}
	p.Printed(noon)
	if changed, next := p.CheckQuiet(after(time.Minute), time.Hour, true); changed || next != 59*time.Minute {
		t.Errorf("too early: %v, next after %s", changed, next)
	}
	if changed, next := p.CheckQuiet(after(time.Hour), time.Hour, false); changed || next != time.Hour {
		t.Errorf("while it does not work: %v, next after %s", changed, next)
	}
	changed, _ := p.CheckQuiet(after(2*time.Hour), time.Hour, true)
	if since, on := p.Quiet(); !changed || !on || !since.Equal(after(time.Hour)) {
		t.Errorf("%v, %v since %s", changed, on, since)
	}
	if again, _ := p.CheckQuiet(after(3*time.Hour), time.Hour, true); again {
		t.Error("it is marked twice")
	}
	if !p.Printed(after(3*time.Hour)) || p.Printed(after(3*time.Hour)) || p.EndQuiet() {
		t.Error("output ends the mark, once")
	}
	p.CheckQuiet(after(9*time.Hour), time.Hour, true)
	if _, _, quiet := p.End(after(9 * time.Hour)); !quiet {
		t.Error("its end ends the mark, too")
	}
}

func TestStoppedOutput(t *testing.T) {
	const stop, start = 0x13, 0x11
	keys := func() (byte, byte) { return stop, start }
	for text, want := range map[string]bool{
		"\x13": true, "ls\r\x13": true, "\x13\x11": false, "\x11\x13": true, "ls": false, "\r": false,
	} {
		p := &idle.Program{}
		if p.MayStop("ann", []byte(text), keys); p.MayBeStopped() != want {
			t.Errorf("%q may stop it: %v", text, !want)
		}
	}
	p := &idle.Program{}
	p.MayStop("ann", []byte{stop}, func() (byte, byte) { return 0, 0 })
	if p.MayBeStopped() || p.GoesOn([]byte{start}, keys) {
		t.Error("a terminal without such keys is stopped by one")
	}
	p.MayStop("ann", []byte{stop}, keys)
	if changed, tell := p.SeeStopped(true); !changed || !tell {
		t.Errorf("it is stopped: %v, told: %v", changed, tell)
	}
	if changed, tell := p.SeeStopped(true); changed || tell {
		t.Errorf("again: %v, told: %v", changed, tell)
	}
	if p.MayStop("bob", []byte("x"), keys); !p.GoesOn([]byte{start}, keys) || p.GoesOn([]byte("x"), keys) {
		t.Error("only the start key lets it go on")
	}
	if changed, tell := p.SeeStopped(true); changed || !tell {
		t.Errorf("after a key: %v, told: %v", changed, tell)
	}
	finds(p, noon, idle.Sight{State: foreground.Idle, Read: true})
	if _, ok := p.Next(noon); !ok {
		t.Error("nobody would see that it goes on")
	}
	if by, on := p.Stopped(); by != "ann" || !on {
		t.Errorf("%q has stopped it: %v", by, on)
	}
	if changed, _ := p.SeeStopped(false); !changed || !p.MayBeStopped() {
		t.Error("it goes on, and the key that stops it again may be on its way")
	}
	finds(p, noon, idle.Sight{})
	if p.SeeStopped(false); p.MayBeStopped() {
		t.Error("nobody has stopped it for two looks")
	}
}
