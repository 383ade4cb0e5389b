package carry_test

import (
	"io"
	"strings"
	"testing"

	gossh "golang.org/x/crypto/ssh"

	"termhost/sshd/wire"
)

// The door is of a later version than the host that it carries a verb to, which says what it does
// not know. Everything else works.
func TestAnOlderHostSaysWhichVerbItDoesNotKnow(t *testing.T) {
	_, home, _ := newTown(t, "box1")
	unknown := func(verb string) string {
		return "termhost: error: box1 runs termhost test, which does not know `" + verb +
			"` over the fleet\nhint: update termhost on box1\n"
	}
	for line, want := range map[string]string{
		"later a": unknown("later"), "termhost later": unknown("later"),
		"touch " + home.w.dir + "/touched": unknown("touch"),
		"whoami --later": "termhost: error: flag provided but not defined: --later\n" +
			"hint: usage: ssh HOST whoami [--json]\n" +
			"hint: box1 runs termhost test, which may be older than the door's\n",
	} {
		p := newPipes("")
		end, err := home.runner.Fleet().Run(t.Context(), home.caller(p), "box1", line)
		p.Wait()
		if said := p.errs.String(); said != want || err != nil || end.Status == 0 {
			t.Errorf("%s says %q with %v, %v, want %q", line, said, end, err, want)
		}
		_, err = home.runner.Fleet().Output(t.Context(), home.caller(newPipes("")), "box1", line)
		if err == nil || err.Error() != strings.TrimSpace(want) {
			t.Errorf("%s prints nothing with %v", line, err)
		}
	}
	home.makes("box1", "one", "fine")
	home.have(map[string]string{"box1/one": "fine"})
}

// A host of a later version says more of what it shows, and more besides, than the door knows.
func TestKeysLeadToANewerHost(t *testing.T) {
	t.Parallel()
	_, home, boxes := newTown(t, "box1")
	home.makes("home", "here", "home-")
	boxes[0].brokenInto(func(ch gossh.Channel) {
		defer ch.Close()
		later := append(gossh.Marshal(&wire.Shows{Name: "one"}), "\x00\x00\x00\x01x\x01"...)
		_, _ = ch.SendRequest(wire.ShowsTerminal, false, later)
		_, _ = ch.SendRequest("later@termhost", true, []byte("x"))
		_, _ = io.WriteString(ch, "ready\r\n")
		_, _ = io.Copy(ch, ch)
	})
	p := home.sits("attach here")
	p.Sees("home-")
	p.Types(pressed("d"))
	p.SeesAll()
	p = home.sits("attach box1/one")
	p.Sees("ready")
	p.Types("keys")
	p.Sees("keys")
	p.Types(pressed("l")) // it is known that a terminal is shown
	p.Sees("here")
	p.Types("/here\r")
	p.Sees("home-")
	p.Types(pressed("d"))
	p.SeesAll()
}

// A host whose `who` needs a NAME yet says so, and the door which termhost it runs.
func TestWhatAnOlderHostDoesOtherwiseIsSaidOnOneLine(t *testing.T) {
	t.Parallel()
	_, home, boxes := newTown(t, "box1")
	home.runner.Version = "later"
	boxes[0].serves(func(chans <-chan gossh.NewChannel) {
		for nch := range chans {
			ch, reqs, err := nch.Accept()
			if err != nil {
				return
			}
			for req := range reqs {
				_ = req.Reply(true, nil)
				if req.Type == "exec" {
					_, _ = io.WriteString(ch.Stderr(), "termhost: error: who needs an argument\n"+
						"hint: usage: ssh HOST who [--json] NAME\n")
					status := gossh.Marshal(struct{ Status uint32 }{2})
					_, _ = ch.SendRequest("exit-status", false, status)
					ch.Close()
				}
			}
		}
	})
	const want = "box1, which runs termhost test: who needs an argument; usage: ssh HOST who" +
		" [--json] NAME\n"
	if out, status := home.run("who"); out != want || status != 0 {
		t.Errorf("it says %q with status %d, want %q", out, status, want)
	}
}
