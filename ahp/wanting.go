package ahp

import "time"

// Wanting is what wants a peer's person, which a host tells a sender of [MethodLooking] with
// [MethodWanting].
type Wanting struct {
	Channel   string           `json:"channel"`   // the root's
	Terminals []Wanted         `json:"terminals"` // the one that wants them longest comes first
	Keyboards []UnusedKeyboard `json:"keyboards,omitempty"`
}

// Wanted is a terminal that wants the person.
type Wanted struct {
	Terminal string    `json:"terminal"` // its URI
	Why      string    `json:"why"`
	Since    time.Time `json:"since"`
	Text     string    `json:"text,omitempty"` // what its program says
}

// UnusedKeyboard is one that the person may take without asking.
type UnusedKeyboard struct {
	Terminal string `json:"terminal"` // its URI
	Window   bool   `json:"window,omitempty"`
}

// Groups are the terminals that belong together, which are told with [MethodGroups].
type Groups struct {
	Channel string            `json:"channel"` // the root's
	Groups  map[string]string `json:"groups"`  // by the terminals' URIs
}

// FleetHosts are the hosts of the fleet, which are told with [MethodHosts].
type FleetHosts struct {
	Channel string      `json:"channel"` // the root's
	Hosts   []FleetHost `json:"hosts"`   // by name
}

// FleetHost is a host on which the peer may have terminals made.
type FleetHost struct {
	Host        string `json:"host"`
	Self        bool   `json:"self,omitempty"`        // it is the connected one
	Unreachable string `json:"unreachable,omitempty"` // since when it is silent (RFC 3339)
}
