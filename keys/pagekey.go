package keys

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"fmt"
	"io"
	"path/filepath"

	"golang.org/x/crypto/ssh"
)

const pageKeyName = "page_host_ecdsa_key" // in the state folder

// PageKey returns the key with which the host proves itself to web pages. It is on P-256, which
// every browser can verify, while SSH host keys may be of other types. The first call makes it in
// the state folder (mode 0600, with a .pub file beside it).
func PageKey(stateDir string, rand io.Reader) (*ecdsa.PrivateKey, error) {
	path := filepath.Join(stateDir, pageKeyName)
	err := ensureKeyOf(path, "termhost page", func() (crypto.Signer, error) {
		return ecdsa.GenerateKey(elliptic.P256(), rand)
	})
	if err != nil {
		return nil, err
	}
	data, err := readPrivate(path, MaxFileBytes)
	if err != nil {
		return nil, fmt.Errorf("keys: the key for pages %s cannot be read: %w", path, reason(err))
	}
	defer clear(data)
	// The parser's own message is left out, because it has seen the private key.
	private, _ := ssh.ParseRawPrivateKey(data)
	key, ok := private.(*ecdsa.PrivateKey)
	if !ok || key.Curve != elliptic.P256() {
		return nil, fmt.Errorf("keys: %s is no ecdsa key of 256 bits; "+
			"remove it, and open pages anew", path)
	}
	return key, nil
}
