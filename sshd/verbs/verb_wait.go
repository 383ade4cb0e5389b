package verbs

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"

	"termhost/ahp"
	"termhost/ahp/history"
	"termhost/ahp/host"
)

// defineWait waits until the first of several terminals, or the last, has ended, or for the
// conditions that the flags set.
func defineWait(fs *flag.FlagSet) func(*invocation) int {
	var w host.WaitFor
	var match *history.Expression
	fs.Func("match", "until a line matches `REGEX` (Go's syntax)", func(expr string) (err error) {
		match, err = history.ParseExpression(expr, false)
		return err
	})
	durationFlag(fs, &w.Idle, "idle", "until nothing has been printed for `D`, such as 2s")
	fs.BoolVar(&w.Command, "command", false, "until no command is running in its shell")
	fs.BoolVar(&w.Blocked, "blocked", false, "until its program waits for somebody to type")
	durationFlag(fs, &w.Timeout, "timeout", "for `D` at most; then the status is 124")
	all := fs.Bool("all", false, "of several, until the last of them, not the first")
	var s ahp.Selector
	selectorFlag(fs, &s)
	return func(v *invocation) int {
		if len(v.args) == 0 && len(s) == 0 {
			return v.misused("wait needs an argument")
		}
		if match != nil {
			pattern, release, err := v.Conn.Pattern(match.String(), false)
			if err != nil {
				return v.failed(err)
			}
			defer release()
			w.Match = pattern
		}
		return v.wait(w, *all, s)
	}
}

// waited is the end of a wait for one terminal.
type waited struct {
	t   *host.Terminal
	how host.Waited
	err error
}

func (v *invocation) wait(w host.WaitFor, all bool, s ahp.Selector) int {
	if w.Timeout < 0 || w.Idle < 0 {
		return v.misused("a duration must be positive")
	}
	if len(v.args) == 0 {
		if status, done := v.waitOnMatching(selects(s), w.Timeout); done {
			return status
		}
	}
	pending, err := v.selected(v.args, s)
	if err != nil {
		return v.failed(err)
	}
	ctx, cancel := context.WithCancel(v.ctx)
	defer cancel()
	ended := make(chan waited, len(pending))
	await := func(t *host.Terminal) {
		how, err := v.Conn.Wait(ctx, t, w)
		ended <- waited{t, how, err}
	}
	// Those that have ended come first, in the order in which they did.
	ends := map[*host.Terminal]time.Time{}
	for _, t := range pending {
		ends[t] = exitedAt(t)
	}
	slices.SortStableFunc(pending, func(a, b *host.Terminal) int {
		return ends[a].Compare(ends[b])
	})
	for _, t := range pending {
		if ends[t] != never {
			await(t) // which returns at once
		} else {
			v.Go("waiting for a terminal", func() { await(t) })
		}
	}
	several := len(v.args) > 1 || len(s) > 0
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
			fmt.Fprintln(v.stdout, v.shown(e.t.Name()))
		}
		if e.how.ExitCode == nil { // a command of unknown status is no failure
			return StatusOK
		}
		return shownStatus(*e.how.ExitCode)
	}
}

// never is later than the end of any terminal.
var never = time.Unix(1<<60, 0)

// exitedAt returns when a terminal has ended; never: it runs.
func exitedAt(t *host.Terminal) time.Time {
	select {
	case <-t.Done():
		return t.ExitedAt()
	default:
		return never
	}
}

// timedOut reports what still runs after a wait.
func (v *invocation) timedOut(pending []*host.Terminal, after time.Duration) int {
	var names []string
	for _, t := range pending {
		names = append(names, v.shown(t.Name()))
	}
	fmt.Fprintf(v.stderr, "termhost: error: still waiting for %s after %v\n",
		strings.Join(names, ", "), after)
	return StatusTimeout
}
