package main

import (
	"net"
	"strings"
	"testing"

	"termhost/ahp/fleet/roster"
	"termhost/ahp/hosttest"
)

// says fails the test unless a command on the host's machine fails with these words.
func (h *fleetHost) says(words string, args ...string) {
	h.w.t.Helper()
	if out, err := h.try(args...); err == nil || !strings.Contains(out, words) {
		h.w.t.Errorf("%q on %s says %q (%v), and not %q", args, h.name, out, err, words)
	}
}

// Whatever is asked of a host that was removed, it says the same, and what to do.
func TestAHostThatWasRemovedSaysSoAndMayJoinAgain(t *testing.T) {
	slow(t)
	t.Parallel()
	w, home := newFleet(t, "")
	box := w.join("box", w.listen, "")
	w.together()
	home.do("fleet", "remove", "box")
	hosttest.Eventually(t, "box hears of it", roster.In(box.state()).Removed)
	restart := func() {
		t.Helper()
		box.serve.Kill()
		box.start()
	}
	for _, next := range []func(){restart, func() {}} {
		removed := "termhost: error: " + roster.ErrRemoved.Error()
		box.says(removed, "fleet", "hosts")
		box.says(removed, "new", "--on", "home", "-d")
		box.says(removed, "fleet", "token")
		box.says(removed, "fleet", "remove", "home")
		next()
	}
	box.joins(w.token(), "tls://"+w.listen)
	w.together()

	// It forgets the fleet as well, also if it has not heard that it was removed.
	box.serve.Kill()
	home.do("fleet", "remove", "box")
	if out, want := box.do("fleet", "leave"), "box has left the fleet; what it has open elsewhere"+
		" ends within two seconds\n"; out != want {
		t.Errorf("it leaves with %q, want %q", out, want)
	}
	box.joins(w.token(), "tls://"+w.listen)
	box.start()
	w.together()
	home.do("fleet", "remove", "box")
	hosttest.Eventually(t, "box hears of it", roster.In(box.state()).Removed)
	if out, want := box.do("fleet", "leave"), "box was removed from the fleet, and has now"+
		" forgotten it\n"; out != want {
		t.Errorf("it leaves with %q, want %q", out, want)
	}
	box.says("this host is in no fleet", "fleet", "leave")
	hosttest.Eventually(t, "box knows", func() bool {
		out, err := box.try("fleet", "hosts")
		return err != nil && out == "termhost: error: this host is in no fleet\n"
	})
}

// The configuration may name the host, once and for all.
func TestTheConfigurationNamesAHost(t *testing.T) {
	w, home := newFleet(t, "")
	box := w.host("machine", `fleet.name = "box"`)
	token, url := w.token(), "tls://"+w.listen
	box.says("--name other is not the [fleet] name of the configuration, box\n", "fleet", "join",
		"--name", "other", url, token)
	if out := box.do("fleet", "join", url, token); !strings.HasPrefix(out, "box has joined") {
		t.Errorf("it says %q", out)
	}
	box.start()
	hosttest.Eventually(t, "home sees it", func() bool {
		return strings.Contains(home.run("alice", "hosts"), "box   reachable")
	})
	box.serve.Kill()
	writeFile(t, box.file(), strings.ReplaceAll(fileText(t, box.file()), `"box"`, `"crate"`))
	box.start()
	box.says("stays out of its fleet", "fleet", "hosts")
	if !strings.Contains(box.logged(), "it is called box there, and crate in the configuration") {
		t.Errorf("its log says %s", box.logged())
	}
	crate := w.host("crate", `fleet.name = "crate"`)
	if out := crate.do("fleet", "init", "--listen", loopback()); !strings.HasPrefix(out,
		"crate has made a fleet") {
		t.Errorf("it says %q", out)
	}
}

// The port of the fleet's server may be taken, also beside a host that runs.
func TestAFleetIsNotMadeWhereItsServerCannotListen(t *testing.T) {
	w, _ := newFleet(t, "")
	other := w.host("other", "").start()
	for _, words := range []string{"cannot listen on " + w.listen + ": something else does\n",
		"hint: choose another port with --listen"} {
		other.says(words, "fleet", "init", "--name", "other", "--listen", w.listen)
	}
	other.do("fleet", "init", "--name", "other", "--listen", loopback())
	hosttest.Eventually(t, "it is in its fleet", func() bool {
		_, err := other.try("fleet", "hosts")
		return err == nil
	})
}

func TestAHostTriesAgainToGetIntoItsFleet(t *testing.T) {
	slow(t)
	t.Parallel()
	w, _ := newFleet(t, "")
	other, at := w.host("other", ""), loopback()
	other.do("fleet", "init", "--name", "other", "--listen", at)
	l, err := net.Listen("tcp", at)
	hosttest.Check(t, err)
	defer l.Close()
	other.start()
	other.says("stays out of its fleet, and tries again; its log says why", "fleet", "hosts")
	hosttest.Check(t, l.Close())
	hosttest.Eventually(t, "it is in its fleet", func() bool {
		_, err := other.try("fleet", "hosts")
		return err == nil
	})
	if n := strings.Count(other.logged(), "this host stays out of its fleet"); n != 1 {
		t.Errorf("its log says %d times that it is out", n)
	}
}

// An entry of [fleet] doors without effect is told.
func TestDoorsThatAreNoneAreTold(t *testing.T) {
	w, _ := newFleet(t, "fleet.doors = { box = \"admin\", bix = \"observer\" }")
	box := w.host("box", "fleet.doors = { home = \"admin\", box = \"observer\" }")
	box.joins(w.token(), "tls://"+w.listen)
	box.start()
	hosttest.Eventually(t, "it is told", func() bool {
		return strings.Contains(box.logged(), "fleet.doors has a host that is not a door")
	})
	log := box.logged()
	if strings.Contains(log, "not in the fleet") || strings.Count(log, "not a door") != 1 {
		t.Errorf("more is told: %s", log)
	}
	home := w.hosts["home"].logged()
	if !strings.Contains(home, `fleet.doors has a host that is not in the fleet","name":"bix"`) {
		t.Errorf("a name that no host has is not told: %s", home)
	}
}
