package roster

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"slices"
	"time"

	"github.com/nats-io/nkeys"

	"termhost/ptypool/statefile"
)

// ServerName is the name in the certificate of a fleet's server: hosts know it by the fleet's
// authority, wherever it is.
const ServerName = "fleet.termhost.internal"

// certificateLife is longer than any host runs: a certificate is made at each start, and is not
// what removes a host.
const certificateLife = 10 * 365 * 24 * time.Hour

// always is when certificates begin to be valid: clocks of hosts differ, and one without a battery
// starts in 1970. A certificate says whose key it is, and no more; what ends a host is the roster.
var always = time.Unix(0, 0)

// Found makes a fleet whose home is this host.
func (f Folder) Found(name, listen string, servers []string) error {
	if err := f.Outside(); err != nil {
		return err
	}
	public, root, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	_, authority, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	certificate, err := makeAuthority(authority)
	if err != nil {
		return err
	}
	key, err := nkeys.CreateUser()
	if err != nil {
		return err
	}
	own, err := key.PublicKey()
	if err != nil {
		return err
	}
	r, err := Roster{Home: name}.With(Member{Name: name, Key: own, Door: true})
	if err != nil {
		return err
	}
	signed, err := r.Sign(root)
	if err == nil {
		err = os.MkdirAll(string(f), 0o700)
	}
	if err == nil {
		err = statefile.Save(f.path(rootFile), root.Seed(), 0o600)
	}
	if err == nil {
		err = statefile.Save(f.path(authorityFile), authority.Seed(), 0o600)
	}
	if err != nil {
		return err
	}
	return f.Enter(Membership{Name: name, Root: public, Authority: certificate,
		Servers: servers, Listen: listen}, key, signed)
}

// makeAuthority returns the certificate of an authority, in DER.
func makeAuthority(key ed25519.PrivateKey) ([]byte, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	t := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "termhost fleet"},
		NotBefore: always, NotAfter: time.Now().Add(10 * certificateLife),
		KeyUsage: x509.KeyUsageCertSign, BasicConstraintsValid: true, IsCA: true,
		MaxPathLenZero: true,
	}
	return x509.CreateCertificate(rand.Reader, t, t, key.Public(), key)
}

// Certificate makes one for the fleet's server, signed by the fleet's authority.
func (f Folder) Certificate(m Membership) (tls.Certificate, error) {
	seed, err := statefile.Read(f.path(authorityFile))
	if err != nil {
		return tls.Certificate{}, err
	}
	if len(seed) != ed25519.SeedSize {
		return tls.Certificate{}, errors.New("fleet: the authority's key is damaged")
	}
	authority, err := x509.ParseCertificate(m.Authority)
	if err != nil {
		return tls.Certificate{}, err
	}
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return tls.Certificate{}, err
	}
	t := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: ServerName},
		DNSNames: []string{ServerName}, NotBefore: always,
		NotAfter: time.Now().Add(certificateLife), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, t, authority, public,
		ed25519.NewKeyFromSeed(seed))
	return tls.Certificate{Certificate: [][]byte{der, m.Authority}, PrivateKey: private}, err
}

// ClientTLS is how a member knows the fleet's server.
func ClientTLS(authority []byte) (*tls.Config, error) {
	c, err := x509.ParseCertificate(authority)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AddCert(c)
	return &tls.Config{RootCAs: pool, ServerName: ServerName, MinVersion: tls.VersionTLS13}, nil
}

// tokenLife is for how long a line to join may be used.
const tokenLife = time.Hour

// maxTokens bounds the lines to join that are open.
const maxTokens = 1000

// token is a line to join that is open.
type token struct {
	Hash    []byte    `json:"hash"` // SHA-256: the secret itself is long and random
	Expires time.Time `json:"expires"`
	Door    bool      `json:"door,omitempty"`
}

// NewToken makes the secret of a line with which one host may join within an hour.
func (f Folder) NewToken(door bool) (secret string, err error) {
	if _, err := f.root(); err != nil {
		return "", err
	}
	secret = rand.Text()
	hash := sha256.Sum256([]byte(secret))
	return secret, f.changeTokens(func(list []token) ([]token, error) {
		if len(list) >= maxTokens {
			return nil, fmt.Errorf("%d hosts may join already; wait an hour", maxTokens)
		}
		return append(list, token{hash[:], time.Now().Add(tokenLife), door}), nil
	})
}

// ErrToken refuses a line to join.
var ErrToken = errors.New("the line to join is not valid any more: it is good for one host and " +
	"one hour; `termhost fleet token` on the fleet's home prints another one")

// CheckToken returns when a secret expires, and fails if it is not, or not any more, one of
// NewToken's.
func (f Folder) CheckToken(secret string) (expires time.Time, err error) {
	list, err := f.tokens()
	if err != nil {
		return time.Time{}, err
	}
	i := find(list, ofSecret(secret))
	if i < 0 {
		return time.Time{}, ErrToken
	}
	return list[i].Expires, nil
}

// Spend uses a secret up, of whose SHA-256 proves is true, and says whether its host becomes a
// door.
func (f Folder) Spend(proves func(hash []byte) bool) (door bool, err error) {
	err = f.changeTokens(func(list []token) ([]token, error) {
		i := find(list, proves)
		if i < 0 {
			return nil, ErrToken
		}
		door = list[i].Door
		return slices.Delete(list, i, i+1), nil
	})
	return door, err
}

// find returns where a secret is.
func find(list []token, is func(hash []byte) bool) int {
	return slices.IndexFunc(list, func(t token) bool { return is(t.Hash) })
}

// ofSecret finds a secret. What is compared are hashes of it, so the time that it takes tells
// nothing.
func ofSecret(secret string) func(hash []byte) bool {
	sum := sha256.Sum256([]byte(secret))
	return func(hash []byte) bool { return slices.Equal(hash, sum[:]) }
}

// tokens returns those that are open.
func (f Folder) tokens() (list []token, err error) {
	text, err := statefile.Read(f.path(tokensFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	now := time.Now()
	return slices.DeleteFunc(list, func(t token) bool { return !now.Before(t.Expires) }), err
}

func (f Folder) changeTokens(change func([]token) ([]token, error)) error {
	unlock, err := f.lock()
	if err != nil {
		return err
	}
	defer unlock()
	list, err := f.tokens()
	if err != nil {
		return err
	}
	if list, err = change(list); err != nil {
		return err
	}
	text, err := json.Marshal(list)
	if err != nil {
		return err
	}
	return statefile.Save(f.path(tokensFile), text, 0o600)
}
