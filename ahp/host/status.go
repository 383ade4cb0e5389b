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
// program says something else, or it or the command that runs in the terminal's shell ends; what a
// command has said with its last words until the next command begins: see [Said].
type Status struct {
	State State     `json:"state"`
	Text  string    `json:"text,omitempty"` // for display
	Since time.Time `json:"since"`          // in this state; in UTC
}

// Said is what somebody says of a terminal's program.
type Said struct {
	State State
	Text  string // for people
	// About names what it is about, such as one use of a tool; "": the program as a whole. That a
	// program works on one thing does not answer what it has asked about another.
	About string
	// Program: the program says so that the shell's command runs. When the command ends, so does
	// this. Otherwise that it is done or has failed is the command's last word, which stays until
	// the next one, unless a program fills the screen.
	Program bool
}

// maxStatusText bounds the text of a status, and what it is about, in bytes: a line of a wide
// window.
const maxStatusText = 256

// status has what the terminal's program says of itself. The Term's lock guards it.
type status struct {
	t           *Terminal
	now         Status // zero: it has not said
	about       string // see Said
	until       until
	acts, looks uint64 // the terminal's when it was said last: see attention
}

// until is what ends a status.
type until string

const (
	untilEnd   until = ""     // of the command that runs, or of the next one
	untilNext  until = "next" // the next command's beginning, once this one has ended
	untilBegin until = "begin"
)

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
// The same again is nothing new until somebody has looked or typed, or a command has begun.
// SetStatus returns *authz.Denied, [*StateError], ErrExited, or why the connection has ended.
func (c *Conn) SetStatus(t *Terminal, said Said) error {
	if !said.State.valid() {
		return &StateError{string(said.State)}
	}
	said.Text = Printable(said.Text[:ahp.WholeRunes(said.Text, maxStatusText)])
	said.About = said.About[:ahp.WholeRunes(said.About, maxStatusText)]
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
	t.status.say(said, c.Name())
	return nil
}

// say takes a report on the program, and its author's name. The Term's lock is held.
func (s *status) say(said Said, by string) {
	t := s.t
	asks := t.waiting.Said() // and nobody has typed since
	if asks && s.about != "" && said.About != s.about && said.About != "" &&
		said.State == StatusWorking {
		return // it still asks
	}
	if asks && said.State == StatusWaiting && said.About == "" {
		said.About = s.about // the same in other words
	}
	fresh := said.State != s.now.State ||
		s.acts != t.attention.acts || s.looks != t.attention.looks
	if !fresh && said.Text == s.now.Text && asks == (said.State == StatusWaiting) {
		return
	}
	turn := said.State != s.now.State
	s.about, s.acts, s.looks = said.About, t.attention.acts, t.attention.looks
	s.until = untilEnd
	last := said.State == StatusDone || said.State == StatusFailed
	if last && !said.Program && t.commands.running != "" && !t.term.Screen().AltScreen() {
		s.until = untilNext
	}
	s.set(said.State, said.Text)
	if fresh && asks && said.State == StatusWaiting {
		t.waiting.tell(t.waiting.AsksAnew(t.host.now()))
	}
	t.emit(Event{Kind: EventStatus, Status: said.State, By: by})
	switch said.State {
	case StatusDone:
		t.attention.happened(WantDone, said.Text, turn)
	case StatusFailed:
		t.attention.happened(WantFailed, said.Text, turn)
	}
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
		s.now, s.about, s.until = Status{}, "", untilEnd
	}
	s.publish(state == StatusWaiting)
	s.record()
}

// record logs the status for the next host.
func (s *status) record() {
	if s.now.State == StatusNone {
		s.t.log.recordStatus(nil)
		return
	}
	s.t.log.recordStatus(&journal.Status{State: string(s.now.State), Text: s.now.Text,
		Since: s.now.Since, About: s.about, Until: string(s.until),
		Answered: s.now.State == StatusWaiting && !s.t.waiting.Said()})
}

// commandBegins takes away what an earlier command has said. The Term's lock is held.
func (s *status) commandBegins() {
	if s.until == untilBegin {
		s.over()
	}
}

// commandEnds takes away what was about the command, unless it was its last word. The Term's lock
// is held.
func (s *status) commandEnds() {
	if s.t.kept.replay != nil || s.now.State == StatusNone {
		return
	}
	if s.until != untilNext {
		s.over()
		return
	}
	s.until = untilBegin
	s.record()
}

// over takes the status away, because what it was about has ended. The Term's lock is held.
func (s *status) over() {
	if s.now.State != StatusNone && s.t.kept.replay == nil {
		s.set(StatusNone, "")
	}
}

// publish shows the status in the terminal's state and in listings. asks: it waits, and nobody has
// answered.
func (s *status) publish(asks bool) {
	t, now := s.t, s.now
	t.ch.SetMeta(func(m *ahp.TerminalMeta) { m.Status = now.meta() })
	t.waiting.tell(t.waiting.Says(t.host.now(), asks, now.Text))
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
	s.about, s.until = was.About, until(was.Until)
	s.publish(s.now.State == StatusWaiting && !was.Answered)
}
