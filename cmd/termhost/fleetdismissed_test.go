package main

import (
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/hosttest"
)

// dismissal ends bob's attach at a terminal.
type dismissal struct {
	terminal string // as his host calls it
	by       func() (undo func())
	line     string // that he is told
	status   int
}

// Who is put out of a terminal of another host has the line and the status that they have at one
// of their own.
func TestWhoIsPutOutOfATerminalOfAnotherHostIsToldWhy(t *testing.T) {
	slow(t)
	t.Parallel()
	w, home := newFleet(t, "")
	revoked := filepath.Join(w.dir, "box", "revoked")
	box := w.host("box", "ssh.revoked_keys_file = \""+revoked+"\"\n"+
		`fleet.doors = { home = "admin" }`)
	writeFile(t, revoked, "")
	box.joins(w.token(), "tls://"+w.listen)
	box.start()
	w.together()
	home.run("alice", "new --on box -d -n there -- "+echoes)
	home.run("alice", "new -d -n here -- "+echoes)
	key := w.signers["bob"].PublicKey()
	line, other := authorizedLine(key), authorizedLine(newSigner(t).PublicKey())
	kick := func(name string) func() func() {
		return func() func() {
			home.run("alice", "kick "+name+" bob")
			return func() {}
		}
	}
	revoke := func() func() {
		writeFile(t, revoked, gossh.FingerprintSHA256(key)+"\n")
		return func() { writeFile(t, revoked, "") }
	}
	restart := func() func() {
		hosttest.Check(t, home.serve.Stop(syscall.SIGTERM))
		return func() {
			home.start()
			w.together()
		}
	}
	const operator, observer = `role = "operator"`, `role = "observer"`
	for _, d := range []dismissal{
		{"here", kick("here"), "[alice has ended your view of here]", 1},
		{"box/there", kick("box/there"), "[alice has ended your view of box/there]", 1},
		{"here", home.edit(operator, observer),
			"[the rights of your key have changed; connect again; here goes on running]", 255},
		{"box/there", home.edit(operator, observer),
			"[the rights of your key have changed; connect again; box/there goes on running]", 255},
		{"box/there", box.edit(operator, observer),
			"[the rights of your key have changed; connect again; box/there goes on running]", 255},
		{"box/there", revoke, "[your login has ended; box/there goes on running]", 255},
		{"here", home.edit(line, other),
			"[your key is no longer authorised; here goes on running]", 255},
		{"box/there", home.edit(line, other),
			"[your key is no longer authorised; box/there goes on running]", 255},
		{"here", restart, "[the host restarts; here goes on: `ssh -t HOST attach here`]", 255},
		{"box/there", restart,
			"[the host restarts; box/there goes on: `ssh -t HOST attach box/there`]", 255},
	} {
		home.dismisses(d)
	}
}

// authorizedLine returns a key as a line of an authorized_keys file.
func authorizedLine(key gossh.PublicKey) string {
	return strings.TrimSpace(string(gossh.MarshalAuthorizedKey(key)))
}

// edit returns what changes the host's configuration.
func (h *fleetHost) edit(from, to string) func() (undo func()) {
	return func() func() {
		before := fileText(h.w.t, h.file())
		if !strings.Contains(before, from) {
			h.w.t.Fatalf("the configuration has no %s", from)
		}
		h.configure(strings.ReplaceAll(before, from, to))
		return func() { h.configure(before) }
	}
}

// configure has the host take another configuration.
func (h *fleetHost) configure(text string) {
	h.w.t.Helper()
	writeFile(h.w.t, h.file(), text)
	h.signal(syscall.SIGHUP)
}

// dismisses checks what bob is told whose attach ends.
func (h *fleetHost) dismisses(d dismissal) {
	t := h.w.t
	t.Helper()
	for _, line := range []string{"run -- true", "run --on box -- true"} {
		hosttest.Eventually(t, "bob may do what he may", func() bool { return h.lets("bob", line) })
	}
	bob := h.look("bob", "attach "+d.terminal)
	bob.sees("up")
	undo := d.by()
	bob.ended()
	var end *gossh.ExitError
	if !errors.As(bob.end, &end) || end.ExitStatus() != d.status {
		t.Errorf("%s: %v instead of status %d", d.line, bob.end, d.status)
	}
	if shown := strings.Join(strings.Fields(bob.shows()), " "); !strings.Contains(shown, d.line) {
		t.Errorf("%q is not on the screen, which shows\n%s", d.line, bob.shows())
	}
	undo()
}

// lets reports whether a person may log in there and run a command.
func (h *fleetHost) lets(person, line string) bool {
	c, err := h.dial(person)
	if err != nil {
		return false
	}
	defer c.Close()
	s, err := c.NewSession()
	return err == nil && s.Run(line) == nil
}
