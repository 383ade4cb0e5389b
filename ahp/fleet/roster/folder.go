package roster

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/nats-io/nkeys"
	"golang.org/x/crypto/ssh"

	"termhost/ptypool/statefile"
)

// The files of a Folder. The last three are those of the fleet's home only.
const (
	membershipFile = "fleet.json"
	keyFile        = "host.nk"
	rosterFile     = "roster.json"
	rootFile       = "root.key"
	authorityFile  = "ca.key"
	tokensFile     = "tokens.json"
)

// Membership is what a host knows of its fleet from joining it.
type Membership struct {
	// Name is the host's, in the fleet.
	Name string `json:"name"`
	// Root is the public key that signs the roster.
	Root ed25519.PublicKey `json:"root"`
	// Authority is the certificate, in DER, that signs those of the fleet's server.
	Authority []byte `json:"authority"`
	// Servers are the URLs of the NATS server; of the home the one that the others use.
	Servers []string `json:"servers"`
	// Listen is where the fleet's server in this host listens; "": there is none.
	Listen string `json:"listen,omitempty"`
}

// Folder is STATE/fleet: the state of a host that is in a fleet. Its methods may be called
// concurrently, by several processes too.
type Folder string

// In returns the folder of a state folder.
func In(stateDir string) Folder { return Folder(filepath.Join(stateDir, "fleet")) }

func (f Folder) path(name string) string { return filepath.Join(string(f), name) }

// ErrNoFleet says that a host is in no fleet.
var ErrNoFleet = errors.New("this host is in no fleet")

// Membership reads what the host knows; the error is ErrNoFleet where it is in none.
func (f Folder) Membership() (m Membership, err error) {
	text, err := statefile.Read(f.path(membershipFile))
	if errors.Is(err, fs.ErrNotExist) {
		return m, ErrNoFleet
	}
	if err == nil {
		err = CheckFormat("what this host knows of its fleet", text)
	}
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil {
		return m, fmt.Errorf("fleet: cannot read %s: %w", f.path(membershipFile), err)
	}
	return m, nil
}

// ErrRemoved says that a host is in no fleet any more.
var ErrRemoved = errors.New("this host was removed from its fleet and is in none: " +
	"`termhost fleet join` puts it into one again")

// Removed reports whether the host has heard that it was removed from its fleet.
func (f Folder) Removed() bool {
	m, err := f.Membership()
	if err != nil {
		return false
	}
	r, err := f.Roster(m.Root)
	if err != nil {
		return false
	}
	_, is := r.Named(m.Name)
	return !is
}

// Outside fails for a host that is in a fleet.
func (f Folder) Outside() error {
	switch _, err := f.Membership(); {
	case errors.Is(err, ErrNoFleet) || f.Removed():
		return nil
	case err != nil:
		return err
	}
	return errors.New("this host is in a fleet already; `termhost fleet leave` leaves it")
}

// Inside returns what the host knows, and fails for one that is in no fleet, or was removed.
func (f Folder) Inside() (Membership, error) {
	m, err := f.Membership()
	if err == nil && f.Removed() {
		err = ErrRemoved
	}
	return m, err
}

// Key reads the host's key.
func (f Folder) Key() (nkeys.KeyPair, error) {
	seed, err := statefile.Read(f.path(keyFile))
	if err != nil {
		return nil, fmt.Errorf("fleet: cannot read the host's key: %w", err)
	}
	return nkeys.FromSeed(seed)
}

// Signer returns a host's key for SSH.
func Signer(key nkeys.KeyPair) (ssh.Signer, error) {
	private, err := privateKey(key)
	if err != nil {
		return nil, err
	}
	return ssh.NewSignerFromKey(private)
}

// privateKey returns an NKEY, which is the seed of an Ed25519 key with a prefix, as the latter.
func privateKey(key nkeys.KeyPair) (ed25519.PrivateKey, error) {
	text, err := key.Seed()
	if err != nil {
		return nil, err
	}
	_, seed, err := nkeys.DecodeSeed(text)
	if err != nil || len(seed) != ed25519.SeedSize {
		return nil, errors.New("fleet: the host's key is no NKEY")
	}
	return ed25519.NewKeyFromSeed(seed), nil
}

// Roster reads the roster that the host has seen last.
func (f Folder) Roster(root ed25519.PublicKey) (Roster, error) {
	p, err := statefile.Read(f.path(rosterFile))
	if err != nil {
		return Roster{}, fmt.Errorf("fleet: cannot read the roster: %w", err)
	}
	return Verify(p, root)
}

// SaveRoster stores a signed roster.
func (f Folder) SaveRoster(signed []byte) error {
	return statefile.Save(f.path(rosterFile), signed, 0o600)
}

// Signed returns the roster in its signed form.
func (f Folder) Signed() ([]byte, error) { return statefile.Read(f.path(rosterFile)) }

// RosterChanged returns what differs when the roster's file has been replaced; nil: there is none.
func (f Folder) RosterChanged() os.FileInfo { return stat(f.path(rosterFile)) }

// Joined returns what differs when the host has joined another fleet; nil: it is in none.
func (f Folder) Joined() os.FileInfo { return stat(f.path(membershipFile)) }

func stat(path string) os.FileInfo {
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	return info
}

// Same reports whether two results of Joined or RosterChanged are of the same file.
func Same(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

// Change has the fleet's home sign a changed roster, and stores it.
func (f Folder) Change(change func(Roster) (Roster, error)) (Roster, error) {
	m, err := f.Inside()
	if err != nil {
		return Roster{}, err
	}
	root, err := f.root()
	if err != nil {
		return Roster{}, err
	}
	unlock, err := f.lock()
	if err != nil {
		return Roster{}, err
	}
	defer unlock()
	now, err := f.Roster(m.Root)
	if err != nil {
		return Roster{}, err
	}
	next, err := change(now)
	if err != nil {
		return Roster{}, err
	}
	signed, err := next.Sign(root)
	if err == nil {
		err = f.SaveRoster(signed)
	}
	return next, err
}

// root reads the key that signs the roster.
func (f Folder) root() (ed25519.PrivateKey, error) {
	seed, err := statefile.Read(f.path(rootFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("only the host that has made the fleet can do that")
	}
	if err == nil && len(seed) != ed25519.SeedSize {
		err = errors.New("fleet: the root key is damaged")
	}
	if err != nil {
		return nil, err
	}
	return ed25519.NewKeyFromSeed(seed), nil
}

// Enter stores what a host has got by joining.
func (f Folder) Enter(m Membership, key nkeys.KeyPair, signed []byte) error {
	seed, err := key.Seed()
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err == nil {
		err = os.MkdirAll(string(f), 0o700)
	}
	if err == nil {
		err = statefile.Save(f.path(keyFile), seed, 0o600)
	}
	if err == nil {
		err = f.SaveRoster(signed)
	}
	if err == nil { // last: it says that the host is in a fleet
		err = statefile.Save(f.path(membershipFile), append(text, '\n'), 0o600)
	}
	return err
}

// Leave deletes the host's files of its fleet, the proof of membership first.
func (f Folder) Leave() error {
	if err := os.Remove(f.path(membershipFile)); err != nil {
		return err
	}
	return os.RemoveAll(string(f))
}
