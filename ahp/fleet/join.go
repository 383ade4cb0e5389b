package fleet

import (
	"context"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nkeys"

	"termhost/ahp/fleet/bus"
	"termhost/ahp/fleet/bus/natslink"
	"termhost/ahp/fleet/roster"
)

// guestPrefix begins the names under which those connect who want to join. No host's does.
const guestPrefix = "join-"

// CheckName fails for a name that no host may have.
func CheckName(name string) error {
	if !natslink.ValidName(name) || strings.HasPrefix(name, guestPrefix) || name == "localhost" {
		return fmt.Errorf("%q cannot be a host's name in a fleet: it has lower-case letters, "+
			"digits and hyphens, and is neither \"all\" nor \"localhost\"", name)
	}
	return nil
}

// guestName is the name of whoever has a secret of that SHA-256.
func guestName(hash []byte) string {
	return guestPrefix + hex.EncodeToString(hash[:min(8, len(hash))])
}

// guest returns that name if the secret is good; "": it is not. It is good until a time, and who
// has used it in time is still told the roster.
func (f *Fleet) guest(secret string) (name string, until time.Time) {
	expires, err := f.o.Folder.CheckToken(secret)
	if err != nil {
		return "", time.Time{}
	}
	hash := sha256.Sum256([]byte(secret))
	return guestName(hash[:]), expires.Add(fetchTime)
}

// endGuest ends the connection of a guest that has joined, once it has had the time to fetch the
// roster.
func (f *Fleet) endGuest(name string) {
	late := time.NewTimer(fetchTime)
	defer late.Stop()
	select {
	case <-f.stop:
	case <-late.C:
		f.server.End(name)
	}
}

// pin is how whoever has a line knows the fleet: by the hash of its authority, which the fleet's
// server proves, and by the key that signs the roster, which a server of others cannot replace.
type pin struct {
	authority [sha256.Size]byte
	root      ed25519.PublicKey
}

// Token is what a host joins with: a pin, the name of the fleet's home, and a secret. Later formats
// begin with their number, and more may follow.
func Token(m roster.Membership, home, secret string) string {
	hash := sha256.Sum256(m.Authority)
	return strings.Join([]string{
		base64.RawURLEncoding.EncodeToString(append(hash[:], m.Root...)), home, secret}, ".")
}

var errBadToken = errors.New(
	"this is not a line that `termhost fleet token` prints: copy all of it")

// parseToken takes a Token apart.
func parseToken(text string) (p pin, home, secret string, err error) {
	parts := strings.Split(text, ".")
	if n, err := strconv.Atoi(parts[0]); err == nil && n > roster.Format {
		return pin{}, "", "", &roster.FormatError{What: "the line to join", Format: n}
	}
	if len(parts) < 3 || CheckName(parts[1]) != nil || parts[2] == "" {
		return pin{}, "", "", errBadToken
	}
	raw, err := base64.RawURLEncoding.DecodeString(parts[0])
	if err != nil || len(raw) != sha256.Size+ed25519.PublicKeySize {
		return pin{}, "", "", errBadToken
	}
	return pin{[sha256.Size]byte(raw), raw[sha256.Size:]}, parts[1], parts[2], nil
}

// joining is what a host asks for.
type joining struct {
	Name string `json:"name"`
	Key  string `json:"key"`
	// Proof is of the secret, which a server of others must not see: it could join with it.
	Proof []byte `json:"proof"`
}

// proof returns what proves to know the hash of a secret, and is good for this request only.
func (j joining) proof(hash []byte) []byte {
	mac := hmac.New(sha256.New, hash)
	fmt.Fprintf(mac, "termhost fleet join 1\n%q %q", j.Name, j.Key)
	return mac.Sum(nil)
}

// joined is the answer.
type joined struct {
	Authority []byte `json:"authority"`
}

// asked answers a host that wants to join, or leaves. At servers of others it joins with the name
// that it wants: their permissions know no other.
func (f *Fleet) asked(_ context.Context, from string, p []byte) ([]byte, error) {
	<-f.ready
	if f.isHome() && f.asksToLeave(from, p) {
		return f.letLeave(from)
	}
	if f.isHome() {
		f.reread() // a name that was just removed is free
	}
	var j joining
	err := json.Unmarshal(p, &j)
	named := err == nil && len(f.o.Servers) > 0 && from == j.Name
	switch _, member := f.Member(from); {
	case !f.isHome():
		return nil, fmt.Errorf("%s is not the fleet's home", f.self.Name)
	case err == nil && (named || strings.HasPrefix(from, guestPrefix)):
	case member == nil:
		return nil, f.unknown("this request")
	default:
		return nil, errors.New("this host does not answer that")
	}
	if err := CheckName(j.Name); err != nil {
		return nil, err
	}
	f.mu.Lock()
	_, err = f.roster.With(roster.Member{Name: j.Name, Key: j.Key})
	f.mu.Unlock()
	if err != nil { // the line stays good
		return nil, err
	}
	door, err := f.o.Folder.Spend(func(hash []byte) bool {
		return (named || from == guestName(hash)) && hmac.Equal(j.Proof, j.proof(hash))
	})
	if err != nil {
		return nil, err
	}
	m := roster.Member{Name: j.Name, Key: j.Key, Door: door}
	next, err := f.o.Folder.Change(func(r roster.Roster) (roster.Roster, error) {
		return r.With(m)
	})
	if err != nil {
		return nil, err
	}
	f.adopt(next)
	f.mu.Lock()
	if f.server != nil && !named && !f.closed {
		f.running.Go(func() { f.endGuest(from) })
	}
	f.mu.Unlock()
	f.o.Log.Info("a host has joined the fleet", "host", j.Name, "door", door)
	return json.Marshal(joined{f.self.Authority})
}

