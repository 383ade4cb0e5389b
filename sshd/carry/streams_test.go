package carry_test

import (
	"context"
	"crypto/rand"
	"io"
	"strings"
	"syscall"
	"testing"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/sshd/verbs"
	"termhost/sshd/viewertest"
)

func TestStreamsOfAnotherHostAreExact(t *testing.T) {
	w, home, _ := newTown(t, "box1")
	raw := make([]byte, 512<<10)
	_, _ = rand.Read(raw)
	for _, c := range []struct {
		line, in, out, errs string
		status              int
	}{
		{"run --on box1 -- cat", string(raw) + string(raw), string(raw) + string(raw), "", 0},
		{"run --on box1 cat; echo err >&2; exit 3", "a", "a", "err\n", 3},
		{"run --on=box1 -- echo --on box2", "", "--on box2\n", "", 0},
		{"run --on box1 -- kill -TERM $$", "", "", "", 128 + 15},
		{"run --on box9 -- true", "", "", "termhost: error: no host that can be reached has" +
			" the name or all labels \"box9\", but box1, home; did you mean box1?\n", 1},
	} {
		p := newPipes(c.in)
		end := home.runner.Exec(w.t.Context(), home.caller(p), c.line)
		p.Wait()
		if p.out.String() != c.out || p.errs.String() != c.errs || end.Status != c.status {
			t.Errorf("%s: %d bytes, %.100q, %+v", c.line, p.out.Len(), p.errs.String(), end)
		}
	}
}

func TestSignalsReachAnotherHost(t *testing.T) {
	w, home, _ := newTown(t, "box1")
	p, out := newPipes(""), make(signalled, 1)
	p.Out = out
	in, stays := io.Pipe()
	defer stays.Close()
	p.In = in
	ended := make(chan int, 1)
	go func() {
		ended <- home.runner.Exec(w.t.Context(), home.caller(p),
			"run --on box1 -- trap 'exit 9' INT; echo ready; while :; do sleep 0.1; done").Status
	}()
	<-out
	p.signals <- syscall.SIGINT
	if status := slowtest.Receive(t, "the end", ended); status != 9 {
		t.Errorf("status %d", status)
	}
	in.Close()
}

// signalled gets a value with the first output.
type signalled chan struct{}

func (s signalled) Write(p []byte) (int, error) {
	select {
	case s <- struct{}{}:
	default:
	}
	return len(p), nil
}

func TestAWindowReachesAnotherHost(t *testing.T) {
	_, home, _ := newTown(t, "box1")
	p := home.sits("new --on box1 -n one -- stty size; read x; stty size; sleep 100")
	p.Sees("24 80")
	p.Resize(verbs.Window{Cols: 90, Rows: 30})
	hosttest.Eventually(t, "the size is known", func() bool {
		out, _ := home.run("ls")
		return strings.Contains(out, "90x30")
	})
	p.Types("\r")
	p.Sees("30 90")
	p.Types(pressed("d"))
	p.SeesAll()
	<-p.Status
}

// A host that leaves without a word is as one whose machine is lost.
func TestALostLinkIsAnErrorOfAVerbOnPipes(t *testing.T) {
	w, home, boxes := newTown(t, "box1")
	p, out := newPipes(""), make(signalled, 1)
	p.Out = out
	ended := make(chan int, 1)
	go func() {
		ended <- home.runner.Exec(w.t.Context(), home.caller(p),
			"run --on box1 -- echo ready; sleep 1000").Status
	}()
	<-out
	boxes[0].leave()
	if status := slowtest.Receive(t, "the end", ended); status != verbs.StatusLost {
		t.Errorf("status %d", status)
	}
	p.Wait()
	if !strings.Contains(p.errs.String(), "box1") {
		t.Errorf("it says %q", p.errs.String())
	}
}

