package keys

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// The role names that environment="TERMHOST_ROLE=..." may set. Here they are only strings; package
// authz gives them their meaning.
const (
	RoleAdmin    = "admin"
	RoleOperator = "operator"
	RoleObserver = "observer"
)

// roleVariable is the only variable that environment= may set.
const roleVariable = "TERMHOST_ROLE"

// lineOptions has all that the options of an authorized_keys line say.
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
	agent         bool
	forwardNamed  bool     // by port-forwarding, and not taken away after that
	opens         []string // permitopen=; nil: not given
	listens       []string // permitlisten=; nil: not given
}

// noOptions is what a line without options says.
func noOptions() lineOptions { return lineOptions{pty: true, forward: true, agent: true} }

// parseOptions reads the options of an authorized_keys line as sshd's sshauthopt_parse does: the
// case of names does not matter, they are applied from left to right, and unknown ones are an
// error.
func parseOptions(field string) (lineOptions, error) {
	o := noOptions()
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
	if o.principals != nil && !o.certAuthority {
		return lineOptions{}, errors.New("the option principals needs cert-authority")
	}
	return o, nil
}

// nextOption splits the first option off s. tail is empty or begins with the comma that ends the
// option. Within quotes \" stands for a quote, and no other character is escaped.
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
		return "", "", false, "",
			fmt.Errorf("the value of the option %q must stand in double quotes", name)
	}
	if tail != "" && tail[0] != ',' {
		return "", "", false, "", fmt.Errorf("the option %q is not followed by a comma", name)
	}
	return name, value, true, tail, nil
}

// dequote splits a string in double quotes off s.
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

// setFlag applies an option without a value. The host offers neither X11 forwarding nor an rc file,
// so the options about them have no effect.
func (o *lineOptions) setFlag(name string) error {
	switch name {
	case "restrict":
		o.pty, o.forward, o.forwardNamed, o.agent = false, false, false, false
	case "cert-authority":
		o.certAuthority = true
	case "pty":
		o.pty = true
	case "no-pty":
		o.pty = false
	case "port-forwarding":
		o.forward, o.forwardNamed = true, true
	case "no-port-forwarding":
		o.forward, o.forwardNamed = false, false
	case "agent-forwarding":
		o.agent = true
	case "no-agent-forwarding":
		o.agent = false
	case "touch-required":
		o.noTouch = false
	case "no-touch-required":
		o.noTouch = true
	case "verify-required":
		o.verify = true
	case "no-verify-required":
		o.verify = false
	case "x11-forwarding", "no-x11-forwarding", "user-rc", "no-user-rc":
	case "command", "environment", "expiry-time", "from", "permitlisten", "permitopen",
		"principals", "tunnel":
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
		return addPermit(name, value, false, &o.opens)
	case "permitlisten":
		return addPermit(name, value, true, &o.listens)
	case "tunnel":
		// The host offers no tunnels, so this limit always holds.
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

// setEnvironment accepts TERMHOST_ROLE and no other variable. A forced command may rely on another
// variable to know for whom it runs; without it, it could run for the wrong person.
func (o *lineOptions) setEnvironment(value string) error {
	name, role, ok := strings.Cut(value, "=")
	if !ok || name != roleVariable {
		return fmt.Errorf("the option \"environment\" may set %s only", roleVariable)
	}
	switch role {
	case RoleAdmin, RoleOperator, RoleObserver:
		return once(roleVariable, &o.role, role)
	default:
		return fmt.Errorf("%s is not %s, %s or %s",
			roleVariable, RoleAdmin, RoleOperator, RoleObserver)
	}
}

// setExpiry reads YYYYMMDD[Z] or YYYYMMDDHHMM[SS][Z], which without Z is local time (sshd(8),
// expiry-time). If the option is given several times, the earliest one counts.
func (o *lineOptions) setExpiry(value string) error {
	digits, utc := strings.CutSuffix(value, "Z")
	zone := time.Local
	if utc {
		zone = time.UTC
	}
	layouts := map[int]string{8: "20060102", 12: "200601021504", 14: "20060102150405"}
	layout, ok := layouts[len(digits)]
	if !ok {
		return errors.New(
			`the option "expiry-time" must be YYYYMMDD or YYYYMMDDHHMM[SS], with Z for UTC`)
	}
	at, err := time.ParseInLocation(layout, digits, zone)
	if err != nil {
		return errors.New(`the option "expiry-time" is not a date and time`)
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

// forwards reports whether the options name port forwarding and still permit it. Only then does a
// key without a pty forward ports.
func (o *lineOptions) forwards() bool {
	return o.forward && (o.forwardNamed || o.opens != nil || o.listens != nil)
}
