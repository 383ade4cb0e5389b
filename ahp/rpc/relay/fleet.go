package relay

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/authz"
)

// Fleet is what a door sees of the fleet that it is in. Its methods may be called concurrently.
type Fleet interface {
	// Name returns this host's name.
	Name() string
	// Hosts returns the hosts by name, this one among them.
	Hosts() []Host
	// Has reports whether there is another host of a name.
	Has(host string) bool
	// Choose returns the host of a name, or the least loaded one that has all labels of a list.
	Choose(on string) (string, error)
	// Reachable returns since when a host is silent, or that there is none of that name, and which
	// there are; nil: it is there.
	Reachable(host string) error
	// Heard returns the number of the last heartbeat of another host that was heard; 0: none was.
	Heard(host string) uint64
	// MayName notes that another host may get a NAME now by what a client does.
	MayName(host string)
	// Dial opens an AHP connection to another host, a message per line, for a principal that the
	// door has authenticated. Reading from it fails with the reason that the host has for its end.
	Dial(ctx context.Context, p authz.Principal, from authz.Source, host string) (
		io.ReadWriteCloser, error)
}

// Host is a host of a fleet.
type Host struct {
	Name            string
	Self, Reachable bool
	Heard           time.Time // when it last said that it is there; zero: never
	Version         string    // of its termhost; "": it is not known
}

// Peer is a door's connection to its client.
type Peer struct {
	// Conn is initialized, and Context ends with it.
	Conn    *host.Conn
	Context context.Context
	// Meta is the _meta of initialize or reconnect; nil: there was none.
	Meta json.RawMessage
	// Refuse answers a request with an error.
	Refuse func(id []byte, e *ahp.Error)
	// Owe counts bytes of output that are written.
	Owe func(bytes int64)
	// Room returns how many bytes of output the way to the client carries without a queue; 0: it is
	// not known.
	Room func() int64
	// News is called when what [Remotes.Wanting] or [Remotes.Hosts] returns has changed. It does
	// not block.
	News func()
	// End ends the connection, with a reason for the client.
	End func(error)
}

// unreachable refuses what is asked of a host that is silent, or not there.
func unreachable(host string, err error) *ahp.Error {
	return ahp.NewError(ahp.CodeUnreachable, err.Error(), "host", host)
}
