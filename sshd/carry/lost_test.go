package carry_test

import (
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/fleet"
	"termhost/ahp/fleet/roster"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/sshd/verbs"
)

// failing has a box end every connection as soon as the result is called, as the process of a host
// that was killed, of which it is not known yet that it is silent.
func (b *box) failing() (fail func()) {
	var fails atomic.Bool
	serve := b.serve
	b.serve = func(kind fleet.Kind, door roster.Member, nc net.Conn) {
		if fails.Load() {
			nc.Close()
			return
		}
		serve(kind, door, nc)
	}
	return func() { fails.Store(true) }
}

// TestTerminalsOfAHostThatJustFellSilentStayListed: for seconds it counts as one that is there.
func TestTerminalsOfAHostThatJustFellSilentStayListed(t *testing.T) {
	t.Run("when it was killed", func(t *testing.T) {
		_, home, boxes := newTown(t, "box1")
		fail := boxes[0].failing()
		staysListed(t, home, fail)
	})
	t.Run("when it was stopped", func(t *testing.T) {
		slowtest.Skip(t)
		w, home, _ := newTown(t, "box1")
		staysListed(t, home, func() { w.cut("box1", true) })
	})
}

// staysListed checks that box1's terminals are listed when it has failed.
func staysListed(t *testing.T, home *box, fail func()) {
	t.Helper()
	home.makes("box1", "there", "there-")
	top := home.sits("top")
	top.Sees("there")
	if out, _ := home.run("ls"); strings.Contains(out, "unreachable") {
		t.Fatalf("a host that is there is listed as %q", out)
	}
	fail()
	for line, wants := range map[string][]string{
		"ls":        {"there", " unreachable ", "\nbox1"},
		"ls box1":   {"there", " unreachable ", "\nbox1"},
		"ls --json": {`"host": "box1"`, `"name": "there"`, `"unreachableSince"`, "\nbox1"},
	} {
		out, status := home.run(line)
		for _, want := range wants {
			if !strings.Contains(out, want) || status != verbs.StatusOK {
				t.Errorf("%s: status %d, %s\nwithout %q", line, status, out, want)
			}
		}
	}
	if out, status := home.run("peek there"); status == verbs.StatusOK ||
		!strings.Contains(out, "box1 ") {
		t.Errorf("the host of a NAME is not known any more: status %d, %s", status, out)
	}
	top.Sees("unreachable")
	top.Types("q")
	top.SeesAll()
	<-top.Status
}

// TestAListOfHostsAndOneOfTerminalsTellTheSame of a host that does not answer, though it
// has been heard a moment ago.
func TestAListOfHostsAndOneOfTerminalsTellTheSame(t *testing.T) {
	t.Parallel()
	_, home, boxes := newTown(t, "box1")
	home.makes("box1", "there", "there-")
	home.run("ls")
	boxes[0].failing()()
	hosttest.Eventually(t, "both lists call it unreachable", func() bool {
		out, _ := home.run("ls")
		if !strings.Contains(out, "there ") || !strings.Contains(out, "\nbox1 is unreachable since ") {
			t.Errorf("ls says %s", out)
		}
		out, _ = home.run("hosts") // which does not if it was heard meanwhile
		return strings.Contains(out, " unreachable since ")
	})
	hosttest.Eventually(t, "it has said again that it is there", func() bool {
		out, _ := home.run("hosts")
		return !strings.Contains(out, "unreachable")
	})
}

// TestNobodySaysWhatASilentHostHasNot: nobody has heard it.
func TestNobodySaysWhatASilentHostHasNot(t *testing.T) {
	_, home, boxes := newTown(t, "box1")
	fail := boxes[0].failing()
	for line, empty := range map[string]string{"who": "nobody watches any terminal\n",
		"ls box1": "no terminals; `ssh HOST` makes one\n"} {
		if out, _ := home.run(line); out != empty {
			t.Errorf("%s: %q of a host that is there", line, out)
		}
	}
	fail()
	for _, line := range []string{"who", "ls", "ls box1"} {
		out, status := home.run(line)
		if status != verbs.StatusOK || !strings.HasPrefix(out, "box1 is unreachable since ") ||
			strings.Count(out, "\n") != 1 {
			t.Errorf("%s: status %d, %s", line, status, out)
		}
	}
}

// TestAViewerWaitsForAHostThatHasGoneForATimeOnly.
func TestAViewerWaitsForAHostThatHasGoneForATimeOnly(t *testing.T) {
	t.Parallel()
	_, home, boxes := newTown(t, "box1")
	home.carrier.Patience = 1500 * time.Millisecond
	home.makes("box1", "there", "there-")
	p := home.sits("attach box1/there")
	p.Sees("there-")
	boxes[0].leave()
	p.Sees("box1 has gone, since 0s; keys are refused")
	p.Sees("; its terminals go on unless its machine has stopped: `ssh -t HOST attach box1/there`]")
	p.SeesAll()
	if status := <-p.Status; status != verbs.StatusLost {
		t.Errorf("status %d", status)
	}
}

