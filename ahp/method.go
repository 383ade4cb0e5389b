package ahp

import "strings"

// The methods of AHP (specification, "Messages") that this host answers, and its notification.
const (
	MethodInitialize      = "initialize"
	MethodReconnect       = "reconnect"
	MethodPing            = "ping"
	MethodSubscribe       = "subscribe"
	MethodUnsubscribe     = "unsubscribe"
	MethodDispatchAction  = "dispatchAction"
	MethodCreateTerminal  = "createTerminal"
	MethodDisposeTerminal = "disposeTerminal"
	MethodListSessions    = "listSessions"

	MethodAction = "action" // an [Envelope], to those who subscribe

	// Notifications of a channel whose subscriber has asked for flow control (AHP 1.1,
	// "Experimental windowed delivery").
	MethodChannelFrame    = "channel/frame"    // a piece of a message, in either direction
	MethodChannelCredit   = "channel/credit"   // how much the receiver has consumed, likewise
	MethodChannelReset    = "channel/reset"    // ends the subscription, likewise
	MethodChannelSnapshot = "channel/snapshot" // a [Snapshot], in frames
	MethodChannelReady    = "channel/ready"    // snapshot or replay have been sent
)

// extension is what the names of all begin with that termhost has beyond AHP.
const extension = "termhost/"

// reserved precedes them in a second form: AHP keeps what begins with it for names that are not its
// own.
const reserved = "x-"

// Reserved returns the form of one of termhost's own names that begins with AHP's reserved prefix,
// such as "x-termhost/ask" for [MethodAsk]. Both forms mean the same.
func Reserved(name string) string { return reserved + name }

// Plain returns the form of a name that the constants have, and whether it was the reserved one.
func Plain(name string) (plain string, wasReserved bool) {
	if strings.HasPrefix(name, reserved+extension) {
		return name[len(reserved):], true
	}
	return name, false
}

// Requests of termhost's own, and notifications from the peer. A host announces them with their
// names as keys in the _meta of [InitializeResult]: see [Announced].
const (
	MethodWait       = extension + "wait"       // returns when a terminal has come to something
	MethodHistory    = extension + "history"    // what a terminal's log holds
	MethodLog        = extension + "log"        // the whole log, as `log` prints it
	MethodScreen     = extension + "screen"     // what was shown at a place of the history
	MethodLines      = extension + "lines"      // lines of what had left the screen there
	MethodFind       = extension + "find"       // where such lines match
	MethodSearch     = extension + "search"     // where the output of terminals matches
	MethodRecordings = extension + "recordings" // the recordings
	MethodAsk        = extension + "ask"        // asks the holder for the keyboard
	MethodHandBack   = extension + "handBack"   // passes it to who has asked, or back
	MethodGuard      = extension + "guard"      // has what agents type wait for approval
	MethodPicture    = extension + "picture"    // a picture that a program has drawn
	MethodDrop       = extension + "drop"       // gives a terminal's program a file
	MethodHeld       = extension + "held"       // what agents want to type into a terminal
	MethodApprove    = extension + "approve"    // decides about what an agent wants to type
	MethodStatus     = extension + "status"     // says how a terminal's program stands
	MethodLabel      = extension + "label"      // changes a terminal's labels
	MethodAck        = extension + "ack"        // acknowledges output; see initialize's _meta, too
	MethodLooking    = extension + "looking"    // says which terminals the peer's person looks at
)

// Notifications of the host's. A peer asks for the first three with their names as keys in the
// _meta of initialize and reconnect.
const (
	MethodClipboard = extension + "clipboard" // what a program copies
	MethodAsked     = extension + "asked"     // who asks for the keyboard of a terminal
	MethodAsks      = extension + "asks"      // what agents want to type

	MethodTrustOver    = extension + "trustOver"    // a yes to all has ended; comes with MethodAsks
	MethodWanting      = extension + "wanting"      // to a sender of MethodLooking
	MethodGroups       = extension + "groups"       // likewise: which terminals belong together
	MethodHosts        = extension + "hosts"        // likewise: the hosts of the fleet
	MethodUnsubscribed = extension + "unsubscribed" // somebody has ended the peer's subscription
	MethodProof        = extension + "proof"        // proves the host to a page, first of all
)

// MethodACPCreated asks for a terminal of ACP's that is there already: one that terminal/create was
// sent the same key for, and whose answer may have been lost.
const MethodACPCreated = extension + "created"

// MethodACPPermission tells that the user of the agent's editor is asked to permit something about
// a terminal of ACP's, and that it is decided.
const MethodACPPermission = extension + "permission"

// Keys in the _meta of [InitializeResult] that are no methods.
const (
	// MetaClientExecuted is also a key in the _meta of [ReconnectResult], and is about
	// client-executed terminals.
	MetaClientExecuted = extension + "clientExecutedTerminals"
	MetaACPTerminals   = extension + "acpTerminals" // has the methods of ACP that the host answers
	// MetaScreenFirst is also a key in the _meta of initialize, reconnect and subscribe, of a peer
	// that wants a terminal's screen first, and the output that is kept when it asks for it.
	MetaScreenFirst = extension + "screenFirst"
)

// Announced returns the keys in the _meta of [InitializeResult] by which a host announces what it
// has beyond AHP, without their reserved forms.
func Announced() []string {
	return []string{
		MetaClientExecuted, MethodWait, MethodHeld, MethodApprove, MethodHistory, MethodLog,
		MethodScreen, MethodLines, MethodFind, MethodSearch,
		MethodRecordings, MethodAsk, MethodHandBack, MethodGuard,
		MethodPicture, MethodDrop, MethodStatus, MethodLabel, MethodAck, MethodLooking,
		MetaScreenFirst,
	}
}
