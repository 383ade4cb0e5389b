package wording_test

import (
	"testing"
	"time"

	"termhost/ahp"
	"termhost/ahp/history"
	"termhost/ahp/host"
	"termhost/sshd/wording"
)

func TestAStateTellsWhatElseHolds(t *testing.T) {
	t.Parallel()
	away := time.Now().Add(-time.Minute).UTC()
	for want, info := range map[string]host.Info{
		"running":                              {State: host.StateRunning},
		"running (recorded)":                   {State: host.StateRunning, Recording: true},
		"running (guarded)":                    {State: host.StateRunning, Guarded: true},
		"waits: secret":                        {State: host.StateRunning, Waiting: host.WaitingSecret},
		"running (quiet)":                      {State: host.StateRunning, Quiet: true},
		"running (stopped by Ctrl-S)":          {State: host.StateRunning, Stopped: true},
		"running (dave asks for the keyboard)": {State: host.StateRunning, AskedBy: []string{"dave", "eve"}},
		"running (away since " + wording.Clock(away) + ")": {State: host.StateRunning, AwaySince: away},
		"waits (recorded, guarded)":                        {State: host.StateRunning, Waiting: host.WaitingInput, Recording: true, Guarded: true},
		"running (disk full, guarded)":                     {State: host.StateRunning, NotKept: "disk full", Guarded: true},
		"exited ?":                                         {State: host.StateExited, Guarded: true},
		"exited -1 (log damaged)":                          {State: host.StateExited, ExitCode: new(-1), LogDamaged: true},
		"running (log damaged, disk full)": {
			State: host.StateRunning, LogDamaged: true, NotKept: "disk full",
		},
	} {
		if got := wording.State(info); got != want {
			t.Errorf("it is listed as %q, want %q", got, want)
		}
	}
}

func TestAnAgentSessionsTerminalIsListedWithItsSessionAndItsAgent(t *testing.T) {
	t.Parallel()
	info := host.Info{Name: "make-1", Holder: "uid:0/gemini",
		Claim: ahp.Claim{Kind: ahp.ClaimSession, Session: "ahp-session:/s1"}}
	if got := wording.Holder(info, true); got != "uid:0/gemini ahp-session:/s1" {
		t.Errorf("it is held by %q", got)
	}
	if got := wording.Holder(info, false); got != "uid:0/gemini" {
		t.Errorf("in a narrow table it is held by %q", got)
	}
	info.Claim.Session = "ahp-session:/0199d3a1-7c2b-7f00-8000-1234567890ab"
	if got := wording.Holder(info, true); got != "uid:0/gemini ahp-session:/0199d3a1-7c2b-7f00…" {
		t.Errorf("it is held by %q", got)
	}
}

func TestATerminalIsHeldByYou(t *testing.T) {
	t.Parallel()
	if got := wording.Holder(host.Info{Mine: true, Holder: "carol"}, true); got != "you" {
		t.Errorf("it is held by %q", got)
	}
}

func TestATitleTellsTheLastCommandAndWhyATerminalEnded(t *testing.T) {
	t.Parallel()
	for want, info := range map[string]host.Info{
		"work":                {Title: "work", State: host.StateRunning, Ended: "by ann"},
		"work (ended by ann)": {Title: "work", State: host.StateExited, Ended: "by ann"},
		"work: make":          {Title: "work", LastCommand: &history.Command{Line: "make"}},
		"make":                {Title: "make", LastCommand: &history.Command{Line: "make"}},
	} {
		if got := wording.About(info); got != want || got != host.Printable(got) {
			t.Errorf("it is shown as %q, want %q", got, want)
		}
	}
	control := host.Info{Title: "x", LastCommand: &history.Command{Line: "a\x1b[mb"}}
	if got := wording.About(control); got != host.Printable(got) {
		t.Errorf("it is shown as %q", got)
	}
}
