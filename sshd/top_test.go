package sshd

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"termhost/ahp/hosttest"
	"termhost/ptypool/vt"
)

// text returns what a person's own terminal shows, as text.
func (p *person) text(cols, rows int) string {
	own := vt.New(cols, rows, vt.Options{})
	own.Feed([]byte(p.out.all()), nil)
	return strings.TrimRight(string(own.AppendText(nil, false)), "\n")
}

// has waits until the person's terminal shows all of these.
func (p *person) has(texts ...string) {
	p.t.Helper()
	p.within(80, 24, texts...)
}

func (p *person) within(cols, rows int, texts ...string) {
	p.t.Helper()
	defer func() {
		if p.t.Failed() {
			p.t.Logf("the screen has\n%s", p.text(cols, rows))
		}
	}()
	hosttest.Eventually(p.t, fmt.Sprintf("the screen has %q", texts), func() bool {
		screen := p.text(cols, rows)
		lacks := func(text string) bool { return !strings.Contains(screen, text) }
		return !slices.ContainsFunc(texts, lacks)
	})
}

// order reports whether texts are on a screen in this order.
func order(screen string, texts ...string) bool {
	for _, text := range texts {
		_, after, found := strings.Cut(screen, text)
		if !found {
			return false
		}
		screen = after
	}
	return true
}

// quietly is a program that wants nobody, prints a text and shows what is typed.
func quietly(text string) string { return "echo '" + text + "'; exec sleep 1000" }

func TestTopShowsAllTerminalsAndComesBackToThem(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	for _, name := range []string{"api", "web"} {
		r.ssh("alice", "", "new -d -n "+name+" --label group="+name+"s -- "+quietly("this is "+name))
	}
	r.ssh("alice", "", `new -d -n asks -- printf "Overwrite? [y/N] "; read x; echo got $x; exec sleep 1000`)
	r.ssh("alice", "", "wait --blocked asks")
	p := r.open(r.dial("alice"), 80, 24, "top")
	p.has("3 terminals, 1 wants you, by group", "NAME  STATE", "Overwrite? [y/N]", "── asks: asks")
	hosttest.Eventually(t, "what wants alice is first, the others by group", func() bool {
		return order(p.text(80, 24), "NAME", "── wants you", "asks  waits !", "── apis", "api ",
			"── webs", "web ", "── asks: asks", "Overwrite? [y/N]", "? helps")
	})
	p.typeIn("jj")
	p.has("── web: web", "this is web")
	p.typeIn("\r")
	p.sees("\x1b[?1049l")
	p.typeIn("typed")
	p.sees("typed")
	p.typeIn("\x1cd")
	p.has("3 terminals", "── web: web", "this is web\ntyped")
	if strings.Contains(p.out.all(), "detached: web") {
		t.Error("leaving says how to come back to web")
	}
	p.typeIn("kk")
	p.has("── asks: asks")
	p.typeIn("sno\x7f\x7fyes")
	p.has("Line for asks: yes_")
	p.typeIn("\r")
	p.has("typed into asks", "got yes")
	p.typeIn("o")
	hosttest.Eventually(t, "they are in the order of their names", func() bool {
		return order(p.text(80, 24), "by name", "  api ", "  asks ", "  web ")
	})
	p.typeIn("/web")
	p.has("Filter: web_")
	p.typeIn("\x1b")
	p.has("3 terminals", "  api ")
	p.typeIn("q")
	if got := p.status(); got != 0 {
		t.Errorf("top ends with %d", got)
	}
	own, fresh := vt.New(80, 24, vt.Options{}), vt.New(80, 24, vt.Options{})
	own.Feed([]byte(p.out.all()), nil)
	if own.KeyModes() != fresh.KeyModes() || strings.Contains(p.text(80, 24), "NAME") {
		t.Errorf("top leaves %+v and %s", own.KeyModes(), p.text(80, 24))
	}
	if _, _, visible := own.Cursor(); !visible {
		t.Error("top leaves no cursor")
	}
}

