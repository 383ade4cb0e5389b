package authz

// The doors, by which peers come into the host, as the audit log and the metrics name them.
const (
	DoorSSH       = "ssh"
	DoorSubsystem = "subsystem"
	DoorWebSocket = "websocket"
	DoorUnix      = "unix"
	DoorForward   = "forward"
	DoorMCP       = "mcp"
	DoorFleet     = "fleet" // another host has carried the connection here
)

// Doors returns them all: the metrics list each, and no connection comes in by another.
func Doors() []string {
	return []string{DoorSSH, DoorSubsystem, DoorWebSocket, DoorUnix, DoorForward, DoorMCP,
		DoorFleet}
}
