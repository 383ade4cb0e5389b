package ahp

import "strings"

const (
	// fleetURIs begins the names of other hosts' terminals, and ownURIs those that hosts give their
	// own terminals.
	fleetURIs = "ahp-terminal://"
	ownURIs   = "ahp-terminal:/"
)

// FleetURI returns how a door's clients name the terminal that a host has as uri; ok is false if it
// cannot be named.
func FleetURI(host, uri string) (name string, ok bool) {
	if own, ok := NormalizeChannel(uri); !ok || own != uri {
		return "", false
	}
	if _, ok := TerminalName(uri); !ok {
		return "", false
	}
	rest, plain := strings.CutPrefix(uri, ownURIs)
	first, _, _ := strings.Cut(rest, "/")
	if !plain || first == "" || strings.Contains(first, ":") {
		scheme, path, _ := strings.Cut(uri, ":")
		rest = scheme + ":" + path
		if after, has := strings.CutPrefix(path, "//"); has {
			rest = scheme + ":@" + after
		}
	}
	name, ok = NormalizeChannel(fleetURIs + host + "/" + rest)
	if h, own, back := SplitFleetURI(name); !ok || !back || h != host || own != uri {
		return "", false
	}
	return name, true
}

// SplitFleetURI returns the host of a terminal that a door's client names, and the host's own name
// for the terminal; ok is false if it is no such name.
func SplitFleetURI(name string) (host, uri string, ok bool) {
	if !strings.HasPrefix(name, fleetURIs) {
		return "", "", false
	}
	name, ok = NormalizeChannel(name)
	if !ok {
		return "", "", false
	}
	host, rest, ok := strings.Cut(name[min(len(fleetURIs), len(name)):], "/")
	if !ok || host == "" || rest == "" {
		return "", "", false
	}
	first, more, several := strings.Cut(rest, "/")
	scheme, authority, other := strings.Cut(first, ":")
	if !other {
		return host, ownURIs + rest, true
	}
	uri = scheme + ":"
	if at, has := strings.CutPrefix(authority, "@"); has {
		uri += "//" + at
	} else if authority != "" {
		return "", "", false
	}
	if !several {
		return "", "", false
	}
	return host, uri + "/" + more, true
}
