package host_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/authz"
)

// typesIntoAnotherSize types what changes the terminal's size first. The program gets it when it has
// had time to draw itself.
func (v *viewer) typesIntoAnotherSize(keys string) {
	v.t.Helper()
	cols, _ := v.a.Size()
	if err := v.a.Input([]byte(keys)); err != host.ErrBusy {
		v.t.Fatalf("%q is typed before the program has drawn itself: %v", keys, err)
	}
	if now, _ := v.a.Size(); now == cols {
		v.t.Fatalf("%q leaves %d columns", keys, cols)
	}
	if err := v.a.WaitRoom(v.t.Context()); err != nil {
		v.t.Fatal(err)
	}
	if err := v.a.InputLater([]byte(keys)); err != nil {
		v.t.Fatalf("%q is not typed: %v", keys, err)
	}
}

func TestTheKeyThatChangesTheSizeIsTypedOnceAndWhole(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	term := run(t, h, carol, "x", "stty raw -echo; printf ready; exec cat -v")
	awaitOutput(t, h, term, "ready")
	first := attach(t, h, carol, "x", host.AttachOptions{Cols: 81, Rows: 24})
	second := attach(t, h, carol, "x", host.AttachOptions{Cols: 82, Rows: 24})
	admin := attach(t, h, alice, "x", host.AttachOptions{Cols: 83, Rows: 24})
	for _, v := range []*viewer{second, first, second} {
		v.typesIntoAnotherSize("a")
		v.types("b")
	}
	awaitOutput(t, h, term, "ababab")                     // else it is dropped with the claim
	if err := admin.a.Input([]byte("\x1b")); err != nil { // may be the beginning of a report
		t.Fatal(err)
	}
	admin.typesIntoAnotherSize("[A.")
	admin.types("c")
	awaitOutput(t, h, term, "c")
	if st := state(admin.t, h, term); text(st) != "readyababab^[[A.c" {
		t.Errorf("the program was typed %q", text(st))
	}
}

func TestTheWindowIsThatOfTheHoldersViewerThatWasActiveLast(t *testing.T) {
	t.Parallel()
	clock := newClock()
	h := hosttest.New(t, withClock(clock))
	term := run(t, h, carol, "x", "stty raw -echo; exec cat")
	fits := func(what string, cols int) {
		t.Helper()
		if got := term.Info(carol).Cols; got != cols {
			t.Fatalf("%s: %d columns, want %d", what, got, cols)
		}
	}
	open := func(cols int) host.AttachOptions { return host.AttachOptions{Cols: cols, Rows: 24} }
	first := attach(t, h, carol, "x", open(81))
	fits("the first", 81)
	admin := attach(t, h, alice, "x", open(82))
	fits("somebody else", 81)
	second := attach(t, h, carol, "x", open(83))
	fits("the second", 81)
	second.a.Resize(84, 24)
	fits("the second resized, at which nobody has typed", 81)
	second.typesIntoAnotherSize("k")
	fits("a key at the second", 84)
	second.a.Resize(83, 24)
	fits("the second resized again", 83)
	reader := attach(t, h, carol, "x", host.AttachOptions{Cols: 84, Rows: 24, ReadOnly: true})
	reader.a.Resize(85, 24)
	fits("a reader", 83)
	if err := first.a.Input([]byte("\x1b[I\x1b[<35;1;1M")); err != nil {
		t.Fatal(err)
	}
	fits("the mouse over the first", 83)
	first.a.Resize(80, 24)
	fits("the first resized, at which nobody has typed", 83)
	first.a.Resize(81, 24)
	first.typesIntoAnotherSize("k")
	fits("a key at the first", 81)
	second.a.Resize(86, 24)
	fits("the second resized", 86)
	second.a.Close()
	fits("the second left", 81)
	reader.a.Close()
	admin.a.Resize(87, 24)
	fits("nobody that counts", 81)

	if err := admin.a.Claim(); err != nil {
		t.Fatal(err)
	}
	fits("an admin claims", 87)
	first.a.Resize(88, 24)
	fits("the former holder resizes", 87)
	if name, err := admin.handBack(); err != nil || name != "carol" {
		t.Fatal(name, err)
	}
	fits("it hands back", 88)

	clock.advance(time.Second) // else the two claims would have crossed
	peer := connect(t, h, carol, "peer")
	if got := peer.claim(term.URI(), host.SSHClientID(alice)); got != "" {
		t.Fatal(got)
	}
	fits("the claim is passed on to somebody with a viewer", 87)
	admin.a.Close()
	fits("the holder left, and has no other", 87)
	if name, other := first.a.HeldByOther(); name != "alice" || !other {
		t.Errorf("held by %q, other %v", name, other)
	}
}

func TestAWindowInWhichNothingCanBeReadNeverGivesItsSize(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	term := run(t, h, carol, "x", "stty raw -echo; exec cat")
	fits := func(what string, cols, rows int) {
		t.Helper()
		if got := term.Info(carol); got.Cols != cols || got.Rows != rows {
			t.Fatalf("%s: %dx%d, want %dx%d", what, got.Cols, got.Rows, cols, rows)
		}
	}
	for _, o := range []host.AttachOptions{{Cols: 19, Rows: 24}, {Cols: 80, Rows: 4}} {
		v := attach(t, h, carol, "x", o)
		fits("the only one", 80, 24)
		if err := v.a.Input([]byte("k")); err != nil {
			t.Fatal(err)
		}
		fits("a key in it", 80, 24)
		v.a.Resize(20, 5)
		fits("it grows", 20, 5)
		v.a.Resize(2, 1)
		fits("it shrinks", 20, 5)
		big := attach(t, h, carol, "x", window)
		fits("another is the only one that counts", 80, 24)
		big.a.Close()
		v.a.Close()
	}
}

