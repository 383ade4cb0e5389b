package host

// NoteKind is what a [Note] tells.
type NoteKind int

// The kinds of notes. "It" is the terminal's keyboard.
const (
	// NoteAsked: Who requests it from the holder, and First was the first to do so. Only the
	// holder's viewers get this note.
	NoteAsked NoteKind = iota
	// NoteGiven: Who has handed it to To.
	NoteGiven
	// NoteLeft: Who has no viewer any more, so To has it again.
	NoteLeft
	// NoteIdle: Who has typed nothing for a while, so To has it again.
	NoteIdle
	// NoteApproved, NoteRefused and NoteEdited: Who has approved or refused the input of Agent, or
	// types something else instead.
	NoteApproved
	NoteRefused
	NoteEdited
	// NoteGone: Agent's input does not wait for a decision any more, because of Why.
	NoteGone
	// NoteUntyped: what Agent typed, or a person let it type, waited for the program to read, and
	// was dropped, because of Why.
	NoteUntyped
	// NoteTrustOver: the approval of all that Agent types has ended, because of Why.
	NoteTrustOver
	// NoteHas: To has taken it.
	NoteHas
	// NoteHandedBack: Who has given it back to To, who had it before.
	NoteHandedBack
	// NoteAway and NoteBack: Who, the owner of the client-executed terminal, is away or back.
	NoteAway
	NoteBack
	// NoteUnasked: Who does not request it any more. Only the holder's viewers get this note.
	NoteUnasked
	// NoteControlMode: the program is tmux in its control mode.
	NoteControlMode
	// NoteStopped: Who has stopped the output; "": nobody knows who has.
	NoteStopped
	// NoteZmodem: the program has begun a Zmodem transfer, and was told that there is none.
	NoteZmodem
)

// Note tells the person at a viewer something about the terminal's keyboard, held input or owner.
type Note struct {
	Kind           NoteKind
	Who, To, First string // names; they may have control characters
	Mine, Yours    bool   // Who, and To, is the viewer's own person
	Agent, Why     string

	by string // the ID of the person that Who is; "": Mine stays false
}
