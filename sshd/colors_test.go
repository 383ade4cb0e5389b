package sshd

import (
	"strings"
	"testing"
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
	p.typeIn("\x1b]10;\x07\x1bEND") // nothing is looked for any more
	p.sees("END")
	if got, want := r.screen(), `readyK^[]11;rgb:1212/3434/5656^[\^[]10;^G^[END`; got != want {
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
	for _, key := range []string{"x", "\x1b", "\x1b]", "\x1b[A", "\x1b[1;2R"} {
		p.typeIn(key)
		p.sees(strings.ReplaceAll(key, "\x1b", "^["))
	}
	p.typeIn(answer11[:10])
	p.sees("^[]11;rgb:") // after its time
	p.typeIn(answer11)
	p.sees("^[]11;rgb:1212/3434/5656^G") // too late
}