// Keys that end top do so from everywhere, and nothing remains of it.
func TestTopEnds(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	r.ssh("alice", "", "new -d -n work -- "+quietly("ready"))
	for _, keys := range []string{"q", "\x03", "\x04", "/wo\x03"} {
		p := r.open(r.dial("alice"), 80, 24, "top")
		p.has("1 terminal, by group", "ready")
		p.typeIn(keys)
		if got := p.status(); got != 0 {
			t.Errorf("%q: top ends with %d", keys, got)
		}
		if all := p.out.all(); !strings.HasSuffix(all, "\x1b[?25h\x1b[H\x1b[2J\x1b[?1049l") {
			t.Errorf("%q: top ends with %q", keys, all[max(len(all)-60, 0):])
		}
	}
	if got := r.ssh("alice", "", "top"); got.status != 2 || got.stdout != "" ||
		!strings.Contains(got.stderr, "ssh -t HOST top") || strings.Count(got.stderr, "\n") != 1 {
		t.Errorf("without a terminal: %+v", got)
	}
}

// With labels top has only those terminals, as they come and go.
func TestTopShowsOnlyWhatLabelsSelect(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	r.ssh("alice", "", "new -d -n web-1 --label project=web -- "+quietly("one"))
	r.ssh("alice", "", "new -d -n db-1 --label project=db -- "+quietly("two"))
	p := r.open(r.dial("alice"), 80, 24, "top -l project=web")
	p.has("1 terminal, by group", "web-1")
	r.ssh("alice", "", "new -d -n web-2 --label project=web -- "+quietly("three"))
	p.has("2 terminals, by group", "web-2")
	r.ssh("alice", "", "label web-1 project=db")
	p.has("1 terminal, by group", "web-2")
	if screen := p.text(80, 24); strings.Contains(screen, "db-1") {
		t.Errorf("it has\n%s", screen)
	}
	p.typeIn("q")
	p.status()
	none := r.open(r.dial("alice"), 80, 24, "top -l project=none")
	none.has("no terminal matches")
	none.typeIn("q")
	none.status()
}

// What is marked is acted on together, and before that the person is told what will happen.
func TestTopActsOnWhatIsMarked(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	for _, name := range []string{"one", "two", "three", "four"} {
		r.ssh("alice", "", "new -d -n "+name+" -- "+quietly("ready"))
	}
	p := r.open(r.dial("alice"), 80, 24, "top")
	p.has("4 terminals", "ready")
	p.typeIn(" j ")
	p.has("2 marked", "+ one", "+ three")
	p.typeIn("g")
	p.has("Guard 2 terminals (one, three)? y does")
	p.typeIn("y")
	p.has("what agents type in 2 terminals waits for your yes")
	p.typeIn("sx")
	p.has("Line for 2 terminals (one, three): x_")
	p.typeIn("\r")
	p.has("typed into 2 terminals")
	for _, name := range []string{"one", "three"} {
		r.shows(name, "x")
	}
	p.typeIn("x")
	p.has("End 2 terminals (one, three) and their programs? y does")
	p.typeIn("n")
	p.typeIn("x")
	p.has("End 2 terminals (one, three) and their programs? y does")
	p.typeIn("y")
	p.has("ended 2 terminals", "2 terminals, by group")
	if got := r.ssh("alice", "", "ls").stdout; strings.Contains(got, "one") || strings.Contains(got, "three") ||
		!strings.Contains(got, "two") || !strings.Contains(got, "four") {
		t.Errorf("there are %s", got)
	}
}

