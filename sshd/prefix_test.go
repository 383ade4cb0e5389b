package sshd

import (
	"strings"
	"testing"

	gossh "golang.org/x/crypto/ssh"
)

// prefixIn opens a window in which an environment variable is set, and sees that a key begins commands.
func (r *rig) prefixIn(env, command, key, name string) {
	r.t.Helper()
	s, err := r.dial("alice").NewSession()
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { s.Close() })
	if env != "" {
		if err := s.Setenv("LC_TERMHOST_PREFIX", env); err != nil {
			r.t.Fatal(err)
		}
	}
	p := &person{t: r.t, s: s, out: newTranscript()}
	p.out.shown = newShown(80, 24)
	if p.in, err = s.StdinPipe(); err != nil {
		r.t.Fatal(err)
	}
	s.Stdout, s.Stderr = p.out, p.out
	if err := s.RequestPty("xterm-256color", 24, 80, gossh.TerminalModes{}); err != nil {
		r.t.Fatal(err)
	}
	if err := s.Start(command); err != nil {
		r.t.Fatal(err)
	}
	p.sees("ready")
	p.typeIn(key + "?")
	p.sees("After " + name + ":")
	p.typeIn("q" + key + "d")
	if got := p.status(); got != 0 {
		r.t.Errorf("%s: the status is %d", command, got)
	}
}

func TestEachPersonMayChooseAPrefix(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	r.ssh("alice", "", "new -d -n work -- stty raw -echo; printf ready; exec cat -v")
	r.ssh("alice", "", "wait --match ready work")
	r.prefixIn("", "attach work", "\x1c", "Ctrl-\\")
	r.prefixIn("", "attach --prefix ctrl-a work", "\x01", "Ctrl-A")
	r.prefixIn("", "attach work --prefix=^b", "\x02", "Ctrl-B")
	r.prefixIn("ctrl-t", "attach work", "\x14", "Ctrl-T")
	r.prefixIn("ctrl-t", "attach --prefix ctrl-a work", "\x01", "Ctrl-A")
	r.prefixIn("ctrl-m", "attach work", "\x1c", "Ctrl-\\") // it is refused
	if got := r.ssh("alice", "", "peek work").stdout; got != "ready\n" {
		t.Errorf("the program was typed %q", got)
	}
	got := r.ssh("alice", "", "attach --prefix ctrl-m work")
	if got.status != 2 || !strings.Contains(got.stderr, `"ctrl-m" is needed as it is`) {
		t.Errorf("a key that everybody types: %+v", got)
	}
}

func TestOpenSSHsSetEnvChoosesThePrefixWhichNoProgramGets(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	p, _ := r.sshOnPty("alice", "", "-oSetEnv=LC_TERMHOST_PREFIX=ctrl-t")
	p.typeIn(`echo "[$LC_TERMHOST_PREFIX]"` + "\r")
	p.sees("[]")
	p.typeIn("\x14?")
	p.sees("After Ctrl-T:")
}

func TestAChoiceThatCannotBeHeededIsTold(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	for choice, why := range map[string]string{
		"LC_TERMHOST_PREFIX=ctrl-m": `termhost: LC_TERMHOST_PREFIX: "ctrl-m" is needed as it is`,
		"LC_TERMHOST_STATUS=on":     `termhost: LC_TERMHOST_STATUS: "on" is neither "line" nor "off"`,
	} {
		p, _ := r.sshOnPty("alice", "", "-oSetEnv="+choice)
		p.sees(why)
	}
}