// JoinOptions are what a host joins a fleet with.
type JoinOptions struct {
	Folder roster.Folder
	// Servers are those that the line names, or, if External, those of a NATS cluster.
	Servers         []string
	External        bool
	CredentialsFile string
	CAFile          string
	Token           string
	Name            string
	Log             *slog.Logger
	// Connect makes the link of a guest; nil: it is one on NATS.
	Connect func(guest string) bus.Connect
}

// CredentialsError says that the credentials for a NATS cluster are not for a host of that name.
type CredentialsError struct {
	Name string
	Err  error // what the server says
}

func (e *CredentialsError) Error() string {
	return fmt.Sprintf("the credentials do not let this host speak as %s: %v", e.Name, e.Err)
}

// Unwrap returns what the server says.
func (e *CredentialsError) Unwrap() error { return e.Err }

// ErrNoAnswer says that the fleet's server cannot be reached.
var ErrNoAnswer = errors.New("the fleet does not answer")

const (
	// startTime is how long a server may take that has just been told that there is a fleet, and
	// retryTime how long a host waits until it asks again.
	startTime = 3 * time.Second
	retryTime = 100 * time.Millisecond
)

// Join makes the host a member of a fleet. It returns [ErrNoAnswer] if no server can be reached for
// some seconds, a [*CredentialsError], the cause of ctx, or why the fleet does not want the host.
func Join(ctx context.Context, o JoinOptions) error {
	if err := o.Folder.Outside(); err != nil {
		return err
	}
	if err := CheckName(o.Name); err != nil {
		return err
	}
	fleet, home, secret, err := parseToken(o.Token)
	if err != nil {
		return err
	}
	key, err := nkeys.CreateUser()
	if err != nil {
		return err
	}
	public, err := key.PublicKey()
	if err != nil {
		return err
	}
	hash := sha256.Sum256([]byte(secret))
	guest := guestName(hash[:])
	link := natslink.Options{Name: guest, Servers: o.Servers, Log: o.Log, Once: true,
		CredentialsFile: o.CredentialsFile, CAFile: o.CAFile}
	ctx, deny := context.WithCancelCause(ctx)
	defer deny(nil)
	if o.External {
		guest, link.Name = o.Name, o.Name
		link.Denied = func(err error) { deny(&CredentialsError{o.Name, err}) }
	} else {
		link.Token, link.TLS = secret, pinned(fleet.authority)
	}
	connect := natslink.Connect(link)
	if o.Connect != nil {
		connect = o.Connect(guest)
	}
	node, err := bus.New(guest, connect, bus.Handlers{})
	for began := time.Now(); errors.Is(err, natslink.ErrNoServer); {
		if time.Since(began) > startTime {
			return ErrNoAnswer
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(retryTime):
		}
		node, err = bus.New(guest, connect, bus.Handlers{})
	}
	if errors.Is(err, natslink.ErrRefused) && !o.External {
		return roster.ErrToken
	}
	if errors.Is(err, natslink.ErrDenied) && o.External {
		return &CredentialsError{o.Name, err}
	}
	if err != nil {
		return err
	}
	defer node.Close()
	// What this host cannot read must not cost the line.
	if _, err := fetchSigned(ctx, node, home, fleet.root); err != nil {
		return err
	}
	asks := joining{Name: o.Name, Key: public}
	asks.Proof = asks.proof(hash[:])
	request, err := json.Marshal(asks)
	if err != nil {
		return err
	}
	answer, err := node.Request(ctx, home, request)
	if denied := (*CredentialsError)(nil); errors.As(err, &denied) {
		return denied // and not that nobody answers
	}
	if err != nil {
		return err
	}
	var j joined
	if err := json.Unmarshal(answer, &j); err != nil {
		return err
	}
	if sha256.Sum256(j.Authority) != fleet.authority {
		return errors.New("another fleet has answered")
	}
	signed, err := fetchSigned(ctx, node, home, fleet.root)
	if err != nil {
		return err
	}
	return o.Folder.Enter(roster.Membership{Name: o.Name, Root: fleet.root, Authority: j.Authority,
		Servers: o.Servers}, key, signed)
}

// fetchSigned gets the roster from the fleet's home. The error is ErrNoAnswer if that is silent.
func fetchSigned(ctx context.Context, node *bus.Node, home string, root ed25519.PublicKey) (
	[]byte, error) {
	s, err := node.Open(home, []byte(kindRoster))
	if err != nil {
		return nil, err
	}
	defer s.Close()
	defer context.AfterFunc(ctx, func() { s.Refuse(context.Cause(ctx)) })()
	_ = s.SetReadDeadline(time.Now().Add(fetchTime))
	signed, err := io.ReadAll(io.LimitReader(s, maxRoster))
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, ErrNoAnswer
	}
	if err == nil {
		_, err = roster.Verify(signed, root)
	}
	return signed, err
}

// pinned is how a host that has no more than a line knows the fleet's server: the certificate is
// signed by the authority of that hash.
func pinned(pin [sha256.Size]byte) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13, ServerName: roster.ServerName,
		InsecureSkipVerify: true, // VerifyConnection does what this leaves out
		VerifyConnection: func(state tls.ConnectionState) error {
			for _, c := range state.PeerCertificates[1:] {
				if sha256.Sum256(c.Raw) != pin {
					continue
				}
				roots := x509.NewCertPool()
				roots.AddCert(c)
				_, err := state.PeerCertificates[0].Verify(x509.VerifyOptions{
					Roots: roots, DNSName: roster.ServerName})
				return err
			}
			return errors.New("the server is not that of the fleet which the line names")
		},
	}
}
