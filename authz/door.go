package authz

import "slices"

// The names of the doors, as the audit log and the metrics have them.
const (
	DoorSSH       = "ssh"
	DoorSubsystem = "subsystem"
	DoorWebSocket = "websocket"
	DoorUnix      = "unix"
	DoorLocal     = "local" // the same socket, for termhost's own commands
	DoorForward   = "forward"
	DoorMCP       = "mcp"
	DoorFleet     = "fleet" // another host has carried the connection here
)

// Door is a way into the host.
type Door struct {
	Name string
	How  string // a short word for people: see `who`
	// Person: people come in there, and act by hand unless they come with a token. Its connections
	// count as SSH connections, those of all other doors as peers of AHP.
	Person bool
	// Tool: tools of models come in there. They decide about no input, whatever their key may.
	Tool bool
	// Passing: a peer without a proof of its own comes there by somebody else's connection, and so
	// its terminals do not wait for it.
	Passing bool
}

// doors are all of them.
var doors = []Door{
	{Name: DoorSSH, How: "ssh", Person: true},
	{Name: DoorSubsystem, How: "ahp"},
	{Name: DoorWebSocket, How: "ws"},
	{Name: DoorUnix, How: "unix"},
	{Name: DoorLocal, How: "local", Person: true},
	{Name: DoorForward, How: "ws", Passing: true},
	{Name: DoorMCP, How: "mcp", Tool: true},
	{Name: DoorFleet, How: "fleet"},
}

// Doors returns all doors: the metrics list each, and no connection comes in by another.
func Doors() []Door { return slices.Clone(doors) }

// DoorNamed returns the door of a name. ok is false if there is none.
func DoorNamed(name string) (d Door, ok bool) {
	i := slices.IndexFunc(doors, func(d Door) bool { return d.Name == name })
	if i < 0 {
		return Door{}, false
	}
	return doors[i], true
}
