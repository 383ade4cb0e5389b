package carry_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/sshd/verbs"
)

var errKeyGone = errors.New("your key is no longer authorised")

// TestAnAttachThatItsDoorEndsIsToldWhy has the line and the status of one at a terminal of the
// door's own.
func TestAnAttachThatItsDoorEndsIsToldWhy(t *testing.T) {
	t.Parallel()
	for why, want := range map[error]string{
		errKeyGone: "[your key is no longer authorised; box1/there goes on running]",
		host.ErrLeaving: "[the host restarts; box1/there goes on:" +
			" `ssh -t HOST attach box1/there`]",
	} {
		_, home, _ := newTown(t, "box1")
		home.makes("box1", "there", "there-")
		p := home.sits("attach box1/there")
		p.Sees("there-")
		p.Ends(why)
		p.Sees(want)
		p.SeesAll()
		if status := <-p.Status; status != verbs.StatusLost {
			t.Errorf("%v: status %d", why, status)
		}
	}
}

// TestAVerbOnPipesThatItsDoorEndsIsToldWhy once, however many hosts it is about.
func TestAVerbOnPipesThatItsDoorEndsIsToldWhy(t *testing.T) {
	t.Parallel()
	w, home, boxes := newTown(t, "box1")
	home.makes("home", "here", "here-")
	home.makes("box1", "there", "there-")
	const restarts = "[the host restarts"
	lines := map[string]string{
		"wait box1/there": restarts + ": `ssh HOST wait box1/there`]\n",
		"wait here box1/there": restarts +
			"; its terminals go on: `ssh HOST wait here box1/there`]\n",
		"log -f box1/there": restarts + ": `ssh HOST log -f box1/there`]\n",
		"events box1/there": restarts + "; its terminals go on: `ssh HOST events box1/there`]\n",
		"events":            restarts + "; its terminals go on: `ssh HOST events`]\n",
		"events here box1/there": restarts +
			"; its terminals go on: `ssh HOST events here box1/there`]\n",
		"run --on box1 -- exec sleep 1000": restarts + "; its command ends with the connection," +
			" as without --keep: `ssh HOST ls box1`]\n",
	}
	type end struct {
		line, errs string
		status     int
	}
	ctx, leaves := context.WithCancelCause(t.Context())
	ended := make(chan end, len(lines))
	for line := range lines {
		p := newPipes("")
		p.Out = io.Discard
		caller := home.caller(p)
		go func() {
			status := home.runner.Exec(ctx, caller, line).Status
			p.Wait()
			ended <- end{line, p.errs.String(), status}
		}()
	}
	hosttest.Eventually(w.t, "all have begun", func() bool {
		there, _ := boxes[0].run("who there")
		here, _ := home.run("who home/here")
		return strings.Count(there, "@home") == 3 && strings.Count(here, "\n") == 2 &&
			boxes[0].host.Stats().Terminals == 2
	})
	leaves(host.ErrLeaving)
	for range lines {
		got := slowtest.Receive(t, "an end", ended)
		if got.status != verbs.StatusLost || got.errs != lines[got.line] {
			t.Errorf("%s: status %d, %s", got.line, got.status, got.errs)
		}
	}
}

// TestAHostThatIsBackAndRefusesAPersonIsNotWaitedFor: while it was away their key was revoked.
func TestAHostThatIsBackAndRefusesAPersonIsNotWaitedFor(t *testing.T) {
	slowtest.Skip(t)
	_, home, boxes := newTown(t, "box1")
	home.makes("box1", "there", "there-")
	p := home.sits("attach box1/there")
	p.Sees("there-")
	boxes[0].refuses.Store(true)
	boxes[0].restarts()
	p.Sees("[box1: it refuses: ")
	p.SeesAll()
	if status := <-p.Status; status != verbs.StatusLost {
		t.Errorf("status %d", status)
	}
}

// TestWhoDoesNotWaitForAHostThatHasGoneIsToldHowToComeBack, as who leaves a silent one.
func TestWhoDoesNotWaitForAHostThatHasGoneIsToldHowToComeBack(t *testing.T) {
	t.Parallel()
	for _, leaves := range []string{"\x03", pressed("d")} {
		_, home, boxes := newTown(t, "box1")
		home.makes("box1", "there", "there-")
		p := home.sits("attach box1/there")
		p.Sees("there-")
		boxes[0].leave()
		p.Sees("box1 has gone, since")
		p.Types(leaves)
		p.Sees("[left: box1 has gone; box1/there goes on unless its machine has stopped; " +
			"`ssh -t HOST attach box1/there` comes back]")
		p.SeesAll()
		if status := <-p.Status; status != verbs.StatusLost {
			t.Errorf("status %d", status)
		}
	}
}
