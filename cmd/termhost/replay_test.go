package main

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"termhost/ahp/host"
	"termhost/cmd/termhost/bench"
)

// castOutput returns what a recording shows, as asciicast has it.
func castOutput(t *testing.T, h *bench.Host, name string) string {
	t.Helper()
	text, err := verbOf(h, "cast", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	var output strings.Builder
	for i, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		var ev [3]any
		if i == 0 {
			continue
		}
		if err := json.Unmarshal([]byte(line), &ev); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if ev[1] == "o" {
			output.WriteString(ev[2].(string))
		}
	}
	return output.String()
}

// TestARecordingLosesNothingWhenTheHostIsKilled kills hosts at random moments of a numbered flood
// that is recorded. The recording is there when the terminal is gone.
func TestARecordingLosesNothingWhenTheHostIsKilled(t *testing.T) {
	t.Parallel()
	start, _, do := keptHost(t, "\nterminal.log_bytes = \"32MiB\"\nterminal.scrollback_bytes = \"16MiB\"\n")
	h := start()
	do("new", "-d", "-n", "flood", "--record", "--", "sh", "-c",
		"i=0; while :; do i=$((i+1)); echo line $i; done")
	var list []host.RecordingInfo
	if err := json.Unmarshal([]byte(do("recordings", "--json")), &list); err != nil || len(list) != 1 {
		t.Fatalf("recordings: %v, %v", list, err)
	}
	recording := list[0].Recording
	for range 3 {
		time.Sleep(time.Duration(rand.IntN(200)) * time.Millisecond) // the moment is the point
		if err := h.Cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		<-h.Ended
		h = start()
	}
	raw, err := verbOf(h, "log", "--raw", "flood").Output()
	if err != nil {
		t.Fatal(err)
	}
	logged := consecutive(t, string(raw))
	do("rm", "flood")
	output := castOutput(t, h, recording)
	if !strings.HasPrefix(output, "line 1\r\nline 2\r\n") {
		t.Errorf("it begins with %.100q", output)
	}
	if last := consecutive(t, output); last < logged {
		t.Errorf("it ends with line %d, and the log had %d", last, logged)
	}
}

// TestAReplayShowsWhatWasShown plays a recording in a terminal, which is tmux.
func TestAReplayShowsWhatWasShown(t *testing.T) {
	w := newTmuxWorld(t)
	w.ssh("new", "-n", "work", "--record", "-d", "--", `printf "first line\n"; read x; `+
		`printf "\033[?1049h\033[?1002h\033[5;3H\033[1;31mfull screen"; read x; printf "\033[?1049l"; `+
		`echo the last line; sleep 0.3; exit 7`)
	for _, shown := range []string{"first line", "full screen"} {
		w.peeks("work", shown)
		w.ssh("send", "--enter", "work")
	}
	w.await("the list", `"exitCode": 7`, func() string { return w.ssh("ls", "--json") })

	p := w.run("env HISTFILE= bash --norc")
	p.keys("PS1='here> '; echo before", "Enter")
	p.sees("before\nhere> *\n")
	p.keys("ssh -F "+w.sshConfig+" -t host replay --speed 16 --idle 1s work", "Enter")
	p.sees(`(?s)first line.*the last line.*end +0:`)
	p.keys("/", "full", "Enter")
	p.sees(`(?s)^\s*full screen.*paused`)
	if seen := p.look(); !strings.Contains(seen, "mouse=0") {
		t.Errorf("the viewer's terminal is in a mode of the program's: %s", seen)
	}
	p.resize(40, 10)
	p.sees(`(?s)full screen.*paused`)
	p.keys("Left")
	p.sees("paused +0:00")
	p.keys("Space")
	p.sees(`(?s)the last line.*end +0:`)
	p.keys("q")
	p.resize(80, 24)
	p.sees(`(?s)before\n.*here>\s*$`)
	if seen := p.look(); !strings.Contains(seen, "alt=0") || strings.Contains(seen, "first line") {
		t.Errorf("the viewer's screen does not come back: %s", seen)
	}
}
