package sshd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

func TestAStoppedTerminalSaysWhoStoppedItAndThatTypedCommandsWait(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: crew()})
	p := r.open(r.dial("alice"), 80, 24, "new -n work -- printf ready; exec cat")
	p.sees("ready")
	p.typeIn("\x13")
	p.sees("termhost: stopped by Ctrl-S (alice): Ctrl-Q goes on")
	const stopped = "stopped by Ctrl-S (alice)"
	if ls := r.ssh("alice", "", "ls").stdout; !strings.Contains(ls, stopped) {
		t.Errorf("the list is %s", ls)
	}
	ls := r.ssh("alice", "", "ls --json").stdout
	if !strings.Contains(ls, `"stopped": true`) || !strings.Contains(ls, `"stoppedBy": "alice"`) {
		t.Errorf("the list is %s", ls)
	}
	sent := r.ssh("alice", "", "send --enter work waits")
	if sent.stderr != stopped+": what is typed waits until Ctrl-Q\n" {
		t.Errorf("send says %q", sent.stderr)
	}
	p.sees("termhost: " + stopped) // again, because that shows nothing
	late := r.open(r.dial("alice"), 80, 24, "attach work")
	late.sees("termhost: " + stopped)
	p.typeIn("\x11")
	p.sees("waits")
	hosttest.Eventually(t, "it goes on", func() bool {
		return !strings.Contains(r.ssh("alice", "", "ls").stdout, "stopped")
	})
}

func TestCtrlSIsAKeyOfAProgramThatReadsIt(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	p := r.open(r.dial("alice"), 80, 24, "new -n work -- stty raw -echo; printf ready; exec cat -v")
	p.sees("ready")
	p.typeIn("\x13")
	p.sees("^S")
	if ls := r.ssh("alice", "", "ls").stdout; strings.Contains(ls, "stopped") {
		t.Errorf("the list is %s", ls)
	}
}

// sz and rz wait for more than a minute for somebody who answers.
func TestZmodemFailsFastAndSaysSo(t *testing.T) {
	t.Parallel()
	sz, rz := slowtest.Program(t, "sz"), slowtest.Program(t, "rz")
	r := newRig(t, rigOptions{})
	file := filepath.Join(t.TempDir(), "file")
	hosttest.Check(t, os.WriteFile(file, []byte("content"), 0o600))
	for name, command := range map[string]string{"sends": sz + " " + file, "receives": rz} {
		command += `; echo "ended with $?"; exec cat`
		r.ssh("alice", "", "new -d -n before-"+name+" -- "+command) // anybody looks
		r.shows("before-"+name, "ended with 1")
		for _, verb := range []string{"attach before-" + name, "new -- " + command} {
			p := r.open(r.dial("alice"), 80, 24, verb)
			p.sees("ended with 1")
			p.sees("termhost: Zmodem does not work here")
			p.typeIn("typed\r")
			p.sees("typed")
		}
	}
}
