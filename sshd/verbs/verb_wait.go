package verbs

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"

	"termhost/ahp/history"
	"termhost/ahp/host"
)

// defineWait waits until one of several terminals, or all, have ended, or for what the flags say.
func defineWait(fs *flag.FlagSet) func(*invocation) int {
	var w host.WaitFor
	fs.Func("match", "until a line matches `REGEX` (Go's syntax)", func(expr string) (err error) {
		w.Match, err = history.NewPattern(expr, false)
		return err
	})
	durationFlag(fs, &w.Idle, "idle", "until nothing has been printed for `D`, such as 2s")
	fs.BoolVar(&w.Command, "command", false, "until no command is running in its shell")
	fs.BoolVar(&w.Blocked, "blocked", false, "until its program waits for somebody to type")
	durationFlag(fs, &w.Timeout, "timeout", "for `D` at most; then the status is 124")
	all := fs.Bool("all", false, "of several, until the last of them, not the first")
	return func(v *invocation) int { return v.wait(w, *all) }
}

// waited is how the wait for one terminal has ended.
type waited struct {
	t   *host.Terminal
	how host.Waited
	err error
}

func (v *invocation) wait(w host.WaitFor, all bool) int {
	if w.Timeout < 0 || w.Idle < 0 {
		return v.misused("a duration must be positive")
	}
	pending, err := v.findAll(v.args)
	if err != nil {
		return v.failed(err)
	}
	ctx, cancel := context.WithCancel(v.ctx)
	defer cancel()
	ended := make(chan waited, len(pending))
	for _, t := range pending {
		v.Go("waiting for a terminal", func() {
			how, err := v.Conn.Wait(ctx, t, w)
			ended <- waited{t, how, err}
		})
	}
	several := len(v.args) > 1
	for {
		e := <-ended
		switch {
		case e.err != nil && v.cut():
			return v.cutShort(pending...)
		case e.err != nil:
			return v.failed(e.err)
		case e.how.Reason == host.WaitTimeout:
			return v.timedOut(pending, w.Timeout)
		}
		pending = slices.DeleteFunc(pending, func(t *host.Terminal) bool { return t == e.t })
		if all && len(pending) > 0 {
			continue
		}
		if several {
			fmt.Fprintln(v.stdout, e.t.Name())
		}
		if e.how.ExitCode == nil { // a command whose status the shell did not tell is no failure
			return StatusOK
		}
		return shownStatus(*e.how.ExitCode)
	}
}

// timedOut says what goes on after a wait.
func (v *invocation) timedOut(pending []*host.Terminal, after time.Duration) int {
	var names []string
	for _, t := range pending {
		names = append(names, t.Name())
	}
	verb := "goes"
	if len(names) > 1 {
		verb = "go"
	}
	fmt.Fprintf(v.stderr, "termhost: error: %s %s on after %v\n",
		strings.Join(names, ", "), verb, after)
	return StatusTimeout
}
