package roster

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nats-io/nkeys"
	"golang.org/x/crypto/ssh"

	"termhost/ahp/spelling"
)

// MaxHosts bounds a fleet.
const MaxHosts = 10_000

// Member is a host of a fleet.
type Member struct {
	Name string `json:"name"`
	// Key is the public NKEY, "U...".
	Key string `json:"key"`
	// Door: it may speak for the people who have logged in to it.
	Door bool `json:"door,omitempty"`
}

// SSHKey returns the member's key as SSH has it.
func (m Member) SSHKey() (ssh.PublicKey, error) {
	raw, err := nkeys.Decode(nkeys.PrefixByteUser, []byte(m.Key))
	if err != nil || len(raw) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("fleet: the key of %s is no NKEY", m.Name)
	}
	return ssh.NewPublicKey(ed25519.PublicKey(raw))
}

// Roster is the list of a fleet's hosts.
type Roster struct {
	// Version rises with every change.
	Version int `json:"version"`
	// Home is the host that has made the fleet and signs the roster.
	Home string `json:"home"`
	// Members are sorted by name.
	Members []Member `json:"members"`
}

// Named returns the member of that name.
func (r Roster) Named(name string) (Member, bool) {
	i, is := slices.BinarySearchFunc(r.Members, name, func(m Member, name string) int {
		return strings.Compare(m.Name, name)
	})
	if !is {
		return Member{}, false
	}
	return r.Members[i], true
}

// WithKey returns the member that has a public NKEY.
func (r Roster) WithKey(key string) (Member, bool) {
	i := slices.IndexFunc(r.Members, func(m Member) bool { return m.Key == key })
	if i < 0 {
		return Member{}, false
	}
	return r.Members[i], true
}

// With returns the roster with one member more.
func (r Roster) With(m Member) (Roster, error) {
	if _, taken := r.Named(m.Name); taken {
		return r, &NameError{m.Name}
	}
	if _, err := m.SSHKey(); err != nil {
		return r, err
	}
	if _, taken := r.WithKey(m.Key); taken || !nkeys.IsValidPublicUserKey(m.Key) ||
		strings.ContainsAny(m.Key, "\r\n") { // which base32 skips
		return r, errKey
	}
	if len(r.Members) >= MaxHosts {
		return r, errors.New("the fleet is full")
	}
	r.Version++
	r.Members = append(slices.Clone(r.Members), m)
	slices.SortFunc(r.Members, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
	return r, nil
}

// errKey keeps a host from taking over the name of another one: it is known by its key.
var errKey = errors.New("the key cannot be that of a new host")

// Without returns the roster without a member.
func (r Roster) Without(name string) (Roster, error) {
	if _, is := r.Named(name); !is {
		return r, &UnknownError{name, r.names()}
	}
	if name == r.Home {
		return r, fmt.Errorf("%s has made the fleet and cannot leave it", name)
	}
	r.Version++
	r.Members = slices.DeleteFunc(slices.Clone(r.Members),
		func(m Member) bool { return m.Name == name })
	return r, nil
}

func (r Roster) names() (names []string) {
	for _, m := range r.Members {
		names = append(names, m.Name)
	}
	return names
}

// NameError refuses a name that another host has.
type NameError struct{ Name string }

func (e *NameError) Error() string { return "the fleet has a host named " + e.Name }

// UnknownError is for a name that no host has.
type UnknownError struct {
	Name  string
	Hosts []string
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("the fleet has no host %q%s", e.Name, spelling.Among(e.Name, e.Hosts))
}

// signed is a roster as it is stored and sent. A later Format is beside it.
type signed struct {
	Roster    []byte `json:"roster"` // as JSON
	Signature []byte `json:"signature"`
}

// context begins what is signed: the key signs nothing else, now or later, that looks the same.
const context = "termhost fleet roster 1\n"

// Sign returns the roster in its signed form.
func (r Roster) Sign(key ed25519.PrivateKey) ([]byte, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	return json.Marshal(signed{text, ed25519.Sign(key, append([]byte(context), text...))})
}

// ErrSignature refuses a roster that the fleet's home has not signed.
var ErrSignature = errors.New("fleet: the roster's signature is wrong")

// Verify returns the roster of a signed form.
func Verify(p []byte, key ed25519.PublicKey) (r Roster, err error) {
	if err := CheckFormat("the fleet's roster", p); err != nil {
		return r, err
	}
	var s signed
	if err := json.Unmarshal(p, &s); err != nil {
		return r, err
	}
	if len(key) != ed25519.PublicKeySize ||
		!ed25519.Verify(key, append([]byte(context), s.Roster...), s.Signature) {
		return r, ErrSignature
	}
	if err := json.Unmarshal(s.Roster, &r); err != nil {
		return Roster{}, err
	}
	if len(r.Members) > MaxHosts {
		return Roster{}, errors.New("fleet: the roster is too long")
	}
	return r, nil
}
