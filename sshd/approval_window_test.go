package sshd

import (
	"strings"
	"testing"
	"time"

	"termhost/ahp/hosttest"
	"termhost/ptypool/vt"
)

// windowed is a person whose window changes.
type windowed struct {
	*person
	cols, rows int
	from       int // where in the transcript the window got this size
}

// squeezed returns text without the blanks at which lines are broken.
func squeezed(text string) string { return strings.NewReplacer(" ", "", "\n", "").Replace(text) }

// becomes gives the window another size.
func (p *windowed) becomes(cols, rows int) {
	p.t.Helper()
	p.cols, p.rows, p.from = cols, rows, len(p.out.all())
	p.resize(cols, rows)
}

// text returns what the window shows.
func (p *windowed) text() string {
	screen := vt.New(p.cols, p.rows, vt.Options{})
	screen.Feed([]byte(p.out.all()[p.from:]), nil)
	return string(screen.AppendText(nil, false))
}

// shows waits until the window shows text, wherever its lines are broken.
func (p *windowed) shows(text string) {
	p.t.Helper()
	defer func() {
		if p.t.Failed() {
			p.t.Logf("the window shows\n%s", p.text())
		}
	}()
	hosttest.Eventually(p.t, "the window shows "+text, func() bool {
		return strings.Contains(squeezed(p.text()), squeezed(text))
	})
}

// pressed types keys and waits until they have been dealt with: the help comes after them.
func (p *windowed) pressed(keys string) {
	p.t.Helper()
	p.typeIn(keys + "\x1c?")
	p.sees("closes this")
	p.typeIn("q")
	hosttest.Eventually(p.t, "the help is closed", func() bool {
		return !strings.Contains(p.text(), "closes this")
	})
}

// decision waits for what the agent is told.
func decision(t *testing.T, answer <-chan error) error {
	t.Helper()
	select {
	case err := <-answer:
		return err
	case <-time.After(patience):
		t.Fatal("nobody has decided")
		return nil
	}
}

func undecided(t *testing.T, answer <-chan error, when string) {
	t.Helper()
	select {
	case err := <-answer:
		t.Fatalf("decided %s: %v", when, err)
	default:
	}
}

// What does not fit into a window is not answered there, whatever is pressed.
func TestNobodyApprovesWhatTheirWindowDoesNotShow(t *testing.T) {
	t.Parallel()
	const line = "make deploy HOST=production; touch F"
	for _, w := range []struct {
		cols, rows int
		small      bool
	}{{14, 3, true}, {30, 4, true}, {40, 5, false}, {80, 3, false}, {80, 2, true}} {
		r := newRig(t, rigOptions{people: crew()})
		r.ssh("alice", "", "new -d --guard -n work -- stty raw -echo; printf ready; exec cat -v")
		send := r.agentOf()
		a := &windowed{r.open(r.dial("alice"), w.cols, w.rows, "attach work"), w.cols, w.rows, 0}
		a.sees("ready")
		answer := send(line + "\r")
		if w.small {
			a.shows("window too small")
			a.pressed("") // what is typed at the moment of its drawing is for the program
			a.pressed("yaen\x1b[27u")
			undecided(t, answer, "in a window that is too small")
			a.becomes(80, 24)
			a.typeIn("aen \r\x1b") // at once, and so too early
			a.shows("wants to type 1 line and run it")
			a.shows("1 " + line + "^M")
			a.shows("y types it")
			a.becomes(14, 3)
			a.shows("window too small")
			a.pressed("y")
			undecided(t, answer, "in a window that has become too small")
			a.becomes(80, 24)
			a.shows("y types it")
		} else {
			a.shows(line + "^M")
			a.shows("Esc later")
		}
		a.typeIn("y")
		if err := decision(t, answer); err != nil {
			t.Errorf("%dx%d: %v", w.cols, w.rows, err)
		}
		shown := ""
		t.Cleanup(func() {
			if t.Failed() {
				t.Logf("at %dx%d there is %q at last", w.cols, w.rows, shown)
			}
		})
		hosttest.Eventually(t, "it is typed, and nothing else", func() bool {
			shown = squeezed(r.screen())
			return shown == "ready"+squeezed(line)+"^M"
		})
	}
}

func TestALongTextIsScrolledThroughBeforeItIsApproved(t *testing.T) {
	t.Parallel()
	const cols, rows = 40, 6
	r := newRig(t, rigOptions{people: crew()})
	r.ssh("alice", "", "new -d --guard -n work -- stty raw -echo; printf ready; exec cat -v")
	send := r.agentOf()
	a := &windowed{r.open(r.dial("alice"), cols, rows, "attach work"), cols, rows, 0}
	a.sees("ready")
	text := "echo harmless" + strings.Repeat(" and harmless", 15) + "\r\u3164touch F\r"
	answer := send(text)
	a.shows("1 echo harmless and harmless")
	a.shows("more, read on")
	a.shows("space more n no Esc later")
	a.pressed("yae")
	undecided(t, answer, "unread")
	a.shows("space more n no Esc later")
	a.typeIn("     ") // in haste: nothing is passed over, though a slow machine may go on from there
	a.sees("rows 4 to 6 of 7")
	hosttest.Eventually(t, "the end is read", func() bool {
		a.typeIn(" ")
		return strings.Contains(a.text(), "touch F")
	})
	a.shows("2 <U+3164>touch F^M")
	a.shows("y yes n no e edit")
	a.becomes(cols-1, rows) // which breaks the rows elsewhere
	a.shows("more, read on")
	a.shows("space more n no Esc later")
	a.pressed("y")
	undecided(t, answer, "unread in this window")
	a.shows("space more n no Esc later")
	// A key may come too early: the window was drawn anew.
	var err error
	for tries := 0; err == nil && tries < 10; tries++ {
		a.typeIn("n")
		select {
		case err = <-answer:
		case <-time.After(patience / 10):
		}
	}
	if err == nil || err.Error() != "refused by alice" {
		t.Errorf("the agent is told %v", err)
	}
	if got := r.screen(); got != "ready" {
		t.Errorf("the program was typed %q", got)
	}
}
