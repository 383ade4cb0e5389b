package fleet

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"termhost/authz"
)

// Assertion is what a door says of whom it speaks for, to one host, in the user name of an SSH
// login.
type Assertion struct {
	// Owner is the host that it is for, and Door the one that makes it.
	Owner string `json:"owner"`
	Door  string `json:"door"`
	// Principal is who has logged in to the door.
	Principal authz.Principal `json:"principal"`
	// From is where from, for the audit log, and Connection the id of that in the door's.
	From       string `json:"from,omitempty"`
	Connection string `json:"connection,omitempty"`
	// Critical names what the owner must know to bound the principal, and may not, if it is the
	// older one: it refuses then. What is not named may be ignored (as critical options and
	// extensions in OpenSSH's PROTOCOL.certkeys).
	Critical []string `json:"critical,omitempty"`
}

// maxAssertion bounds an encoded Assertion, in bytes.
const maxAssertion = 16 << 10

// String returns the user name.
func (a Assertion) String() string {
	p, err := json.Marshal(a)
	if err != nil {
		return "" // which nobody accepts
	}
	return string(p)
}

var errAssertion = errors.New("fleet: this assertion is not for this host")

// ParseAssertion reads a user name that a door has signed. owner is this host, and door the one
// that has proven its key.
func ParseAssertion(user, owner, door string) (a Assertion, err error) {
	if len(user) > maxAssertion {
		return Assertion{}, errAssertion
	}
	if err := json.Unmarshal([]byte(user), &a); err != nil {
		return Assertion{}, errAssertion
	}
	if a.Owner != owner || a.Door != door || owner == door {
		return Assertion{}, errAssertion
	}
	if len(a.Critical) > 0 { // there is none yet
		return Assertion{}, fmt.Errorf("%s has an older termhost, which does not know %q, by "+
			"which %s bounds what this login may do: update it", owner, a.Critical, door)
	}
	return a, nil
}

// maxSource bounds what the audit log has of an address in another host.
const maxSource = 100

// Source is how the owner's audit log names the connection.
func (a Assertion) Source() string {
	text := a.Door
	if a.Connection != "" {
		text += " connection " + a.Connection
	}
	if a.From != "" {
		text += " from " + a.From
	}
	clean := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text)
	return clean[:min(len(clean), maxSource)]
}
