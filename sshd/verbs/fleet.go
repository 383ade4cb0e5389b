package verbs

import (
	"context"
	"time"
)

// Fleet is what verbs see of the hosts that this one is in a fleet with. Its methods may be called
// concurrently.
type Fleet interface {
	// Hosts returns the hosts by name, this one among them. A host that is no door hears only of
	// doors.
	Hosts() []FleetHost
	// Survey returns the hosts as a door hears of them.
	Survey(ctx context.Context) ([]FleetHost, error)
	// Choose returns the host of a name, or the least loaded one that has all labels of a list.
	Choose(on string) (string, error)
	// WithName returns the other hosts that can be reached and may have a terminal of that NAME.
	// One that has just made it for another host may be missing, and one that has none be there.
	WithName(name string) []string
	// Run runs a command line on another host, joined with the peer's streams and terminal, and
	// returns how it ended. An error says why it did not run, or is a *LostError.
	Run(ctx context.Context, c Caller, host, line string) (Exit, error)
	// Show begins a command line that shows a terminal on another host. If the peer arrives from
	// another terminal, it waits until it is shown; an error says why it is not. The peer's IO may
	// be another one when the result is joined.
	Show(ctx context.Context, c Caller, host, line string, from *Arrival) (Showing, error)
	// Output runs a command line without input on another host, and returns what it prints. A
	// status other than 0 is an error.
	Output(ctx context.Context, c Caller, host, line string) ([]byte, error)
}

// Arrival tells a viewer on another host about a person that comes from another terminal. See
// [viewer.Options].
type Arrival struct {
	Text   string
	Away   bool
	Listed bool
}

// Showing is a terminal that another host shows. It must be joined or closed.
type Showing interface {
	// Join joins it with the peer's streams and terminal until it ends, or the person goes
	// elsewhere. The error is as that of [Fleet.Run].
	Join(c Caller, g Guide) (Shown, error)
	// Close ends it.
	Close()
}

// Shown is how a Showing has ended.
type Shown struct {
	Exit
	Over   bool // the terminal has
	WentOn bool // the person goes to the terminal that Guide.Key has made ready
}

// Guide leads a person from one host's terminals to another's, by keys behind the prefix. The
// person's own host reads these keys, so that no other host can send anybody anywhere.
type Guide struct {
	Prefix byte // the control character
	// Key acts on a key behind the prefix: l, n or Tab. It may read what is typed next, and write.
	// connecting tells the person, whose output stands still, that they wait for a terminal. The
	// error says why the person cannot go there.
	Key func(k rune, connecting func(name string)) (Led, error)
	// Unread takes back the end of what was read from the peer, before Key is called.
	Unread func(p []byte)
	// WantElsewhere counts the terminals of the other hosts that want the person. The host is
	// told.
	WantElsewhere *Count
	// Corner returns what corrects the count in the corner of the picture of the host, which is
	// silent: its own terminals do not count; nil: nothing is to be corrected.
	Corner func() []byte
	// Shown is told which terminal of the host is shown from now on.
	Shown func(name string, readOnly bool)
}

// Led is what has become of a key.
type Led int

const (
	LedNowhere Led = iota // the key is for the host whose terminal is shown
	LedOn                 // another terminal is ready to be shown
	LedBack               // the person stays; what was shown is to be drawn anew
)

// FleetHost is a host of a fleet.
type FleetHost struct {
	Name      string            `json:"name"`
	Self      bool              `json:"self"`
	Home      bool              `json:"home"` // it has made the fleet
	Door      bool              `json:"door"`
	Reachable bool              `json:"reachable"`
	Heard     time.Time         `json:"heard,omitzero"` // when it last said that it is there
	Version   string            `json:"version,omitempty"`
	Labels    map[string]string `json:"labels"`
	Terminals int               `json:"terminals"` // that run
}
