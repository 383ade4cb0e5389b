package sshd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/charmbracelet/x/ansi"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/store"
)

// waitFor is what `wait` ends at, besides the terminal's own end.
type waitFor struct {
	match   *regexp.Regexp // a line that is shown; nil: none
	idle    time.Duration  // without output; 0: none
	command bool           // the running command is over
	timeout time.Duration  // 0: none
}

// runWait waits until a terminal has ended, or for what the flags say.
func runWait(v *invocation) int {
	fs := v.flags()
	var w waitFor
	fs.Func("match", "", func(expr string) (err error) {
		w.match, err = regexp.Compile(expr)
		return err
	})
	durationFlag(fs, &w.idle, "idle")
	fs.BoolVar(&w.command, "command", false, "")
	durationFlag(fs, &w.timeout, "timeout")
	args, status, done := v.parse(fs, 1, 1)
	switch {
	case done:
		return status
	case w.timeout < 0 || w.idle < 0:
		return v.misused("a duration must be positive")
	}
	t, err := v.host().Find(v.principal(), args[0])
	if err != nil {
		return v.failed(err)
	}
	// A read-only attach sees every byte and every command from now on.
	a, first, err := v.conn().Attach(t, host.AttachOptions{ReadOnly: true})
	if err != nil {
		return v.failed(err)
	}
	defer a.Close()
	return v.wait(a, first, w)
}

var errNoCommands = errors.New("this terminal's shell does not tell of its commands; wait with --match or --idle")

// wait watches a terminal until w holds or it ends.
func (v *invocation) wait(a *host.Attach, first []byte, w waitFor) int {
	t := a.Terminal()
	lines := &lineMatcher{expr: w.match}
	if w.match != nil && lines.add(first) {
		return statusOK
	}
	if w.command {
		status, over, err := v.lastCommand(t)
		switch {
		case err != nil:
			return v.failed(err)
		case over:
			return status
		}
	}
	idle, late := after(w.idle), after(w.timeout)
	defer idle.Stop()
	defer late.Stop()
	var items []store.Item
	for {
		items = a.Pull(items[:0], pullBytes)
		for i := range items {
			if items[i].Lagged != nil && w.seesState(a, lines) {
				return statusOK
			}
			if status, over := w.sees(items[i], lines); over {
				return status
			}
			idle.Reset(max(w.idle, 0))
			if w.idle == 0 {
				idle.Stop()
			}
		}
		if len(items) > 0 {
			continue
		}
		select {
		case <-a.Signal():
		case <-t.Done():
			st, _ := t.Exit()
			return statusOf(st)
		case <-idle.C:
			return statusOK
		case <-late.C:
			fmt.Fprintf(v.stderr, "termhost: error: %s goes on after %v\n", t.Name(), w.timeout)
			return statusTimeout
		case <-v.s.ctx.Done():
			return v.failed(context.Cause(v.s.ctx))
		}
	}
}

// after returns a timer that fires after d, or never for 0.
func after(d time.Duration) *time.Timer {
	t := time.NewTimer(max(d, time.Hour))
	if d == 0 {
		t.Stop()
		return t
	}
	t.Reset(d)
	return t
}

// lastCommand returns the status of the last command, if none is running.
func (v *invocation) lastCommand(t *host.Terminal) (status int, over bool, err error) {
	st, err := v.host().Read(v.principal(), t)
	switch {
	case err != nil:
		return 0, false, err
	case !st.Detection:
		return 0, false, errNoCommands
	case st.Running() != nil:
		return 0, false, nil
	}
	for i := len(st.Content) - 1; i >= 0; i-- {
		if c := st.Content[i].Command; c != nil {
			return codeOf(c.ExitCode), true, nil
		}
	}
	return 0, false, nil
}

// codeOf is a command's status; one that the shell did not tell is no failure.
func codeOf(code *int) int {
	if code == nil {
		return statusOK
	}
	return shownStatus(*code)
}

// sees reports whether what came is what is waited for.
func (w *waitFor) sees(it store.Item, lines *lineMatcher) (status int, over bool) {
	if it.Entry == nil {
		return 0, false
	}
	switch act := it.Entry.Action().(type) {
	case ahp.TerminalData:
		return statusOK, w.match != nil && lines.add(act.Data)
	case ahp.TerminalCommandFinished:
		return codeOf(act.ExitCode), w.command
	}
	return 0, false
}

// seesState looks at everything that is retained, after some of the output came
// too fast to be looked at.
func (w *waitFor) seesState(a *host.Attach, lines *lineMatcher) bool {
	state, err := a.Redraw()
	if err != nil || w.match == nil {
		return false // disposed: the end comes next
	}
	lines.current = nil
	return lines.add(state)
}

// lineMatcher looks for lines in output, without what is not text in them.
type lineMatcher struct {
	expr    *regexp.Regexp
	current []byte // the line so far
}

// maxMatchLine bounds a line that is looked at, in bytes; of a longer one its
// end is.
const maxMatchLine = 64 << 10

// add reports whether a line that p ends, or is part of, matches. p ends between
// two escape sequences, as all output of the host does.
func (m *lineMatcher) add(p []byte) bool {
	text := []byte(ansi.Strip(string(p)))
	for len(text) > 0 {
		line, rest, ended := cutLine(text)
		m.current = append(m.current, line...)
		if over := len(m.current) - maxMatchLine; over > 0 {
			m.current = append(m.current[:0], m.current[over:]...)
		}
		if m.expr.Match(m.current) {
			return true
		}
		if ended {
			m.current = m.current[:0]
		}
		text = rest
	}
	return false
}

// cutLine cuts at the first line end; a lone \r is one too.
func cutLine(p []byte) (line, rest []byte, ended bool) {
	i := bytes.IndexAny(p, "\r\n")
	if i < 0 {
		return p, nil, false
	}
	return p[:i], p[i+1:], true
}
