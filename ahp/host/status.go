package host

import (
	"context"
	"slices"
	"strings"
	"time"

	"termhost/ahp"
	"termhost/ahp/journal"
	"termhost/authz"
)

// State is how a terminal's program stands, by its own account.
type State string

// The states.
const (
	StatusNone    State = "" // it has not said
	StatusWorking State = "working"
	StatusWaiting State = "waiting" // for somebody to type
	StatusDone    State = "done"
	StatusFailed  State = "failed"
)

// States returns the states that a program can say.
func States() []State { return []State{StatusWorking, StatusWaiting, StatusDone, StatusFailed} }

// Status is what a terminal's program says of itself, or somebody on its behalf. It holds until the
// program says something else, a command of the terminal's shell ends, or the program does.
type Status struct {
	State State     `json:"state"`
	Text  string    `json:"text,omitempty"` // for display
	Since time.Time `json:"since"`          // in this state; in UTC
}

// maxStatusText bounds the text of a status, in bytes: a line of a wide window.
const maxStatusText = 256

// status has what the terminal's program says of itself. The Term's lock guards it.
type status struct {
	t   *Terminal
	now Status // zero: it has not said
}

// StateError says that there is no such state.
type StateError struct{ State string }

func (e *StateError) Error() string {
	var all []string
	for _, s := range States() {
		all = append(all, string(s))
	}
	return "there is no status " + Printable(clip(e.State)) + "; it is " + strings.Join(all, ", ")
}

// SetStatus sets what t's program says of itself, for people: that it waits makes t wait for
// somebody to type, until somebody does; that it is done or has failed wants those who do not look.
// It returns *authz.Denied, [*StateError], ErrExited, or why the connection has ended.
func (c *Conn) SetStatus(t *Terminal, state State, text string) error {
	if !state.valid() {
		return &StateError{string(state)}
	}
	text = Printable(text[:ahp.WholeRunes(text, maxStatusText)])
	t.term.Lock()
	defer t.term.Unlock()
	if c.ctx.Err() != nil {
		return context.Cause(c.ctx)
	}
	err := authz.Check(c.principal, authz.Describe, t.target(step{principal: c.principal}))
	switch {
	case err != nil:
		return err
	case t.life.exited:
		return ErrExited
	}
	if was := t.status.now; was.State == state && was.Text == text &&
		t.waiting.needs.said == (state == StatusWaiting) {
		return nil
	}
	t.status.set(state, text)
	t.emit(Event{Kind: EventStatus, Status: state, By: c.Name()})
	switch state {
	case StatusDone:
		t.attention.happened(WantDone, text)
	case StatusFailed:
		t.attention.happened(WantFailed, text)
	}
	return nil
}

func (s State) valid() bool { return slices.Contains(States(), s) }

// set changes the status, and tells everybody. The Term's lock is held.
func (s *status) set(state State, text string) {
	t := s.t
	now := Status{state, text, s.now.Since}
	if state != s.now.State {
		now.Since = t.host.now().UTC()
	}
	s.now = now
	if state == StatusNone {
		s.now = Status{}
		t.log.recordStatus(nil)
	} else {
		t.log.recordStatus(&journal.Status{State: string(state), Text: text, Since: now.Since})
	}
	s.publish()
}

// over takes the status away, because what it was about has ended. The Term's lock is held.
func (s *status) over() {
	if s.now.State != StatusNone && s.t.kept.replay == nil {
		s.set(StatusNone, "")
	}
}

// publish shows the status in the terminal's state and in listings.
func (s *status) publish() {
	t, now := s.t, s.now
	t.ch.SetMeta(func(m *ahp.TerminalMeta) { m.Status = now.meta() })
	t.waiting.set(func(w *needs) {
		w.said, w.words = now.State == StatusWaiting, now.Text
	}, "")
	t.host.list.changed()
}

func (s Status) meta() (m ahp.Status) {
	if s.State != StatusNone {
		m = ahp.Status{State: string(s.State), Text: s.Text, Since: s.Since.Format(time.RFC3339)}
	}
	return m
}

// restore takes over what a program that runs has said to an earlier host, before others know the
// terminal.
func (s *status) restore(was *journal.Status) {
	if was == nil || !State(was.State).valid() {
		return
	}
	s.now = Status{State(was.State), was.Text, was.Since.UTC()}
	s.publish()
}
