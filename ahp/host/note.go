package host

// NoteKind is what a [Note] tells.
type NoteKind int

// What became of a keyboard.
const (
	// NoteAsked: Who asks the holder for it; First was the first to do so. It goes to the holder's
	// viewers.
	NoteAsked NoteKind = iota
	// NoteGiven: Who has handed it to To.
	NoteGiven
	// NoteLeft: Who has no viewer any more, so To has it again.
	NoteLeft
	// NoteIdle: Who has typed nothing for a while, so To has it again.
	NoteIdle
	// NoteApproved, NoteRefused and NoteEdited: Who has decided about what Agent wants to type: to
	// type it, not to, or to type something else instead.
	NoteApproved
	NoteRefused
	NoteEdited
	// NoteGone: what Agent wants to type need not be decided any more; Why says why.
	NoteGone
	// NoteTrustOver: a person's yes to all that Agent types has ended; Why says why.
	NoteTrustOver
	// NoteHas: To has taken it.
	NoteHas
	// NoteHandedBack: Who has given it back to To, who had it before.
	NoteHandedBack
	// NoteAway and NoteBack: Who, who owns the client-executed terminal, is away or back.
	NoteAway
	NoteBack
	// NoteUnasked: Who does not ask for it any more. It goes to the holder's viewers.
	NoteUnasked
)

// Note tells the person at a viewer what became of the terminal's keyboard.
type Note struct {
	Kind           NoteKind
	Who, To, First string // names; they may have control characters
	// Mine and Yours: Who, and To, is the viewer's own principal.
	Mine, Yours bool

	Agent, Why string

	by string // the ID of the person who Who is; "": nobody is told that it was their own doing
}

// Notes returns what is to be told to the viewer's person. Nothing is sent to a viewer without a
// window.
func (a *Attach) Notes() <-chan Note { return a.notes }

// noteBacklog is how many notes wait for a viewer to show them; further ones are lost.
const noteBacklog = 4

// noteLocked tells the viewer's person.
func (a *Attach) noteLocked(n Note) {
	select {
	case a.notes <- n:
	default: // its person reads nothing; the claim itself can be looked up
	}
}