// A key acts on the terminal that the person sees it act on, whatever becomes of the list meanwhile.
func TestNoKeyOfTopActsOnAnotherTerminal(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	for _, name := range []string{"before", "target", "after"} {
		r.ssh("alice", "", "new -d -n "+name+" -- "+quietly("this is "+name))
	}
	p := r.open(r.dial("alice"), 80, 24, "top")
	p.has("this is before")
	p.typeIn("j")
	p.has("this is target")
	r.ssh("alice", "", "rm target")
	p.has("target has gone")
	p.typeIn("x")
	p.has("termhost: target has gone")
	p.typeIn("y\r")
	p.has("termhost: target has gone")
	r.ssh("alice", "", "new -d -n target -- "+quietly("another one"))
	p.has("3 terminals", "  target  gone", "  target  running") // the cursor stays on the old one
	p.typeIn("xy")
	p.typeIn("k")
	p.has("this is before")
	if got := r.ssh("alice", "", "ls").stdout; strings.Count(got, "\n") != 4 {
		t.Errorf("there are %s", got)
	}
}

// Two people look at a question at once. A key that one of them pressed for it decides nothing that
// came after it.
func TestOfTwoPeopleAtTopOneDecides(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: map[string]string{"alice": "", "anne": ""}})
	r.ssh("alice", "", "new -d --guard -n work -- stty raw -echo; printf 'ready\r\n'; exec cat -v")
	send := r.agentOf()
	a := r.open(r.dial("alice"), 80, 24, "top")
	b := r.open(r.dial("anne"), 80, 24, "top")
	for _, p := range []*person{a, b} {
		p.has("ready")
	}
	first := send("one\r")
	for _, p := range []*person{a, b} {
		p.has("alice/claude wants to type 1 line and run it", "1 one^M", "y types it  n refuses")
	}
	second := send("two\r")
	b.has("(1 more)")
	a.typeIn("y")
	if err := <-first; err != nil {
		t.Errorf("approved, the agent is told %v", err)
	}
	b.typeIn("y") // for the first
	b.has("1 two^M")
	b.has("y types it  n refuses")
	select {
	case err := <-second:
		t.Fatalf("a key for another question decides: %v", err)
	default:
	}
	b.typeIn("v")
	hosttest.Eventually(t, "the question has the window", func() bool {
		screen := b.text(80, 24)
		return !strings.Contains(screen, "NAME") && strings.Contains(screen, "y types it")
	})
	b.typeIn("n")
	if err := <-second; err == nil || err.Error() != "refused by anne" {
		t.Errorf("refused, the agent is told %v", err)
	}
	b.has("refused alice/claude in work")
	hosttest.Eventually(t, "it was typed what was approved, and no more", func() bool {
		return r.screen() == "ready\none^M"
	})
}

// Of a question that is longer than its place all must have been read.
func TestALongQuestionAtTopIsReadFirst(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	r.ssh("alice", "", "new -d --guard -n work -- stty raw -echo; printf 'ready\r\n'; exec cat -v")
	send := r.agentOf()
	p := r.open(r.dial("alice"), 80, 24, "top")
	p.has("ready")
	answer := send(strings.Repeat("echo\r", 30) + "last\r")
	p.has("wants to type 31 lines", "v shows all of it  n refuses")
	p.typeIn("y")
	p.typeIn("v")
	p.has("rows 1 to ", "space reads on  n refuses")
	p.typeIn(" ")
	p.has("31 last^M", "y types it")
	p.typeIn("q")
	p.has("── work", "y types it  n refuses  v shows it large") // all of it has been read
	select {
	case err := <-answer:
		t.Fatalf("it is decided: %v", err)
	default:
	}
	p.typeIn("y")
	if err := <-answer; err != nil {
		t.Errorf("approved, the agent is told %v", err)
	}
}