// TestWhatARemovedHostCutsShortIsNotToBeHadHere: the door leads there no more.
func TestWhatARemovedHostCutsShortIsNotToBeHadHere(t *testing.T) {
	t.Parallel()
	w, home, _ := newTown(t, "box1")
	home.makes("box1", "late", "late-")
	p := home.sits("attach box1/late")
	p.Sees("late-")
	_, err := w.folder("home").Change(func(r roster.Roster) (roster.Roster, error) {
		return r.Without("box1")
	})
	hosttest.Check(t, err)
	p.Sees("[box1: the host was removed from the fleet; its terminals go on unless its machine " +
		"has stopped: log in to box1 itself]")
	p.SeesAll()
	if status := <-p.Status; status != verbs.StatusLost {
		t.Errorf("status %d", status)
	}
}

// TestWhatALostHostCutsShortSaysHowToGoOn has the last line and the status that a host has that
// restarts: any other status is a program's own.
func TestWhatALostHostCutsShortSaysHowToGoOn(t *testing.T) {
	w, home, boxes := newTown(t, "box1")
	home.makes("box1", "there", "there-")
	const goOn, ends = "go on unless*: ", "ends with the connection*: "
	lines := map[string]string{ // what becomes of the terminal, and the command that goes on
		"wait box1/there":                          goOn + "`ssh HOST wait box1/there`",
		"wait --all there box1/there":              goOn + "`ssh HOST wait --all there box1/there`",
		"log -f box1/there":                        goOn + "`ssh HOST log -f box1/there`",
		"events box1/there":                        goOn + "`ssh HOST events box1/there`",
		"run --keep --on box1 -- echo; sleep 1000": goOn + "`ssh HOST ls box1`",
		"run --on box1 -- echo; exec sleep 1000":   ends + "`ssh HOST ls box1`",
		"run --on box1 -- echo --keep; sleep 1000": ends + "`ssh HOST ls box1`",
	}
	type end struct {
		line, errs string
		status     int
	}
	ended, printing := make(chan end, len(lines)), map[string]signalled{}
	for line := range lines {
		p, out := newPipes(""), make(signalled, 1)
		p.Out, printing[line] = out, out
		caller := home.caller(p)
		go func() {
			status := home.runner.Exec(w.t.Context(), caller, line).Status
			p.Wait()
			ended <- end{line, p.errs.String(), status}
		}()
	}
	for line, out := range printing {
		switch verb, _, _ := strings.Cut(line, " "); verb {
		case "events":
			n := 0
			hosttest.Eventually(t, "there are events", func() bool {
				n++
				boxes[0].run(fmt.Sprintf("label there n=%d", n))
				return len(out) > 0
			})
		case "run":
			slowtest.Receive(t, line, out)
		}
	}
	hosttest.Eventually(t, "all wait", func() bool {
		out, _ := boxes[0].run("who there")
		return strings.Count(out, "@home") == 3
	})
	boxes[0].restarts()
	for range lines {
		got := slowtest.Receive(t, "an end", ended)
		becomes, next, _ := strings.Cut(lines[got.line], "*")
		last := got.errs[strings.LastIndex(strings.TrimSpace(got.errs), "\n")+1:]
		if got.status != verbs.StatusLost || !strings.HasPrefix(last, "[box1: ") ||
			!strings.Contains(last, becomes) || !strings.HasSuffix(last, next+"]\n") {
			t.Errorf("%s: status %d, %q", got.line, got.status, got.errs)
		}
	}
	if out, _ := home.run("ls"); !strings.Contains(out, "there") {
		t.Errorf("what goes on is not listed: %s", out)
	}
	for _, line := range []string{"wait box1/other", "log -f box1/other"} {
		if out, status := home.run(line); status != verbs.StatusFailed {
			t.Errorf("%s: status %d, %s", line, status, out)
		}
	}
}

// TestAHostThatEndsItselfIsLost: what it has said of its terminals stands, and the command that
// goes on is that of the person's own door.
func TestAHostThatEndsItselfIsLost(t *testing.T) {
	_, home, boxes := newTown(t, "box1")
	boxes[0].serves(func(chans <-chan gossh.NewChannel) {
		ch, reqs, err := (<-chans).Accept()
		if err != nil {
			return
		}
		for req := range reqs {
			_ = req.Reply(true, nil)
			if req.Type == "exec" {
				_, _ = io.WriteString(ch.Stderr(), "[the host restarts; there goes on]\n")
				exit := gossh.Marshal(&struct{ Status uint32 }{verbs.StatusLost})
				_, _ = ch.SendRequest("exit-status", false, exit)
				ch.Close()
				return
			}
		}
	})
	serve := boxes[0].serve
	boxes[0].serve = func(kind fleet.Kind, door roster.Member, nc net.Conn) {
		defer nc.Close()
		serve(kind, door, nc)
	}
	out, status := home.run("log -f box1/there")
	if want := "[the host restarts; there goes on]\n" +
		"[box1: the host is shutting down: `ssh HOST log -f box1/there`]\n"; out != want ||
		status != verbs.StatusLost {
		t.Errorf("status %d, %s", status, out)
	}
}

func TestAsksNameTheHostsThatAreNotHeard(t *testing.T) {
	_, home, boxes := newTown(t, "box1", "box2")
	fail := boxes[0].failing()
	if out, status := home.run("asks"); status != verbs.StatusOK || out != "nothing is waiting for an answer\n" {
		t.Errorf("of hosts that are there: status %d, %s", status, out)
	}
	fail()
	out, status := home.run("asks")
	if status == verbs.StatusOK ||
		!strings.HasSuffix(out, "nothing is waiting for an answer, as far as is known; not reached: box1\n") {
		t.Errorf("where one is silent: status %d, %s", status, out)
	}
}
