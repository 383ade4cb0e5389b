package keys

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// The role names that environment="TERMHOST_ROLE=..." may carry. They are plain
// strings here; package authz gives them their meaning.
const (
	RoleAdmin    = "admin"
	RoleOperator = "operator"
	RoleObserver = "observer"
)

// roleVariable is the one variable that environment= may set.
const roleVariable = "TERMHOST_ROLE"

// forwardHost and forwardPort name the one destination that an SSH connection
// may forward to: the HTTP door.
const (
	forwardHost = "ahp"
	forwardPort = "80"
)

// lineOptions is what the options of one authorized_keys line amount to.
type lineOptions struct {
	certAuthority bool
	principals    []string // nil: not given
	command       string   // "": not given
	from          *addressList
	expires       time.Time // zero: never
	pty           bool
	forward       bool
	role          string // "": not given
	noTouch       bool
	verify        bool

	opensSeen, openPermitted bool // permitopen= given; one of them names the HTTP door
}

// parseOptions reads the options field of an authorized_keys line, quotes and
// all, as sshd's sshauthopt_parse does: names without regard to case, applied
// from left to right, unknown names an error.
func parseOptions(field string) (lineOptions, error) {
	o := lineOptions{pty: true, forward: true}
	for rest := field; ; {
		name, value, hasValue, tail, err := nextOption(rest)
		if err != nil {
			return lineOptions{}, err
		}
		if hasValue {
			err = o.setValue(name, value)
		} else {
			err = o.setFlag(name)
		}
		if err != nil {
			return lineOptions{}, err
		}
		if tail == "" {
			break
		}
		rest = tail[1:] // the comma
	}
	if o.opensSeen && !o.openPermitted {
		o.forward = false
	}
	if o.principals != nil && !o.certAuthority {
		return lineOptions{}, errors.New("the option principals needs cert-authority")
	}
	return o, nil
}

// nextOption splits the first option off s. tail is empty or begins with the
// comma that ends the option. Inside quotes \" is a quote; nothing else is
// escaped.
func nextOption(s string) (name, value string, hasValue bool, tail string, err error) {
	end := strings.IndexAny(s, "=,\"")
	if end < 0 {
		end = len(s)
	}
	name = strings.ToLower(s[:end])
	tail = s[end:]
	if name == "" {
		return "", "", false, "", errors.New("an option has no name")
	}
	if !strings.HasPrefix(tail, "=") {
		if strings.HasPrefix(tail, "\"") {
			return "", "", false, "", fmt.Errorf("the option %q has a misplaced quote", name)
		}
		return name, "", false, tail, nil
	}
	value, tail, ok := dequote(tail[1:])
	if !ok {
		return "", "", false, "", fmt.Errorf("the value of the option %q must stand in double quotes", name)
	}
	if tail != "" && tail[0] != ',' {
		return "", "", false, "", fmt.Errorf("the option %q is not followed by a comma", name)
	}
	return name, value, true, tail, nil
}

// dequote reads a double-quoted string off the front of s.
func dequote(s string) (value, rest string, ok bool) {
	if !strings.HasPrefix(s, `"`) {
		return "", "", false
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && s[i+1] == '"':
			b.WriteByte('"')
			i++
		case s[i] == '"':
			return b.String(), s[i+1:], true
		default:
			b.WriteByte(s[i])
		}
	}
	return "", "", false
}

// setFlag applies an option without value. What a termhost never does for
// anybody (agent and X11 forwarding, user rc files) is accepted either way.
func (o *lineOptions) setFlag(name string) error {
	switch name {
	case "restrict":
		o.pty, o.forward = false, false
	case "cert-authority":
		o.certAuthority = true
	case "pty":
		o.pty = true
	case "no-pty":
		o.pty = false
	case "port-forwarding":
		o.forward = true
	case "no-port-forwarding":
		o.forward = false
	case "touch-required":
		o.noTouch = false
	case "no-touch-required":
		o.noTouch = true
	case "verify-required":
		o.verify = true
	case "no-verify-required":
		o.verify = false
	case "agent-forwarding", "no-agent-forwarding", "x11-forwarding", "no-x11-forwarding", "user-rc", "no-user-rc":
	case "command", "environment", "expiry-time", "from", "permitlisten", "permitopen", "principals", "tunnel":
		return fmt.Errorf("the option %q needs a value", name)
	default:
		return fmt.Errorf("the option %q is unknown", name)
	}
	return nil
}

