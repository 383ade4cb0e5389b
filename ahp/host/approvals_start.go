package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"termhost/ahp"
	"termhost/ahp/visible"
	"termhost/authz"
	"termhost/ptypool"
)

// Where terminals of agents are guarded, a program that an agent starts waits for approval just as
// its input does: a program may do all that can be typed at a shell. Meanwhile its terminal is
// listed and guarded, but has no process. An approval starts exactly what was shown. A refusal ends
// the terminal, and so does the end of the host: nothing is left that could start later.
//
// An agent's shell starts without approval, because input to it is guarded, unless it reads pipes
// or the agent has set its environment.

// NotStartedError says that a program was not started because nobody has approved it.
type NotStartedError struct{ Why string }

func (e *NotStartedError) Error() string { return "not started: " + e.Why }

// Terminal returns the program's terminal, which exists already.
func (s *Starting) Terminal() *Terminal { return s.t }

// Withdraw gives the program up, for the reason why, if nobody has decided about it yet.
func (s *Starting) Withdraw(why error) { s.t.approvals.withdraw(s.held, why) }

// Wait waits for the decision; it may be called once. If the program was not started, Wait forgets
// the terminal and returns a *NotStartedError, or a *ptypool.StartError if the program could not be
// started. The end of ctx withdraws the program.
func (s *Starting) Wait(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { s.Withdraw(context.Cause(ctx)) })
	defer stop()
	err := <-s.decided
	if err != nil {
		s.t.host.remove(s.t, "")
	}
	return err
}

// Approved returns who has approved the program, for display, such as "approved by ana". It is
// called when Wait has returned no error.
func (s *Starting) Approved() string { return s.held.approved }

// startNeedsApproval reports whether what o starts waits for approval. guarded: its NAME is
// guarded.
func (h *Host) startNeedsApproval(o CreateOptions, guarded bool) bool {
	program := len(o.Argv) > 0 || o.Line != "" || len(o.Env) > 0 || o.Piped
	return o.byAgent() && program && !o.Forced && (guarded || h.cfg().GuardAgents)
}

// HoldsStart reports whether a program that the connection's peer starts on pipes waits for a
// person's approval, which only that of a terminal can: see [Conn.Create].
func (c *Conn) HoldsStart(o CreateOptions) bool {
	o.conn, o.Piped = c, true
	return c.host.startNeedsApproval(o, false)
}

// byAgent reports whether an agent creates the terminal.
func (o *CreateOptions) byAgent() bool { return o.conn.agent() }

// prepare makes the Term without its program, which begin starts later.
func (s *Starting) prepare(
	spec ptypool.Spec, begin func(x *ptypool.Prepared, note []byte) error,
) (err error) {
	s.prepared, err = s.t.host.pool.Prepare(spec, s.t.Piped(), events{s.t})
	s.begin = func(note []byte) error { return begin(s.prepared, note) }
	return err
}

// hold asks for a person's approval of text, the command. It is called once others find the
// terminal.
func (s *Starting) hold(by *Conn, text string) error {
	t := s.t
	t.term.Lock()
	defer t.term.Unlock()
	k, err := t.approvals.holdStart(step{conn: by, principal: t.origin.creator}, text, s.settled)
	if err != nil {
		s.over = true
		t.term.Hangup(0)
		return err
	}
	k.starts, s.held = s, k
	t.approvals.publishHeld()
	return nil
}

// holdStart is holdBack for a program that s wants to start. The Term's lock is held.
func (ap *approvals) holdStart(s step, text string, answer func(error)) (*heldInput, error) {
	if len(text) > maxHeldText {
		return nil, ap.t.denied(errHeldCommand)
	}
	k := &heldInput{s: s, does: ahp.AskStarts, text: []byte(text), answer: answer}
	k.lines, k.hidden = visible.Lines(text)
	ap.requestDecision(k)
	return k, nil
}

var errHeldCommand = &authz.Denied{Verb: authz.Create, Rule: fmt.Sprintf("what agents start waits"+
	" for a person's approval, and is at most %d bytes long; use a script", maxHeldText)}

