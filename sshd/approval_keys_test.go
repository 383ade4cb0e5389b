package sshd

import (
	"testing"
	"time"

	"termhost/ahp/hosttest"
	"termhost/ptypool/vt"
)

// A key that is pressed again goes to no program, and answers no question that was not there to be
// read.
func TestAKeyThatIsPressedAgainIsNotTyped(t *testing.T) {
	t.Parallel()
	const cols, rows = 60, 12
	r := newRig(t, rigOptions{people: crew()})
	r.ssh("alice", "", "new -d --guard -n work -- stty raw -echo; printf ready; exec cat -v")
	send := r.agentOf()
	a := r.open(r.dial("alice"), cols, rows, "attach work")
	a.sees("ready")
	first := send("FIRST")
	a.sees("1 FIRST")
	second := send("SECOND")
	a.sees("(1 more)")
	a.sees("y types it")
	a.typesTooSoon("yy") // may be letters of a word
	undecided(t, first, "by two keys at once")
	a.sees("y types it")
	a.typeIn("y")
	if err := decision(t, first); err != nil {
		t.Error(err)
	}
	a.typeIn("y")
	a.sees("1 SECOND")
	a.typesTooSoon("y y\r\x1b") // which is not said to answer yet
	a.sees("y types it")
	undecided(t, second, "before it could be read")
	a.typeIn("n")
	if err := decision(t, second); err == nil {
		t.Error("what was refused was typed")
	}
	hosttest.Eventually(t, "the program has been typed what was approved, and no more", func() bool {
		return r.screen() == "readyFIRST"
	})
}

// waiting is what the dialog says while keys do not answer yet.
const waiting = "keys answer in a moment"

// typesTooSoon types several keys at a question, of which none answers it, and waits until the
// dialog says so. It does that for a second: a machine that is too slow to draw it gets another try.
func (p *person) typesTooSoon(keys string) {
	p.t.Helper()
	for range 30 {
		p.typeIn(keys)
		if _, ok := p.out.awaitFor(waiting, 3*time.Second); ok {
			return
		}
	}
	p.t.Fatalf("never saw %q", waiting)
}

// colors are the questions for the colours of a terminal, and those that ours begins with.
const (
	colorQuestions = "\x1b]4;0;?\x1b\\\x1b]10;?\x1b\\\x1b]11;?\x1b\\\x1b[?2026$p"
	ownColors      = "\x1b]4;0;rgb:0000/0000/0000\x1b\\\x1b]10;rgb:e5e5/e5e5/e5e5\x1b\\" +
		"\x1b]11;rgb:0000/0000/0000\x1b\\\x1b[?2026;2$y"
	programColors = "\x1b]4;0;rgb:1111/1111/1111\x1b\\\x1b]10;rgb:1111/1111/1111\x1b\\" +
		"\x1b]11;rgb:1111/1111/1111\x1b\\\x1b[?2026;2$y"
)

// replies has what a terminal answers.
type replies struct {
	vt.Sink
	text string
}

func (r *replies) Reply(p []byte)            { r.text += string(p) }
func (*replies) Data([]byte)                 {}
func (*replies) Title(string)                {}
func (*replies) Bell()                       {}
func (*replies) DrawsPictures() bool         { return false }
func (*replies) Cwd(string)                  {}
func (*replies) Clipboard([]byte)            {}
func (*replies) Notification([]byte, string) {}
func (*replies) Mark([]byte)                 {}

// answers returns what the person's terminal would answer.
func (p *person) answers(cols, rows int, questions string) string {
	own, got := vt.New(cols, rows, vt.Options{}), &replies{}
	own.Feed([]byte(p.out.all()), &replies{})
	own.Feed([]byte(questions), got)
	return got.text
}

// Whatever a program has done to the person's terminal, the question can be read there.
func TestNoProgramMakesAQuestionUnreadable(t *testing.T) {
	t.Parallel()
	const cols, rows = 80, 24
	for name, begun := range map[string]string{
		"an update":      `\033[?2026h\033#8`,
		"a string":       `\033#8\033]0;begun`,
		"a control":      `\033[12;`,
		"another set":    `\033*0\033N`,
		"a link":         `\033]8;;http://x/\033\134`,
		"an insert mode": `\033[4h\033[?7l\033[5;9r\033[?6h\033[8m`,
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, rigOptions{people: crew()})
			r.ssh("alice", "", `new -d --guard -n work -- stty raw -echo; printf 'ready`+
				`\033]10;#111111\033\134\033]11;#111111\033\134\033]4;0;#111111\033\134'; `+
				`dd bs=1 count=1 2>/dev/null; printf 'A`+begun+`'; exec cat -v`)
			a := &windowed{r.open(r.dial("alice"), cols, rows, "attach work"), cols, rows, 0}
			a.sees("ready")
			a.typeIn("x")
			a.sees("A")
			answer := r.agentOf()("touch F\r")
			a.shows("termhost: alice/claude wants to type 1 line and run it (@1)")
			a.shows("1 touch F^M")
			a.shows("y types it n refuses")
			if got := a.answers(cols, rows, colorQuestions); got != ownColors {
				t.Errorf("under the question the terminal has %q", got)
			}
			a.typeIn("n")
			if err := decision(t, answer); err == nil {
				t.Error("what was refused was typed")
			}
			hosttest.Eventually(t, "the program has its colours again", func() bool {
				return a.answers(cols, rows, colorQuestions) == programColors
			})
		})
	}
}