// Whoever may not decide, see or type does not at top either.
func TestTopGivesNoRights(t *testing.T) {
	t.Parallel()
	r := guestRig(t, nil)
	r.ssh("alice", "", "guard build")
	user := r.invite("--terminal build guest")
	c, err := r.dialAs(user, "guest")
	hosttest.Check(t, err)
	g := r.open(c, 80, 24, "top")
	g.has("1 terminal, ", "this is build")
	for _, keys := range []string{"xy", "gy", "sabc\r", "rname\r"} {
		g.typeIn(keys)
		g.sees("termhost: build: ")
	}
	g.typeIn("y")
	g.sees("there is nothing to decide about build")
	if all := g.out.all(); strings.Contains(all, "secret") {
		t.Error("a guest is shown another terminal")
	}
	e := r.open(r.dial("olga"), 80, 24, "top")
	e.has("2 terminals", "secret")
	e.typeIn("xy")
	e.sees("observers may only look")
	e.typeIn("s\r")
	e.sees("observers may only look")
	if got := r.ssh("alice", "", "ls").stdout; strings.Count(got, "\n") != 3 || strings.Contains(got, "name") {
		t.Errorf("there are %s", got)
	}
}

// Nothing that a program says of itself acts on the person's terminal, or looks like a key.
func TestAnAttackersTitlesAreOnlyText(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	r.ssh("alice", "", "new -d -n work -- "+
		`stty -echo; printf '\033]2;\342\200\256gnp.exe 界界\007\033]633;E;rm\\x1b[2J -rf\007\033]633;C\007';`+
		`printf '\033[5mblink\033]52;c;aGk=\007\033[?1000h\033P+q\033\\\r\nmore'; exec sleep 1000`)
	p := r.open(r.dial("alice"), 80, 24, "top")
	p.has("blink", "more", "界界")
	all := p.out.all()
	for _, bad := range []string{"\u202e", "\x1b[5m", "\x1b]52", "\x1b[?1000h", "\x1bP", "\x1b[31m", "\x1b]2;"} {
		if strings.Contains(all, bad) {
			t.Errorf("the terminal is sent %q", bad)
		}
	}
	p.typeIn("q")
	p.status()
}

// A line that would answer a question for a secret is typed only by somebody who knows that.
func TestTopTypesNoLineIntoAHiddenQuestion(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	r.ssh("alice", "", `new -d -n login -- read go; stty -echo; printf 'Password: '; read x; `+
		`stty echo; echo; echo "got $x"; exec sleep 1000`)
	p := r.open(r.dial("alice"), 80, 24, "top")
	p.has("1 terminal")
	p.typeIn("smake test")
	p.has("Line for login: make test_")
	r.ssh("alice", "", "send --enter login")
	p.has("waits: secret")
	p.typeIn("\r")
	p.has("login: it asks for a secret now")
	p.typeIn("shunter2")
	p.has("login asks for a secret, which this answers: *******_")
	if strings.Contains(p.out.all(), "hunter2") {
		t.Error("the secret is shown")
	}
	p.typeIn("\r")
	p.has("got hunter2")
}

// In any window the current row and the keys are in view, and no line is wider than it.
func TestTopFitsItsWindow(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	for i := range 12 {
		r.ssh("alice", "", fmt.Sprintf("new -d -n work-%d -- printf '\\033]2;界界界界界界界界\\007'; exec sleep 1000", i))
	}
	p := r.open(r.dial("alice"), 80, 24, "top")
	p.has("12 terminals", "work-0", "work-11", "界界")
	p.typeIn("\x1b[F")
	p.has("── work-11")
	for _, w := range []struct{ cols, rows int }{{20, 5}, {200, 60}, {31, 14}, {5, 2}, {80, 24}} {
		from := len(p.out.all())
		p.resize(w.cols, w.rows)
		hosttest.Eventually(t, fmt.Sprintf("it is drawn for %v", w), func() bool {
			own := vt.New(w.cols, w.rows, vt.Options{})
			own.Feed([]byte(p.out.all()[from:]), nil)
			screen := string(own.AppendText(nil, false))
			if w.cols < 20 {
				return screen != ""
			}
			return strings.Contains(screen, "work-11") && strings.Contains(screen, "Enter goes")
		})
	}
}
