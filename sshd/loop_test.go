package sshd

import (
	"os/exec"
	"strings"
	"testing"

	"termhost/ahp/hosttest"
)

// TestAnAttachInsideItselfIsRefused: directly, through another terminal's attach, and from tmux.
func TestAnAttachInsideItselfIsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: crew()})
	client := "ssh -tt " + r.client(r.addr) + " attach "
	shows := func(name, want string) {
		t.Helper()
		hosttest.Eventually(t, name+" shows "+want, func() bool {
			lines := strings.ReplaceAll(r.ssh("alice", "", "peek "+name).stdout, "\n", "")
			return strings.Contains(lines, want)
		})
	}
	begin := func(name, command string) {
		t.Helper()
		got := r.ssh("alice", "", "new -d -n "+name+" -- "+command+"; echo status=$?; exec cat")
		if got.status != 0 {
			t.Fatalf("%+v", got)
		}
	}
	begin("self", client+"self")
	shows("self", "you are inside self")
	shows("self", "status=1")
	begin("look", client+"-r look")
	shows("look", "you are inside look")
	begin("b", "read go; "+client+"a")
	begin("a", client+"b")
	hosttest.Eventually(t, "a shows b", func() bool {
		return strings.Contains(r.ssh("alice", "", "who b").stdout, "alice")
	})
	r.ssh("alice", "", "send --enter b go")
	shows("b", "you are inside b, which a shows")
	// This one does not loop: its output goes elsewhere.
	begin("stream", "ssh "+r.client(r.addr)+" attach -r stream </dev/null >"+r.path("copy")+
		" & echo up")
	hosttest.Eventually(t, "the stream has what was printed", func() bool {
		return strings.Contains(r.read("copy"), "up")
	})
	if _, err := exec.LookPath("tmux"); err == nil {
		begin("pane", "tmux -L loop-"+t.Name()+" new '"+client+"pane; echo status=$?; exec cat'")
		shows("pane", "you are inside pane")
		r.ssh("alice", "", "rm pane")
	}
}
