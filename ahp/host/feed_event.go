package host

import (
	"time"

	"termhost/ahp"
)

// EventKind is what happened to a terminal. The names are those of `events --json`.
type EventKind string

// The kinds. By is the name of whoever did it, where somebody did.
const (
	// EventCreated: a program was started in a new terminal, or an owner shares one.
	EventCreated EventKind = "created"
	// EventExited: the program has ended, with ExitCode.
	EventExited EventKind = "exited"
	// EventRenamed: By has given the terminal, which was called Was, another NAME.
	EventRenamed EventKind = "renamed"
	// EventDisposed: the terminal is not listed any more. Without By, the host has forgotten it.
	EventDisposed EventKind = "disposed"
	// EventCommandStarted: the shell runs a command that By has typed, or without By nobody.
	EventCommandStarted EventKind = "commandStarted"
	// EventCommandFinished: that command has ended, with ExitCode and after DurationMs.
	EventCommandFinished EventKind = "commandFinished"
	// EventWaits: somebody has to answer, as Waiting says.
	EventWaits EventKind = "waits"
	// EventAnswered: By has typed an answer to that.
	EventAnswered EventKind = "answered"
	// EventHolderChanged: By has given the claim to To, or taken it. Without By it went back to To
	// by itself.
	EventHolderChanged EventKind = "holderChanged"
	// EventQuiet: the program has printed nothing for long.
	EventQuiet EventKind = "quiet"
	// EventAsksKeyboard: By asks To, who holds the claim, for the keyboard.
	EventAsksKeyboard EventKind = "asksKeyboard"
	// EventAsks: the agent By wants to type, and a person has to decide.
	EventAsks EventKind = "asks"
	// EventApproved: By lets the agent To type what it asked to.
	EventApproved EventKind = "approved"
	// EventRefused: By does not, or without By nobody has decided in time, or what To typed before
	// the program read it was dropped, for Reason.
	EventRefused EventKind = "refused"
	// EventTrustOver: a yes to all that To types has ended; Reason says why.
	EventTrustOver EventKind = "trustOver"
	// EventBell: the program has rung the bell. Of several within a second it is the first.
	EventBell EventKind = "bell"
	// EventNotice: the program has sent a desktop notification; of several within a second it is
	// the first.
	EventNotice EventKind = "notice"
	// EventStatus: By, or the program itself, says how the program stands: Status.
	EventStatus EventKind = "status"
	// EventLabels: By has changed the labels.
	EventLabels EventKind = "labels"
	// EventAttached: By looks at the terminal in an SSH session.
	EventAttached EventKind = "attached"
	// EventDetached: By does not any more.
	EventDetached EventKind = "detached"
	// EventLost: the reader was too slow and has missed Count events.
	EventLost EventKind = "lost"
)

// Event is something that happened to a terminal; its JSON is a line of `events --json`. It never
// has anything that was typed or printed, nor command lines, which may name secrets. Its strings
// are free of control characters.
type Event struct {
	Time       time.Time `json:"time"` // in UTC
	Kind       EventKind `json:"event"`
	Terminal   string    `json:"terminal,omitempty"` // its NAME; "" with EventLost only
	Was        string    `json:"was,omitempty"`      // its NAME before it was renamed
	Ask        string    `json:"ask,omitempty"`      // "@7", of EventAsks and its decision
	By         string    `json:"by,omitempty"`
	To         string    `json:"to,omitempty"`
	Waiting    Waiting   `json:"waiting,omitempty"`
	Status     State     `json:"status,omitempty"`
	ExitCode   *int      `json:"exitCode,omitempty"` // nil: unknown, or the kind has none
	DurationMs *int64    `json:"durationMs,omitempty"`
	// Reason is why By has refused; of an ask it is for those only who may read that.
	Reason string `json:"reason,omitempty"`
	Count  uint64 `json:"count,omitempty"`

	// id and created tell apart the terminals that had the same NAME. An
	// event does not keep a terminal in memory that is gone.
	id      string
	created time.Time
	labels  ahp.Labels
	from    *Conn  // who did it, for the audit log; the feed does not keep it
	asker   string // the ID of the principal whose Ask it is
}
