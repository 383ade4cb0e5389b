package sshd

import (
	"strings"
	"testing"
	"time"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// The questions that the holder's terminal is asked, and answers of one.
const (
	questions = "\x1b]10;?\x1b\\\x1b]11;?\x1b\\\x1b]12;?\x1b\\"
	answer10  = "\x1b]10;rgb:aaaa/bbbb/cccc\x1b\\"
	answer11  = "\x1b]11;rgb:1212/3434/5656\x07"
	answer12  = "\x1b]12;rgba:ffff/0000/0000/8000\x1b\\"
)

// asking asks for the background as soon as a key is typed, and shows all keys.
const asking = `new -n work -- stty raw -echo; printf ready; dd bs=1 count=1 2>/dev/null; ` +
	`printf '\033]11;?\033\\'; exec cat -v`

func TestTheHoldersTerminalIsAskedForItsColours(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: map[string]string{"alice": "", "bob": ""}})
	p := r.open(r.dial("alice"), 80, 24, asking)
	p.sees(questions)
	other := r.open(r.dial("bob"), 80, 24, "attach work")
	other.sees("ready")
	p.typeIn(answer10 + answer11[:1])
	p.typeIn(answer11[1:9])
	p.typeIn(answer11[9:] + answer12 + "K")
	p.sees(`^[]11;rgb:1212/3434/5656^[\`)
	p.typeIn("\x1b]10;\x07\x1bEND")
	p.sees("END")
	if got, want := r.screen(), `readyK^[]11;rgb:1212/3434/5656^[\^[END`; got != want {
		t.Errorf("the program was typed\n%s\nnot\n%s", got, want)
	}
	if strings.Contains(other.out.all(), "]11;?") {
		t.Error("a viewer who does not hold the claim is asked")
	}
}

func TestATerminalThatDoesNotAnswerTypesAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	p := r.open(r.dial("alice"), 80, 24, catV)
	p.sees("ready")
	slowtest.Hurry(t)
	for _, key := range []string{"x", "\x1b", "\x1b]", "\x1bP", "\x1b_", "\x1b^", "\x1bX",
		"\x1b[A", "\x1b[1;2R"} {
		p.typeIn(key)
		p.sees(strings.ReplaceAll(key, "\x1b", "^["))
	}
}

// What a terminal answers is never typed, also when it comes after all time, or over a slow link.
func TestLateAnswersAreNotTyped(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	p := r.open(r.dial("alice"), 80, 24, catV)
	p.sees("ready")
	for i, key := range []string{"^[", "^[]"} { // which go to the program alone
		p.typeIn(answer11[:i+1])
		p.sees(key)
		time.Sleep(300 * time.Millisecond) // a link that is lost for a moment
		p.typeIn(answer11[i+1:])
	}
	const kind = "\x1b]99;i=termhost:p=?;p=title\x1b\\\x1bP>|kitty(0.36)\x1b\\\x1b[?62;c"
	for _, piece := range []string{answer11[:3], answer11[3:9], answer11[9:15], answer11[15:]} {
		p.typeIn(piece)
		time.Sleep(100 * time.Millisecond) // as on a slow link
	}
	p.typeIn(answer10 + answer12 + kind)
	for range 100 { // nobody has asked for these
		p.typeIn(answer10 + kind + "\x1b_Gi=1;OK\x1b\\\x1b[?1;2c\x1b[0n\x1b[?2026;2$y\x1b[8;24;80t\x1b[?5u\x1b[24;80R" +
			"\x1b[I\x1b[O")
	}
	p.typeIn("\x1b]11;rgb:1212")
	time.Sleep(100 * time.Millisecond)
	p.typeIn("/3434/5656\x07END")
	p.sees("END")
	if got, want := r.screen(), "ready^[^[]END"; got != want {
		t.Errorf("the screen has\n%s\nnot\n%s", got, want)
	}
}

// themed shows all keys, and is told when the terminal turns dark or light.
const themed = `new -n work -- stty raw -echo; printf '\033[?2031hready'; exec cat -v`

// last ends each round of questions.
const last = "\x1b[c"

// tellsColours says what colours the terminal has.
func (p *person) tellsColours(background string) {
	p.typeIn("\x1b]10;#888888\x07\x1b]11;#" + background + "\x07\x1b]12;#888888\x07\x1b[?62c")
}

func TestAProgramIsToldWhenTheViewersTerminalTurnsDarkOrLight(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	p := r.open(r.dial("alice"), 80, 24, themed)
	p.sees("\x1b[?2031h" + questions)
	p.sees("ready")
	p.tellsColours("ffffff")
	p.sees("^[[?997;2n")
	report := "\x1b[?997;1n"
	for _, piece := range []string{report[:4], report[4:]} {
		p.typeIn(piece)
	}
	p.sees(questions + last)
	p.tellsColours("000000")
	p.sees("^[[?997;1n")
	for range 2 { // a terminal may repeat what it has said
		p.typeIn("\x1b[O\x1b[I\x1b[I")
		p.sees(questions + last)
	}
	p.tellsColours("eeeeee")
	p.sees("^[[?997;2n")
	p.typeIn("END")
	p.sees("END")
	if got, want := r.screen(), "ready^[[?997;2n^[[?997;1n^[[?997;2nEND"; got != want {
		t.Errorf("the program was typed\n%s\nnot\n%s", got, want)
	}
	p.typeIn("\x1cd")
	p.sees("\x1b[?2031l")
	if n := strings.Count(p.out.all(), questions); n != 4 {
		t.Errorf("the terminal was asked %d times", n)
	}
	if n := strings.Count(p.out.all(), "\x1b[?2031h"); n != 1 {
		t.Errorf("it was told %d times to report", n)
	}
}

func TestWhoBecomesTheHolderIsAskedForColours(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: map[string]string{"alice": "", "bob": ""}})
	p := r.open(r.dial("alice"), 80, 24, themed)
	p.sees(questions)
	p.tellsColours("000000")
	other := r.open(r.dial("bob"), 80, 24, "attach work")
	other.sees("ready")
	if out := other.out.all(); strings.Contains(out, questions) || strings.Contains(out, "2031") {
		t.Errorf("a viewer who does not hold the claim is asked: %q", out)
	}
	told := "ready"
	for _, step := range []struct {
		who    *person
		is     string
		report string
	}{{other, "ffffff", "^[[?997;2n"}, {p, "000000", "^[[?997;1n"}, {other, "ffffff", "^[[?997;2n"}} {
		step.who.typeIn("\x1cc")
		step.who.sees(questions + last)
		step.who.tellsColours(step.is)
		// The report may come before the questions: at the take, by what the terminal said earlier.
		told += step.report
		hosttest.Eventually(t, "the program is told "+step.report, func() bool {
			return r.screen() == told
		})
	}
	// Going to a terminal of one's own, and leaving the keyboard to whom it came from.
	other.typeIn("\x1c+")
	other.sees(questions + last)
	p.sees(questions + last)
}
