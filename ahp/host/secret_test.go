package host_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/authz"
)

const askSecret = `printf 'Password: '; stty -echo; read x; stty echo; echo; echo "got ${#x}"; read y`

func TestAnAgentDoesNotTypeASecret(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	agent := connect(t, h, bot, "agent")
	uri := agent.create("x", "/bin/sh", "-c", askSecret)
	term := lookup(h, uri)
	if got := waitsFor(t, h, term, agent.c); got != host.WaitingSecret {
		t.Fatalf("it waits for %q", got)
	}
	const rule = "a person must type this"
	for _, keys := range []string{"x", "hunter2\r", "\x03x", "\x1b[A"} {
		if got := agent.dispatch(uri, ahp.TerminalInput{Data: []byte(keys)}); got != rule {
			t.Errorf("%q is answered with %q", keys, got)
		}
	}
	if got := term.Info(alice); got.Waiting != host.WaitingSecret {
		t.Errorf("it is listed as %+v", got)
	}
	person := attach(t, h, alice, "x", window)
	if err := person.a.Input([]byte("four\r")); err != nil {
		t.Fatal(err)
	}
	awaitOutput(t, h, term, "got 4")
	if got := waitsFor(t, h, term, agent.c); got != host.WaitingInput {
		t.Errorf("then it waits for %q", got)
	}
	if got := term.Info(alice).Waiting; got != host.WaitingInput {
		t.Errorf("then it is listed as %q", got)
	}
}

// Whoever reads a line that the terminal does not show, and whatever stands before it.
func TestALineThatIsNotShownTakesNothingFromAgents(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ needs, reads string }{
		"head": {"head", "head -n1 >line"},
		"cat":  {"cat", "cat >line"},
		"read": {"sh", "read x; echo $x >line"},
		"perl": {"perl",
			`perl -e 'print STDERR "\$ "; $x=<STDIN>; open(F,">line"); print F $x'`},
		"python": {"python3",
			`python3 -c 'import sys; x=sys.stdin.readline(); open("line","w").write(x)'`},
		"screen": {"head", `printf '\033[?1049hin the middle'; head -n1 >line`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			slowtest.Programs(t, c.needs)
			h, dir := hosttest.New(t), t.TempDir()
			agent := connect(t, h, bot, "agent")
			uri := agent.create("x", "/bin/sh", "-c",
				"cd "+dir+"; stty -echo; echo ready; "+c.reads+"; echo over; exec sleep 1000")
			term := lookup(h, uri)
			awaitOutput(t, h, term, "ready")
			for _, keys := range []string{"guess\r", "g"} {
				got := agent.dispatch(uri, ahp.TerminalInput{Data: []byte(keys)})
				if got != "a person must type this" {
					t.Errorf("%q is answered with %q", keys, got)
				}
			}
			if got := waitsFor(t, h, term, agent.c); got != host.WaitingSecret {
				t.Errorf("it waits for %q", got)
			}
			person := attach(t, h, alice, "x", window)
			if err := person.a.Input([]byte("mine\r\x04")); err != nil {
				t.Fatal(err)
			}
			awaitOutput(t, h, term, "over")
			if got, err := os.ReadFile(filepath.Join(dir, "line")); err != nil || string(got) != "mine\n" {
				t.Errorf("it has read %q, %v", got, err)
			}
		})
	}
}

func TestWhoMayTypeASecret(t *testing.T) {
	t.Parallel()
	exempt := bot
	exempt.TypesSecrets = true
	inside := alice
	inside.Inside = true
	for name, c := range map[string]struct {
		p    authz.Principal
		door string
		all  bool
		ok   bool
	}{
		"a person by SSH":          {alice, host.DoorSSH, false, true},
		"a key's agent":            {alice, host.DoorSubsystem, false, false},
		"a token":                  {bot, host.DoorWebSocket, false, false},
		"a token that was made so": {exempt, host.DoorWebSocket, false, true},
		"a process in a terminal":  {inside, host.DoorSSH, false, false},
		"a token, by the settings": {bot, host.DoorWebSocket, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := hosttest.New(t, func(cfg *host.Config) { cfg.AgentsTypeSecrets = c.all })
			owner := connect(t, h, c.p, "owner")
			term, err := hosttest.Create(h, c.p, host.CreateOptions{Name: "x", Argv: sh(askSecret)})
			if err != nil {
				t.Fatal(err)
			}
			waitsFor(t, h, term, owner.c)
			conn, err := h.Connect(c.p, c.door)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			err = conn.Send(context.Background(), term, []byte("secret\r"))
			var denied *authz.Denied
			if (err == nil) != c.ok || err != nil && !errors.As(err, &denied) {
				t.Errorf("typing is answered with %v", err)
			}
			if err := conn.Send(context.Background(), term, []byte{0x03}); err != nil {
				t.Errorf("ctrl-C is answered with %v", err)
			}
		})
	}
}

// What an agent typed ahead of a question for a secret, and the program has not taken yet, does not
// answer it.
func TestWhatAnAgentTypedAheadAnswersNoSecret(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	agent := connect(t, h, bot, "agent")
	uri := agent.create("x", "/bin/sh", "-c",
		`stty raw -echo; echo ready; head -c1; stty sane -echo; printf 'Password: '; exec sleep 1000`)
	term := lookup(h, uri)
	awaitOutput(t, h, term, "ready")
	// More than the terminal takes before somebody reads, so that the rest is queued.
	ahead := "\r" + strings.Repeat(strings.Repeat("x", 1000)+"\r", 100)
	agent.types(uri, ahead)
	awaitOutput(t, h, term, "Password: ")
	hosttest.Eventually(t, "what was queued is dropped", func() bool {
		_, queued := host.Queued(term)
		return !queued
	})
}

// The secret itself is nowhere but in the program.
func TestASecretIsNowhere(t *testing.T) {
	t.Parallel()
	var log hosttest.Log
	h := hosttest.New(t, func(c *host.Config) {
		c.Log = log.Logger()
		c.Audit = c.Log
	})
	watcher := connect(t, h, eve, "watcher")
	term := run(t, h, alice, "x", askSecret)
	waitsFor(t, h, term, watcher.c)
	watcher.subscribe(term.URI())
	events, err := watcher.c.Events()
	if err != nil {
		t.Fatal(err)
	}
	defer events.Close()
	viewer := attach(t, h, eve, "x", host.AttachOptions{Cols: 80, Rows: 24, ReadOnly: true})
	person := attach(t, h, alice, "x", window)
	const canary = "c4n4ry-s3cr3t"
	if err := person.a.Input([]byte(canary + "\r")); err != nil {
		t.Fatal(err)
	}
	awaitOutput(t, h, term, "got 13")
	viewer.shows("got 13")
	st := state(person.t, h, term)
	list, _ := hosttest.List(h, alice)
	all, _ := hosttest.Retained(h, alice, term)
	for what, text := range map[string]any{
		"the log": text(st), "the list": list, "the commands": all.Commands(),
		"the host's log": log.String(), "the viewer": string(viewer.out),
		"the events": events.Pull(nil, 100),
	} {
		if strings.Contains(fmt.Sprint(text), canary) {
			t.Errorf("%s has the secret", what)
		}
	}
	for _, e := range watcher.pending() {
		if bytes.Contains(e.AppendEnvelope(nil, ahp.ShapeLifecycle), []byte(canary)) {
			t.Error("a subscriber is shown the secret")
		}
	}
}
