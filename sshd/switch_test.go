package sshd

import (
	"strings"
	"testing"
)

// catVisibly shows what it is sent.
const catVisibly = "stty raw -echo; printf ready; exec cat -v"

func TestAViewerGoesToOtherTerminalsOnOneConnection(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	p := r.open(r.dial("alice"), 80, 24, "new -n first -- "+catVisibly)
	p.sees("ready")
	p.typeIn("\x1c\t")
	p.sees("there is no other terminal to go back to")
	p.typeIn("\x1c+")
	p.sees("termhost: sh-1")
	p.typeIn("stty raw -echo; echo second-$((1+1)); kill -STOP $$\r")
	p.sees("second-2")
	p.typeIn(strings.Repeat("#", 1100<<10)) // more than its queue takes
	p.typeIn("\x1c\t")
	p.sees("termhost: first")
	p.typeIn("typed here\x1c\t")
	p.sees("termhost: sh-1")
	p.typeIn("\x1c\t")
	p.sees("termhost: first")
	p.typeIn(", typed again")
	p.sees("typed here, typed again")
	p.typeIn("\x1cd")
	p.sees("[detached: first goes on running")
	if got := p.status(); got != 0 {
		t.Errorf("status %d", got)
	}
}

func TestTheEndOfATerminalOnTheWayEndsNoConnection(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	r.ssh("alice", "", "new -d -n other -- "+catVisibly)
	r.ssh("alice", "", "new -d -n third -- "+catVisibly)
	p := r.open(r.dial("alice"), 80, 24, "attach other")
	p.sees("ready")
	p.typeIn("\x1c+")
	p.sees("termhost: sh-1")
	p.typeIn("exit 3\r") // a shell of one's own: there is nothing more to see
	p.sees("termhost: other")
	p.typeIn("q")
	p.sees("readyq")
	if ls := r.ssh("alice", "", "ls").stdout; strings.Contains(ls, "sh-1") {
		t.Errorf("the shell is still listed: %s", ls)
	}
	p.typeIn("\x1c+")
	p.sees("termhost: sh-1")
	p.typeIn("\x1c\t")
	p.sees("termhost: other")
	r.ssh("alice", "", "send --enter sh-1 exit 5")
	r.ssh("alice", "", "wait sh-1")
	p.typeIn("\x1c+")
	p.sees("termhost: sh-2")
	r.ssh("alice", "", "rm sh-2")
	p.sees("termhost: sh-2 was ended by alice")
	p.typeIn("!")
	p.sees("readyq!")
	r.ssh("alice", "", "rm other")
	p.sees("[other was ended by alice]")
	p.status()
}

func TestAReadOnlyViewerMakesNoTerminal(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	r.ssh("alice", "", "new -d -n one -- "+catVisibly)
	p := r.open(r.dial("alice"), 80, 24, "attach -r one")
	p.sees("ready")
	p.typeIn("\x1c+")
	p.sees("this attach is read-only")
}

// The rest of an answer that comes after a switch is typed at neither terminal.
func TestALateAnswerInPiecesIsNotTypedAfterASwitch(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	r.ssh("alice", "", "new -d -n other -- "+catVisibly)
	p := r.open(r.dial("alice"), 80, 24, "new -n first -- "+catVisibly)
	p.sees("ready")
	at := [...]string{"first", "other"}
	for i := 3; i < len(answer11); i++ {
		if i == 3 {
			p.typeIn("\x1cl/other\r" + answer11[:i])
		} else {
			p.typeIn("\x1c\t" + answer11[:i])
		}
		p.sees("termhost: " + at[i%2])
		p.typeIn(answer11[i:])
	}
	p.typeIn("END")
	p.sees("END")
	for _, name := range at {
		got := strings.TrimSpace(r.ssh("alice", "", "peek "+name).stdout)
		if strings.TrimSuffix(got, "END") != "ready" {
			t.Errorf("%s was typed %q", name, got)
		}
	}
}
