package host

// NoteKind is what a [Note] tells.
type NoteKind int

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

// noteLocked tells the viewer's person.
func (a *Attach) noteLocked(n Note) {
	select {
	case a.notes <- n:
	default: // its person reads nothing; the claim itself can be looked up
	}
}
