package main

import (
	"strings"
	"testing"
	"time"

	"termhost/cmd/termhost/local/predict"
)

// The flags of `termhost attach` that are its own may stand anywhere, and what shows the terminal
// again has the others that count for that.
func TestTheOwnFlagsOfAttach(t *testing.T) {
	for _, c := range []struct {
		line  string
		retry time.Duration
		words string // for the host
		again string
	}{
		{"-r", retryTime, "-r", "attach -- work"},
		{"w --retry 3s", 3 * time.Second, "w", "attach -- work"},
		{"--retry=0 -c f w", 0, "w", "attach -- work"},
		{"--prefix ctrl-a -A w", retryTime, "--prefix ctrl-a -A w", "attach --prefix=ctrl-a -- work"},
		{"--history 9 -- --retry", retryTime, "--history 9 -- --retry", "attach -- work"},
	} {
		a, err := parseAttach(strings.Fields(c.line))
		if err != nil || a.retry != c.retry || strings.Join(a.words, " ") != c.words {
			t.Errorf("%s: %+v, %v", c.line, a, err)
		}
		if got := a.again("work", false); got != c.again {
			t.Errorf("%s: again with %s", c.line, got)
		}
	}
	if got := (attachArgs{}).again("-odd one", true); got != "attach -r -- '-odd one'" {
		t.Errorf("read-only: %s", got)
	}
	for line, want := range map[string]predict.When{
		"w": predict.Adaptive, "--predict never w": predict.Never,
		"w --predict=always": predict.Always, "-- --predict=never": predict.Adaptive,
	} {
		if a, err := parseAttach(strings.Fields(line)); err != nil || a.when != want {
			t.Errorf("%s: %+v, %v", line, a, err)
		}
	}
	for _, line := range []string{
		"--retry", "--retry -1s w", "--retry=soon", "w -c", "--predict", "--predict=on",
	} {
		if a, err := parseAttach(strings.Fields(line)); err == nil {
			t.Errorf("%s: %+v", line, a)
		}
	}
}
