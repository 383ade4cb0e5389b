package sshd

import (
	"strings"
	"testing"
	"time"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
)

// inSlowMotion has a host for whom time passes slowly, so that a person on a busy machine types
// without a pause.
func inSlowMotion(c *host.Config) {
	begun := time.Now()
	c.Now = func() time.Time { return begun.Add(time.Since(begun) / 100) }
}

// The keyboard is taken and comes back while a line is typed key by key.
func TestALineIsNotGoneOnWithBehindAGap(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: crew(), host: inSlowMotion})
	b := r.open(r.dial("bob"), 120, 24, catV)
	b.sees("ready")
	a := r.open(r.dial("alice"), 120, 24, "attach work")
	a.sees("ready")
	for _, key := range "rm -rf /srv/pro" {
		b.typeIn(string(key))
	}
	b.showsLine("readyrm -rf /srv/pro")
	a.typeIn("|\x1cr")
	a.sees("handed back to bob")
	for _, key := range "jects/old\r" {
		b.typeIn(string(key))
	}
	b.sees(`alice took the keyboard while you typed; not typed: "jects/old\r" `)
	b.typeIn("\x1c?q") // on purpose
	b.typeIn("whole")
	b.showsLine("readyrm -rf /srv/pro|whole")
}

// What has waited for a program that does not read is dropped whole when the keyboard is taken.
func TestTheRestOfWhatWaitedIsNotTypedLater(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: crew()})
	b := r.open(r.dial("bob"), 120, 24, "new -n work -- stty raw -echo; printf ready;"+
		" while ! [ -e "+r.path("go")+" ]; do sleep 0.01; done; exec cat -v")
	b.sees("ready")
	const queue = 1 << 20 // bytes that wait for the program, beyond which the viewer keeps some
	b.typeIn(strings.Repeat("0123456789abcde\r", (queue+100<<10)/16))
	b.typeIn("\x1c?") // what comes before has been dealt with when this is shown
	b.sees("Any key closes this.")
	b.typeIn("q")
	a := r.open(r.dial("alice"), 120, 24, "attach work")
	a.sees("ready")
	a.typeIn("|\x1cr")
	a.sees("handed back to bob")
	b.sees("; not typed: ") // after alice had the keyboard, or still while she has it
	r.write("go", "")
	b.typeIn("\x1c?q")
	b.typeIn("whole")
	b.showsLine("ready|whole")
}

// What was typed where the program reads a secret is not shown.
func TestALostSecretIsNotShown(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: crew(), host: inSlowMotion})
	b := r.open(r.dial("bob"), 120, 24, "new -n work -- stty -echo; printf 'Password: '; cat")
	b.sees("Password: ")
	a := r.open(r.dial("alice"), 120, 24, "attach work")
	a.sees("Password: ")
	b.typeIn("hun")
	hosttest.Eventually(t, "it is known to wait for a secret", func() bool {
		return strings.Contains(r.ssh("alice", "", "ls").stdout, "waits: secret")
	})
	a.typeIn("|\x1cr")
	a.sees("handed back to bob")
	b.typeIn("t")
	b.typeIn("er2")
	b.sees("alice took the keyboard while you typed; not typed: what followed; type it again")
	if strings.Contains(b.out.all(), "er2") {
		t.Errorf("a secret is shown: %q", b.out.all())
	}
}
