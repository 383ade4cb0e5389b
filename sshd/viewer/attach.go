package viewer

import (
	"context"

	"termhost/ahp/host"
)

// Options say how a terminal is shown.
type Options struct {
	// Greet: begin with a notice of Greeting, if it is not "", and of the terminals that need
	// attention.
	Greet    bool
	Greeting string
	// First: the person has never been in a terminal here. The notice says where they are.
	First bool
	// Unheeded is what the person has chosen in vain, each a line of the first notice.
	Unheeded []string
	// Came: the terminal is not new. If Greeting is "", the notice says since when its owner is
	// away, or what to do if another holds the keyboard.
	Came bool
	// Away: the person comes from another terminal, of another host perhaps, and goes back there
	// when this one has ended, after a look at how. Arriving says why they come; "": nothing does.
	Away     bool
	Arriving string
	// Over: the program had exited before. The last line says how.
	Over bool
	// Unasked: do not send askColors and askKind. The program may end before the answers come,
	// which would then be typed at the user's shell.
	Unasked bool
	// Listed: the viewer goes back to a list, which says how it has ended.
	Listed bool
	// Again is the command line for a peer without a terminal to repeat if the host restarts; "":
	// what Session.ComeBack returns.
	Again string
}

// Ending is how showing a terminal ended.
type Ending int

const (
	Exited   Ending = iota // the program has exited, and all of its output is shown
	Detached               // the viewer has detached
	Kicked                 // somebody else has detached the viewer
	Lost                   // the peer's streams have ended
	WentOn                 // the person goes to a terminal that Session.Elsewhere has ready
)

// Attach shows a's terminal until its program exits, the viewer detaches, or ctx, which ends with
// the peer's streams, is done. first draws the present screen. It returns how that ended and the
// exit code of the last terminal: the viewer may have switched. It closes a.
func Attach(ctx context.Context, s *Session, a *host.Attach, first []byte, o Options) (
	end Ending, code int) {
	w := newViewer(ctx, s, a, o)
	defer func() { w.a.Close() }()
	var plain *fromCRLF
	if !w.interactive {
		plain = &fromCRLF{w: w.out}
		w.out = plain
	}
	switch {
	case o.Arriving != "" && w.draws:
		w.cover(s.arriving(a, o.Over, o.Arriving))
	case (o.Greet || len(o.Unheeded) > 0) && w.draws:
		w.welcome()
	}
	w.enter()
	w.shows()
	s.Go("reading what is typed", w.typed.run)
	end = w.watch(first)
	if plain != nil {
		_ = plain.flush()
	}
	if end == Exited {
		w.awaitAnswers()
		w.showsNothing()
	}
	w.leaves(end)
	w.finish(end)
	st, _ := w.t.Exit()
	return end, st.Code
}
