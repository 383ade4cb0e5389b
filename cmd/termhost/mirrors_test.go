package main

import (
	"os/exec"
	"regexp"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// cmdTmux runs tmux with a server of its own for the script, which ends with the script.
//
//	tmux COMMAND ARGS...
func cmdTmux(ts *testscript.TestScript, neg bool, args []string) {
	socket := ts.MkAbs("tmux.sock")
	if args[0] == "new-session" {
		ts.Defer(func() {
			_ = exec.Command("tmux", "-S", socket, "kill-server").Run() // it may have ended
		})
	}
	ts.Check(ts.Exec("tmux", append([]string{"-S", socket, "-f", "/dev/null"}, args...)...))
}

// cmdMirrors waits until the host shows a terminal as its user sees it in tmux, row by row, and the
// text matches.
//
//	mirrors TERMINAL REGEXP
func cmdMirrors(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: mirrors TERMINAL REGEXP")
	}
	re := regexp.MustCompile(strings.Join(args[1:], " "))
	output := func(name string, args ...string) string {
		cmd := exec.Command(firstDir(ts.Getenv("PATH"), name), args...)
		cmd.Env = []string{"HOME=" + ts.Getenv("HOME"), "PATH=" + ts.Getenv("PATH")}
		out, err := cmd.Output()
		if err != nil {
			return err.Error()
		}
		return string(out)
	}
	// tmux and peek show a moment; nothing reports that both show the same.
	for deadline := time.Now().Add(patience); ; {
		user := output("tmux", "-S", ts.MkAbs("tmux.sock"), "capture-pane", "-p")
		watcher := output("ssh", "host", "peek", args[0])
		same := strings.TrimRight(lastRows(user, watcher), "\n") == strings.TrimRight(watcher, "\n")
		if same && re.MatchString(watcher) {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("never the same and %q; the user sees\n%s\nthe host shows\n%s",
				re, user, watcher)
		}
	}
}

// lastRows returns the part of the user's screen that belongs to the shared shell. The rows above
// it were there before, and are shown to nobody else.
func lastRows(user, watcher string) string {
	first, _, _ := strings.Cut(watcher, "\n")
	i := strings.Index(user, "\n"+first+"\n")
	if first != "" && i >= 0 && !strings.HasPrefix(user, first+"\n") {
		return user[i+1:]
	}
	return user
}
