package sshd

import (
	"strings"
	"testing"
	"time"

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
