package host

import (
	"errors"
	"fmt"

	"termhost/ahp"
	"termhost/authz"
	"termhost/authz/admit"
	"termhost/ptypool"
)

// ExistsError says that another terminal has the NAME or the URI.
type ExistsError struct{ Name string }

func (e *ExistsError) Error() string {
	return fmt.Sprintf("a terminal named %q exists; choose another name, or attach to it", e.Name)
}

// NameError says that a NAME is illegal.
type NameError struct{ Name string }

func (e *NameError) Error() string {
	return fmt.Sprintf("%q is no name for a terminal: "+
		"use 1 to 64 letters, digits, dots, underscores and dashes", Printable(clip(e.Name)))
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
		return fmt.Sprintf("%s holds %s; only the holder or an admin may end it",
			e.Holder, e.Terminal)
	case authz.Name:
		return fmt.Sprintf("%s holds %s; only the holder or an admin may rename it",
			e.Holder, e.Terminal)
	}
	return fmt.Sprintf("%s holds %s; an admin can take it", e.Holder, e.Terminal)
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

// ProtocolError returns the error that a peer of AHP or ACP gets where the host has returned err;
// nil for nil. An error that is not for peers is logged instead.
func (c *Conn) ProtocolError(err error) *ahp.Error {
	var (
		proto  *ahp.Error
		denied *authz.Denied
		exists *ExistsError
		name   *NameError
		dir    *DirError
		limit  *ptypool.LimitError
		quota  *admit.QuotaError
		start  *ptypool.StartError
		never  *NotStartedError
	)
	c.Denied(err)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &proto):
		return proto
	case errors.As(err, &denied):
		return ahp.NewError(ahp.CodeNotPermitted, denied.Error(), "rule", denied.Rule)
	case errors.As(err, &exists):
		return ahp.NewError(ahp.CodeTerminalExists, err.Error())
	case errors.As(err, &name):
		return ahp.NewError(ahp.CodeInvalidParams, err.Error(), "field", "channel")
	case errors.As(err, &dir):
		return ahp.NewError(ahp.CodeInvalidParams, err.Error(), "field", "cwd")
	case errors.As(err, &start) && start.Kind == ptypool.ErrBadDir:
		return startProblem(start, "cwd")
	case errors.As(err, &never):
		return ahp.NewError(ahp.CodeNotPermitted, err.Error(), "rule", err.Error())
	case errors.As(err, &limit):
		return ahp.NewError(ahp.CodeLimit, err.Error(), "limit", "terminal.max_terminals")
	case errors.As(err, &quota):
		return ahp.NewError(ahp.CodeLimit, err.Error(), "limit", "principal.max_terminals")
	case errors.Is(err, ErrClosed):
		return ahp.EndedError(ahp.CodeInternal, ErrClosed.Error())
	}
	c.host.log.Error("a request failed", "principal", c.principal.Name, "err", err)
	return ahp.NewError(ahp.CodeInternal, "it could not be done; the host's log says why")
}

// startProblem says that the program or directory that a param names cannot be run or entered. The
// name may be a megabyte long, and answers wait in memory, so it is clipped.
func startProblem(err *ptypool.StartError, field string) *ahp.Error {
	short := *err
	short.Name = clip(err.Name)
	return ahp.NewError(ahp.CodeInvalidParams, short.Error(), "field", field)
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