func TestASilentHostsViewerRefusesKeysAndLeadsAway(t *testing.T) {
	slowtest.Skip(t)
	w, home, _ := newTown(t, "box1")
	home.makes("home", "here", "here-")
	home.makes("box1", "there", "there-")
	p := home.sits("attach here")
	p.Sees("here-")
	wants(w, home, "box1/there")
	p.Types(pressed("n") + "ant")
	p.Sees("ant")
	w.cut("box1", true)
	p.Sees("box1 is unreachable since")
	p.Types("lost")
	p.Sees("\a")
	p.Types(pressed("?"))
	p.Sees("box1 is silent; after Ctrl-\\: l list, n next, Tab last, d leaves")
	w.cut("box1", false)
	p.Sees("there-ant") // it is drawn again, perhaps with what was on the way
	for p.Types("bee"); p.SeesOneOf("bee", "\a") == "\a"; {
		p.Types("bee") // it was refused: nobody knows yet that the host is back
	}
	w.cut("box1", true)
	p.Sees("box1 is unreachable since")
	p.Types(pressed("\t") + "cat")
	p.Sees("cat")
	w.cut("box1", false)
	w.sees(home, 2)
	if out, _ := home.run("peek box1/there"); strings.TrimSpace(out) != "there-antbee" {
		t.Errorf("the silent host has got %q", out)
	}
	p.Types(pressed("d"))
	p.SeesAll()
	<-p.Status
}

// A host that takes nothing holds up neither the keys that leave it, nor what is said of it.
func TestAPasteAtASilentHostDoesNotHoldUpThePerson(t *testing.T) {
	slowtest.Skip(t)
	for _, leaves := range []string{"\x03", pressed("d")} {
		w, home, _ := newTown(t, "box1")
		home.makes("box1", "there", "there-")
		p := home.sits("attach box1/there")
		p.Sees("there-")
		w.cut("box1", true)
		go p.Types(strings.Repeat("paste ", 512<<10) + leaves)
		p.Sees("keys are refused")
		p.Sees("[left: box1 is unreachable since ")
		p.Sees("; box1/there goes on unless its machine has stopped; " +
			"`ssh -t HOST attach box1/there` comes back]")
		p.SeesAll()
		if status := <-p.Status; status != verbs.StatusLost {
			t.Errorf("status %d", status)
		}
	}
}

// TestAnInputThatEndsAtASilentHostDoesNotHoldUpWhatIsSaid: the host takes neither what was typed
// nor that no more is, and the person hears of it for as long as that is so.
func TestAnInputThatEndsAtASilentHostDoesNotHoldUpWhatIsSaid(t *testing.T) {
	slowtest.Skip(t)
	slowtest.Hurry(t)
	w, home, _ := newTown(t, "box1")
	home.makes("box1", "there", "there-")
	ended := make(chan struct{})
	in, types := io.Pipe()
	p := viewertest.Sit(t, verbs.Window{Cols: 80, Rows: 24},
		func(ctx context.Context, p *viewertest.Peer) int {
			p.In = in
			return home.runner.Exec(ctx, home.caller(p), "attach box1/there").Status
		})
	p.Sees("there-")
	w.cut("box1", true)
	go func() {
		defer close(ended)
		_, _ = io.WriteString(types, strings.Repeat("paste ", 512<<10)) // more than is on the way
		types.Close()
	}()
	p.Sees("keys are refused")
	for over, after := false, 0; after < 3; { // each is another second
		p.Sees("box1 is unreachable since")
		select {
		case <-ended:
			over = true
		default:
		}
		if over {
			after++
		}
	}
	w.cut("box1", false)
	w.sees(home, 2)
	if out, status := home.run("rm box1/there"); status != verbs.StatusOK {
		t.Error(out)
	}
	p.SeesAll()
	slowtest.Receive(t, "the end", p.Status)
}

// TestTheRestOfAPasteIsNotTyped: a host that comes back in the midst of a paste has lost a part of
// it, and would take the lines that follow for typed ones, and keys for a part of the paste.
func TestTheRestOfAPasteIsNotTyped(t *testing.T) {
	slowtest.Skip(t)
	for name, begins := range map[string]bool{
		"which has begun": true, "none of which has come": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, home, _ := newTown(t, "box1")
			home.makes("box1", "there", "there-")
			p := home.sits("attach box1/there")
			p.Sees("there-")
			want, lost := "there-", "\x1b[200~lost\r"
			if begins {
				p.Types("\x1b[200~begun ")
				p.Sees("begun")
				want, lost = "there-^[[200~begun ^[[201~", "lost\r"
			}
			w.cut("box1", true)
			p.Sees("keys are refused")
			p.Types(lost)
			p.Sees("\a")
			w.cut("box1", false)
			p.Sees("there-") // drawn anew
			p.Types("rest\rrest\x1b[201~B")
			p.Sees("B")
			home.have(map[string]string{"box1/there": want + "B"})
			p.Types(pressed("d"))
			p.SeesAll()
			if status := <-p.Status; status != verbs.StatusOK {
				t.Errorf("status %d", status)
			}
		})
	}
}
