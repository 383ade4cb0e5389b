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

// What an agent starts is held back as what it types is, where terminals of agents are guarded: a
// program may do all that could be typed at a shell. Its terminal is there meanwhile, guarded and
// listed, but no process is. A yes starts exactly what was shown. A refusal ends the terminal, and
// so does the end of the host: nothing is left that could start later.
//
// An agent's shell needs no yes, since what is typed into it is guarded, unless it reads pipes or
// the agent has set its environment.

// Starting is a program that an agent wants to start, and about which a person has to decide. Its
// methods may be called concurrently.
type Starting struct {
	t        *Terminal
	prepared *ptypool.Prepared
	begin    func(note []byte) error // starts it; the Term's lock is held
	ask      *heldInput
	over     bool       // it has been decided; guarded by the Term's lock
	decided  chan error // gets why it was not started, once; nil: it was
}

// NotStartedError says that a program was not started because nobody has agreed to it.
type NotStartedError struct{ Why string }

func (e *NotStartedError) Error() string { return "not started: " + e.Why }

// Terminal returns the terminal, which is there already.
func (s *Starting) Terminal() *Terminal { return s.t }

// Withdraw ends the wait for a decision, if there was none yet.
func (s *Starting) Withdraw(why error) { s.t.approvals.withdraw(s.ask, why) }

// Wait waits for the decision, once. If the program was not started, it forgets the terminal and
// returns a *NotStartedError, or the *ptypool.StartError of one that could not be. The end of ctx
// withdraws the question.
func (s *Starting) Wait(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { s.Withdraw(context.Cause(ctx)) })
	defer stop()
	err := <-s.decided
	if err != nil {
		s.t.host.remove(s.t, "")
	}
	return err
}

// startsByYes reports whether what o starts must wait for a person's yes. guarded: the NAME is.
func (h *Host) startsByYes(o CreateOptions, guarded bool) bool {
	program := len(o.Argv) > 0 || o.Line != "" || len(o.Env) > 0 || o.Piped
	return o.byAgent() && program && !o.Forced && (guarded || h.cfg().GuardAgents)
}

// byAgent reports whether it is an agent that creates the terminal.
func (o *CreateOptions) byAgent() bool { return o.conn.agent() }

// prepare makes the Term without its program, which begin starts then.
func (s *Starting) prepare(
	spec ptypool.Spec, begin func(x *ptypool.Prepared, note []byte) error,
) (err error) {
	s.prepared, err = s.t.host.pool.Prepare(spec, s.t.Piped(), events{s.t})
	s.begin = func(note []byte) error { return begin(s.prepared, note) }
	return err
}

// askPeople asks for a person's yes to what text says. It is called once others find the terminal.
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
	k.starts, s.ask = s, k
	t.approvals.asksChanged()
	return nil
}

// holdStart holds a program that s wants to start, as holdBack does with input. The Term's lock is
// held.
func (ap *approvals) holdStart(s step, text string, answer func(error)) (*heldInput, error) {
	if len(text) > maxHeldText {
		return nil, ap.t.denied(errHeldCommand)
	}
	k := &heldInput{s: s, does: ahp.AskStarts, text: []byte(text), answer: answer}
	k.lines, k.hidden = visible.Lines(text)
	ap.askPeople(k)
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
	s.over = true
	if t.Piped() {
		t.approvals.on = false // nobody types into it
	}
	note := t.log.describe()
	t.warn(t.log.journal.Describe(note, t.host.now())) // first: what runs must not look refused
	if err := s.begin(note.Encode()); err != nil {
		s.over = false
		return err
	}
	t.waiting.noteActivity()
	return nil
}

// settled ends the terminal unless the program was started, and tells the one who waits. The Term's
// lock is held.
func (s *Starting) settled(why error) {
	if why != nil {
		s.over = true
		why = s.refused(why)
	}
	s.decided <- why
}

// refused shows why the program is not started, and returns that. The Term's lock is held.
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

// notFound is the exit code of a program that does not exist, as shells have it.
const notFound = 127

// unstarted reports whether the program still waits for a person's yes. The Term's lock is held.
func (ap *approvals) unstarted() bool { return ap.starting != nil && !ap.starting.over }

// withdrawStart has a program that waits for a person's yes never started. It returns false if
// there is none.
func (ap *approvals) withdrawStart(why string) bool {
	ap.t.term.Lock()
	defer ap.t.term.Unlock()
	if !ap.unstarted() {
		return false
	}
	k := ap.starting.ask
	ap.dropHeld(nil, errors.New(why), func(o *heldInput) bool { return o == k })
	return true
}

var errUnstarted = &authz.Denied{Verb: authz.Input,
	Rule: "its program has not been started: that waits for a person's approval"}

// commandText returns what a program is started with, as a person reads it: in the notation of
// shells, first the folder and then the variables that were asked for, the program and its
// arguments.
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
