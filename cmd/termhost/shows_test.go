package main

import (
	"os/exec"
	"regexp"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// cmdShows waits until the user's screen in tmux matches all of the expressions.
//
//	shows REGEXP...
func cmdShows(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: shows REGEXP...")
	}
	var all []*regexp.Regexp
	for _, text := range args {
		all = append(all, regexp.MustCompile("(?m)"+text))
	}
	// tmux shows a moment; nothing reports that a program has drawn.
	for deadline := time.Now().Add(patience); ; {
		screen, err := exec.Command("tmux", "-S", ts.MkAbs("tmux.sock"), "capture-pane", "-p").Output()
		ts.Check(err)
		missing := ""
		for _, re := range all {
			if !re.Match(screen) {
				missing = re.String()
			}
		}
		if missing == "" {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%q is never shown; the screen is\n%s", missing, screen)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