// setValue applies an option with a value.
func (o *lineOptions) setValue(name, value string) error {
	switch name {
	case "command":
		return once(name, &o.command, value)
	case "environment":
		return o.setEnvironment(value)
	case "expiry-time":
		return o.setExpiry(value)
	case "from":
		if o.from != nil {
			return errors.New(`the option "from" is given twice`)
		}
		list, err := parseFrom(value)
		if err != nil {
			return fmt.Errorf("the option %q: %w", name, err)
		}
		o.from = list
	case "principals":
		return o.setPrincipals(value)
	case "permitopen":
		return o.setPermitOpen(value)
	case "permitlisten", "tunnel":
		// Remote forwarding and tunnels are never given, so limits on them are kept.
	default:
		return fmt.Errorf("the option %q is unknown, or takes no value", name)
	}
	return nil
}

// once sets *field, which must be unset, to a value that is not empty.
func once(name string, field *string, value string) error {
	if *field != "" {
		return fmt.Errorf("the option %q is given twice", name)
	}
	if strings.TrimSpace(value) == "" {
		return fmt.Errorf("the option %q is empty", name)
	}
	*field = value
	return nil
}

// setEnvironment honours TERMHOST_ROLE and refuses every other variable: a
// forced command may rely on the variable to know whom it serves, so admitting
// the key without it could serve the wrong one.
func (o *lineOptions) setEnvironment(value string) error {
	name, role, ok := strings.Cut(value, "=")
	if !ok || name != roleVariable {
		return fmt.Errorf("the option \"environment\" may set %s only", roleVariable)
	}
	switch role {
	case RoleAdmin, RoleOperator, RoleObserver:
		return once(roleVariable, &o.role, role)
	default:
		return fmt.Errorf("%s is not %s, %s or %s", roleVariable, RoleAdmin, RoleOperator, RoleObserver)
	}
}

// setExpiry reads YYYYMMDD[Z] or YYYYMMDDHHMM[SS][Z], in local time without the
// Z (sshd(8), expiry-time). Of several the earliest counts.
func (o *lineOptions) setExpiry(value string) error {
	digits, utc := strings.CutSuffix(value, "Z")
	zone := time.Local
	if utc {
		zone = time.UTC
	}
	layout, ok := map[int]string{8: "20060102", 12: "200601021504", 14: "20060102150405"}[len(digits)]
	if !ok {
		return errors.New(`the option "expiry-time" must be YYYYMMDD or YYYYMMDDHHMM[SS], with Z for UTC`)
	}
	at, err := time.ParseInLocation(layout, digits, zone)
	if err != nil {
		return errors.New(`the option "expiry-time" is no date and time`)
	}
	o.expires = earlier(o.expires, at)
	return nil
}

// earlier returns the earlier of two times, where zero means never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}

func (o *lineOptions) setPrincipals(value string) error {
	if o.principals != nil {
		return errors.New(`the option "principals" is given twice`)
	}
	for name := range strings.SplitSeq(value, ",") {
		if name == "" {
			return errors.New(`the option "principals" has an empty name`)
		}
		o.principals = append(o.principals, name)
	}
	return nil
}

// setPermitOpen notes whether the HTTP door is among the destinations. Hosts
// are literal, the port may be * (sshd(8), permitopen).
func (o *lineOptions) setPermitOpen(value string) error {
	at := strings.LastIndexByte(value, ':')
	if at <= 0 || at == len(value)-1 {
		return errors.New(`the option "permitopen" must be host:port`)
	}
	host, port := value[:at], value[at+1:]
	if port != "*" && (strings.Trim(port, "0123456789") != "" || len(port) > len("65535")) {
		return errors.New(`the option "permitopen" must be host:port`)
	}
	o.opensSeen = true
	o.openPermitted = o.openPermitted || (host == forwardHost && (port == forwardPort || port == "*"))
	return nil
}