// approved starts the program. The Term's lock is held.
func (s *Starting) approved() error {
	t := s.t
	if s.over {
		return ErrExited
	}
	s.over, s.begun = true, true
	if t.Piped() {
		t.approvals.on = false // nobody types into it
	}
	t.log.writeDecisions()
	note := t.log.describe()
	t.warn(t.log.journal.Describe(note, t.host.now())) // first: what runs must not seem held
	if err := s.begin(note.Encode()); err != nil {
		s.over, s.begun = false, false
		return err
	}
	t.ch.SetMeta(func(m *ahp.TerminalMeta) { m.Program = ahp.LineBeginning(t.programLocked()) })
	t.waiting.active()
	return nil
}

// programLocked returns [Info.Program]. What nobody has approved is for those who may. The Term's
// lock is held.
func (t *Terminal) programLocked() string {
	if s := t.approvals.starting; s != nil && !s.begun {
		return ""
	}
	return t.origin.program
}

// settled ends the terminal unless the program was started, and wakes Wait. The Term's lock is
// held.
func (s *Starting) settled(why error) {
	if why != nil {
		s.over = true
		why = s.refused(why)
	}
	s.decided <- why
}

// refused shows in the terminal why the program is not started, and returns the reason. The Term's
// lock is held.
func (s *Starting) refused(why error) error {
	code, text := ptypool.NotStarted, Printable(why.Error())
	var start *ptypool.StartError
	switch {
	case errors.As(why, &start):
		if errors.Is(why, ptypool.ErrNotFound) && start.Interpreter == "" {
			code = notFound
		}
		text = Printable(start.Error())
	case errors.Is(why, ErrExited):
		text = strings.TrimSpace("the terminal was ended " + Printable(s.t.EndedBy()))
		fallthrough
	default:
		why = &NotStartedError{text}
	}
	s.t.ending("before it had started: " + text)
	s.prepared.Refuse([]byte("not started: "+text+"\r\n"), code)
	return why
}

// notFound is a shell's exit code for a program that does not exist.
const notFound = 127

// withdrawStart gives up a program that waits for approval. It returns false if there is none.
func (ap *approvals) withdrawStart(why string) bool {
	ap.t.term.Lock()
	defer ap.t.term.Unlock()
	if !ap.unstarted() {
		return false
	}
	k := ap.starting.held
	ap.dropHeld(nil, errors.New(why), func(o *heldInput) bool { return o == k })
	return true
}

// guardNewLocked guards t, which is being created, if it has to be, and prepares for a person's
// approval if its program needs one. keyboard: t takes keys. Host.mu is held.
func (h *Host) guardNewLocked(t *Terminal, o CreateOptions, keyboard bool) {
	again := o.byAgent() && h.guarded.has(t.Name())
	if !o.byAgent() {
		h.noteGuardedLocked(t.Name(), false)
	}
	t.approvals.nameGuarded = keyboard && (again || o.Guarded && !o.byAgent())
	t.approvals.on = keyboard && (again || o.Guarded || h.cfg().GuardAgents)
	if h.startNeedsApproval(o, again) {
		t.approvals.on = true
		t.approvals.starting = &Starting{t: t, decided: make(chan error, 1)}
	}
}

var errUnstarted = &authz.Denied{Verb: authz.Input,
	Rule: "its program has not been started: that waits for a person's approval"}

// commandText returns a program's start in the notation of shells, for people: the folder, and on
// the next line the variables in env, the program and its arguments.
func commandText(spec *ptypool.Spec, argv, env []string) string {
	words := make([]string, 0, len(env)+len(argv))
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		words = append(words, shellWord(name)+"="+shellWord(value))
	}
	for i, arg := range argv {
		word := shellWord(arg)
		if i == 0 && word == arg && strings.Contains(arg, "=") {
			word = "'" + arg + "'" // else it would be another variable
		}
		words = append(words, word)
	}
	return "cd " + shellWord(spec.Dir) + "\n" + strings.Join(words, " ")
}

// shellWord returns a word that a shell reads as s.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("_@%+=:,./-", r)
	}
	if s != "" && !slices.ContainsFunc([]rune(s), func(r rune) bool { return !plain(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
