package host

import (
	"errors"
	"fmt"

	"termhost/authz"
	"termhost/ptypool/keeper"
)

// KeeperError says that the keeper runs and does not answer; its text names the keeper, and says
// what to do.
type KeeperError = keeper.StoppedError

// ErrGone says that a terminal was disposed.
var ErrGone = errors.New(reasonUnknown)

// EndedError refuses a request whose connection or object has ended.
type EndedError struct{ Cause error } // the cause may be shown to the peer

func (e *EndedError) Error() string { return e.Cause.Error() }

// Unwrap returns the cause.
func (e *EndedError) Unwrap() error { return e.Cause }

// UnknownChannelError says that a connection's principal sees no channel of a name.
type UnknownChannelError struct{ Channel string } // cut to what an answer may repeat

func (e *UnknownChannelError) Error() string {
	return "there is no channel " + Printable(e.Channel) + "; it may have been disposed"
}

// ExistsError says that another terminal has the NAME or the URI.
type ExistsError struct{ Name string }

func (e *ExistsError) Error() string {
	return fmt.Sprintf("a terminal named %q exists; choose another name, or attach to it", e.Name)
}

// KickedError says who has ended a view.
type KickedError struct {
	By       string
	Terminal string // the NAME of what was viewed
}

func (e *KickedError) Error() string { return e.By + " has ended your view of " + e.Terminal }

// ClaimError says that nobody can hold a new terminal by a claim.
type ClaimError struct {
	Executes bool // it is that of a client-executed terminal
	Reason   string
}

func (e *ClaimError) Error() string {
	if e.Executes {
		return e.Reason
	}
	return "claim " + e.Reason
}

// NameError says that a NAME is illegal.
type NameError struct{ Name string }

func (e *NameError) Error() string {
	return fmt.Sprintf("%q cannot name a terminal: "+
		"use 1 to 64 letters a-z or A-Z, digits, dots, underscores and dashes",
		Printable(clip(e.Name)))
}

// NotKeptError says that what a person has decided about a terminal would be lost with the host, so
// it has not been done.
type NotKeptError struct {
	Terminal string // its NAME
	Why      string // such as "disk full"
}

func (e *NotKeptError) Error() string {
	return fmt.Sprintf("%s: nothing of it is kept for the next host, so %s is left as it was; "+
		"make room in the host's state folder and try again", e.Why, e.Terminal)
}

// HeldError refuses what only the holder of a terminal may do.
type HeldError struct {
	Terminal string // its NAME
	Holder   string // for people
	Agent    bool   // the holder is an agent, which cannot be asked
	Denied   *authz.Denied
}

func (e *HeldError) Error() string {
	switch e.Denied.Verb {
	case authz.Dispose:
		return fmt.Sprintf("%s has the keyboard of %s; only they or an admin may end it",
			e.Holder, e.Terminal)
	case authz.Name:
		return fmt.Sprintf("%s has the keyboard of %s; only they or an admin may rename it",
			e.Holder, e.Terminal)
	}
	return fmt.Sprintf("%s has the keyboard of %s; an admin can take it", e.Holder, e.Terminal)
}

// Unwrap returns the policy's refusal.
func (e *HeldError) Unwrap() error { return e.Denied }

// DirError says that a terminal cannot start in a directory.
type DirError struct {
	Dir    string
	Reason string
}

func (e *DirError) Error() string {
	return fmt.Sprintf("cannot start in %s: %s", Printable(clip(e.Dir)), e.Reason)
}

// Errors of Input that a door treats in its own way. All others are refusals, to be shown to the
// person who types.
var (
	// ErrBusy: the program does not read, or is not to yet, because the key has changed its size.
	// Wait for room and try again.
	ErrBusy = errors.New("the program is not reading its input")
	// ErrExited: there is no program any more.
	ErrExited = errors.New(reasonExited)
)

// errLongLine refuses input of which the terminal would drop a part: see [ptypool.ErrLineTooLong].
var errLongLine = &authz.Denied{Verb: authz.Input, Rule: "the terminal keeps 4095 bytes " +
	"of a line and would drop the rest: nothing was typed; break the line, or send a file"}

// errInterrupts refuses input of which the terminal would drop a part: see
// [ptypool.ErrInterrupted].
var errInterrupts = &authz.Denied{Verb: authz.Input, Rule: "an interrupt (such as ^C) drops " +
	"what is typed before it: nothing was typed; send the interrupt by itself, and then the rest"}

// errLongAhead is errLongLine for what waited until the program reads, of which a part was typed.
var errLongAhead = &authz.Denied{Verb: authz.Input, Rule: "the terminal keeps 4095 bytes of a " +
	"line and would drop the rest; break the line, or send a file"}

var errReadOnly = &authz.Denied{Verb: authz.Input, Rule: "this attach is read-only"}

// The bounds of a terminal's size, in cells.
const (
	MaxCols = 1000
	MaxRows = 500
)

// The reasons for which an action is rejected, whoever sends it.
const (
	reasonURI     = "channel is not a valid URI"
	reasonExited  = "terminal has exited"
	reasonUnknown = "there is no such terminal; it may have been disposed"
	reasonSize    = "cols must be 1 to 1000 and rows 1 to 500"
	reasonClaim   = "the claim names a clientId that nobody here uses"
	reasonNoClaim = "the claim names neither a clientId nor a session of at most 256 bytes"
	reasonTitle   = "the title is empty"
	reasonQueue   = "the terminal's input queue is full; " +
		"send it again when the program has read some"
	reasonReadOnly = "this channel takes no actions from clients"
)

// reasonOf returns a refusal, or why something cannot be typed, as the reason of a rejection.
func reasonOf(err error) string {
	if err == ErrBusy {
		return reasonQueue
	}
	var denied *authz.Denied
	if !errors.As(err, &denied) {
		return err.Error()
	}
	var held *HeldError
	if errors.As(err, &held) {
		return denied.Rule + "; claimed by " + held.Holder
	}
	return denied.Rule
}

const (
	reasonOrder = "the input before it was not taken"
	reasonOver  = "its connection has ended"
)

// LostError says that a key was not typed because an earlier one was lost.
type LostError struct {
	// To is the name of who took the keyboard; "": nobody did, but the earlier key was refused.
	To string
}

func (e *LostError) Error() string {
	if e.To != "" {
		return e.To + " took the keyboard while you typed"
	}
	return "you did not have the keyboard while you typed"
}