// Keys in two windows give the terminal the size of each once, however close they come: otherwise
// each would take the size back from the other before it is typed.
func TestAKeyGivesATerminalItsSizeOnce(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	term := run(t, h, carol, "x", "stty raw -echo; printf ready; exec cat -v")
	awaitOutput(t, h, term, "ready")
	first := attach(t, h, carol, "x", host.AttachOptions{Cols: 81, Rows: 24})
	second := attach(t, h, carol, "x", host.AttachOptions{Cols: 82, Rows: 24})
	busy := func(v *viewer, key string) {
		t.Helper()
		if err := v.a.Input([]byte(key)); err != host.ErrBusy {
			t.Fatalf("%q is typed before the program has drawn itself: %v", key, err)
		}
	}
	again := func(v *viewer, key string) error {
		t.Helper()
		hosttest.Check(t, v.a.WaitRoom(t.Context()))
		return v.a.InputLater([]byte(key))
	}
	busy(second, "b")
	busy(first, "a")
	hosttest.Check(t, again(second, "b"))
	hosttest.Check(t, again(first, "a"))
	awaitOutput(t, h, term, "ba")

	// Of two who take the keyboard from each other, the later one has it.
	dora := hosttest.Principal("dora", authz.Admin)
	of := attach(t, h, alice, "x", host.AttachOptions{Cols: 83, Rows: 24})
	doras := attach(t, h, dora, "x", host.AttachOptions{Cols: 84, Rows: 24})
	busy(of, "\r")
	busy(doras, "\r")
	var lost *host.LostError
	if err := again(of, "\r"); !errors.As(err, &lost) || lost.To != "dora" {
		t.Errorf("the first of two who take the keyboard: %v", err)
	}
	hosttest.Check(t, again(doras, "\r"))
	awaitOutput(t, h, term, "ba^M")
	if got := term.Info(carol).Cols; got != 84 {
		t.Errorf("it has %d columns", got)
	}
}

func TestAClickInASmallerWindowReachesTheCellUnderTheMouse(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	term := run(t, h, carol, "x", `stty raw -echo; printf up; read x; `+
		`printf 'ready\033[?1000;1006h\033[40;160H'; dd bs=100 count=1 2>/dev/null | od -An -c; `+
		`printf '\033[H'; read x`)
	big := attach(t, h, carol, "x", host.AttachOptions{Cols: 160, Rows: 40})
	big.shows("up")
	if err := big.a.Input([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	big.shows("ready")
	small := attach(t, h, carol, "x", host.AttachOptions{Cols: 65, Rows: 35})
	if err := small.a.Input([]byte("\x1b[<0;5;6M")); err != nil { // of the last 65x35 cells
		t.Fatal(err)
	}
	awaitOutput(t, h, term, "<   0   ;   1   0   0   ;   1   1   M")
	if got := term.Info(carol).Cols; got != 160 {
		t.Errorf("the mouse makes it %d columns", got)
	}
}

func TestWhoseKeyTookTheClaimIsToldOnce(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	term := run(t, h, carol, "x", "exec cat")
	v := attach(t, h, alice, term.Name(), window)
	for i, want := range []string{"carol", ""} {
		if err := v.a.Input([]byte("k")); err != nil {
			t.Fatal(err)
		}
		if got := v.a.Took(); got != want {
			t.Errorf("key %d took it from %q, want %q", i, got, want)
		}
	}
}

func TestQueriesAreAnsweredWithTheColoursOfTheHoldersViewer(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	run(t, h, carol, "x",
		`stty raw -echo; for i in 1 2; do dd bs=1 count=1 2>/dev/null; printf '\033]11;?\033\\'; dd bs=1 count=25 2>/dev/null | tr '\033' e; done; read x`)
	v := attach(t, h, carol, "x", window)
	other := attach(t, h, alice, "x", window)
	v.a.SetTheme(0, 0x123456, 0)
	other.a.SetTheme(0, 0xabcdef, 0)
	if err := v.a.Input([]byte("1")); err != nil {
		t.Fatal(err)
	}
	v.shows("e]11;rgb:1212/3434/5656e")
	if err := other.a.Claim(); err != nil {
		t.Fatal(err)
	}
	if err := other.a.Input([]byte("2")); err != nil {
		t.Fatal(err)
	}
	v.shows("e]11;rgb:abab/cdcd/efefe")
}

func TestAProgramIsToldWhenTheHoldersThemeTurnsLightOrDark(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	run(t, h, carol, "x", `stty raw -echo; printf '\033[?2031hasks'; `+
		`for i in 1 2 3; do dd bs=1 count=9 2>/dev/null | tr '\033' e; done; read x`)
	v := attach(t, h, carol, "x", window)
	other := attach(t, h, alice, "x", window)
	v.shows("asks")
	v.a.SetTheme(0xffffff, 0x000000, 0)
	v.a.SetTheme(0xffffff, 0x123456, 0) // as dark as before
	other.a.SetTheme(0, 0xffffff, 0)
	for _, step := range []struct {
		does func() error
		told string
	}{
		{other.a.Claim, "e[?997;2n"},
		{func() error { other.a.SetTheme(0, 0x000000, 0); return nil }, "e[?997;1n"},
		{func() error { other.a.SetTheme(0, 0xffffff, 0); return nil }, "e[?997;1ne[?997;2n"},
	} {
		if err := step.does(); err != nil {
			t.Fatal(err)
		}
		v.shows(step.told)
	}
	if strings.Contains(string(v.out), "2031") {
		t.Error("a viewer's terminal is asked to report its theme to the program itself")
	}
}
