package host_test

import (
	"errors"
	"time"

	"termhost/authz"
)

// The figures and words that peers and people rely on. The tests have them a second time, so that
// a change of one is seen.
const (
	requestPause  = 10 * time.Second
	requestTime   = 10 * time.Minute
	bellEvery     = time.Second
	crossing      = 50 * time.Millisecond
	lastUseMemory = 12 * time.Hour
	longCommand   = 10 * time.Second
	notifyEvery   = time.Second
	resumePause   = time.Second

	feedEvents       = 10_000 // that are kept for a reader
	maxRequests      = 16     // of principals that ask for one keyboard
	maxEndedCreators = 2048
	maxHeldInputs    = 16
	maxHeldText      = 16 << 10  // bytes
	maxSpacing       = 256 << 10 // bytes between two checkpoints

	actsNow     = "it would do something else now than you were shown; list anew"
	haveIt      = "you have the keyboard"
	manyAsk     = "many ask for the keyboard already"
	takenOver   = "another connection of this clientId has taken over"
	trustBehind = "another program is in the foreground"
	trustEnded  = "the command has ended"
	unguarded   = "the guard was turned off meanwhile; send it again"
	untold      = "nothing tells when this command ends; say yes to each"

	reasonGuarded   = "the terminal is guarded now; send it again"
	reasonClaim     = "the claim names a clientId that nobody here uses"
	reasonExited    = "terminal has exited"
	reasonNoClaim   = "the claim names neither a clientId nor a session of at most 256 bytes"
	reasonQueue     = "the terminal's input queue is full; send it again when the program has read some"
	reasonReadOnly  = "this channel takes no actions from clients"
	reasonSize      = "cols must be 1 to 1000 and rows 1 to 500"
	reasonTitle     = "the title is empty"
	reasonUnknown   = "there is no such terminal; it may have been disposed"
	reasonUnstarted = "its program has not been started: that waits for a person's approval"
)

// ruleIn returns the rule of the policy by which an error is a refusal; "": it is none.
func ruleIn(err error) string {
	var denied *authz.Denied
	if !errors.As(err, &denied) {
		return ""
	}
	return denied.Rule
}

// message returns what an error says; "": there is none.
func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
