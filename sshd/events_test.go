package sshd

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"termhost/ahp/hosttest"
)

// events runs the verb without a terminal, and returns what it prints from now on.
func (r *rig) events(key, flags string) *transcript {
	r.t.Helper()
	s, err := r.dial(key).NewSession()
	hosttest.Check(r.t, err)
	out := newTranscript()
	s.Stdout = out
	hosttest.Check(r.t, s.Start("events "+flags))
	probes := 0
	hosttest.Eventually(r.t, "the first event", func() bool {
		probes++
		r.ssh("alice", "", fmt.Sprintf("new -d -n probe-%d -- true", probes))
		return out.all() != ""
	})
	return out
}

func TestEventsAreALineEach(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: map[string]string{"alice": "", "bob": asOperator}})
	text := r.events("bob", "")
	asJSON := r.events("bob", "--json")
	build := r.open(r.dial("alice"), 90, 30, "new -n build -- echo here; read x; exit 3")
	build.sees("here")
	build.typeIn("\r")
	if got := build.status(); got != 3 {
		t.Errorf("status %d", got)
	}
	r.ssh("alice", "", "rm build")
	for _, out := range []*transcript{text, asJSON} {
		if _, ok := out.await("disposed"); !ok {
			t.Fatalf("no end: %s", out.all())
		}
	}
	want := regexp.MustCompile(`(?s)T\S+Z build created by alice\n.*Z build attached by alice\n` +
		`.*Z build exited with 3\n.*Z build detached by alice\n.*Z build disposed by alice\n`)
	if got := text.all(); !want.MatchString(got) {
		t.Errorf("%s", got)
	}
	var kinds []string
	for line := range strings.Lines(asJSON.all()) {
		var e struct{ Time, Event, Terminal, By string }
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.Time == "" {
			t.Fatalf("%q: %v", line, err)
		}
		if e.Terminal == "build" {
			kinds = append(kinds, e.Event)
		}
	}
	if len(kinds) == 0 || kinds[0] != "created" || kinds[len(kinds)-1] != "disposed" {
		t.Errorf("%q", kinds)
	}
}

func TestEventsEndWithCtrlC(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	r.ssh("alice", "", "new -d -n build -- read x")
	p := r.open(r.dial("alice"), 80, 24, "events build")
	p.typeIn("\x03")
	if got := p.status(); got != 0 {
		t.Errorf("status %d", got)
	}
	if got := r.ssh("alice", "", "events none"); got.status != 1 ||
		!strings.Contains(got.stderr, `there is no terminal "none"`) {
		t.Errorf("an unknown terminal: %+v", got)
	}
}
