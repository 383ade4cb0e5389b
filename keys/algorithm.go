package keys

import (
	"crypto/rsa"
	"fmt"

	"golang.org/x/crypto/ssh"
)

// MinRSABits is the smallest RSA modulus that is accepted for any key, in bits: the least that
// NIST SP 800-131A still allows, and twice the least that OpenSSH's RequiredRSASize allows.
const MinRSABits = 2048

// WeakKeyError says that a key's algorithm or size is not accepted.
type WeakKeyError struct {
	// Type is the key's type, as in a line of a public key file.
	Type string
	// Reason says why the key is refused, and names a better kind.
	Reason string
}

// Error describes the key's weakness.
func (e *WeakKeyError) Error() string {
	return fmt.Sprintf("keys: a key of type %s is refused: %s", e.Type, e.Reason)
}

// checkAlgorithm returns a *WeakKeyError unless key, which is not a certificate, is of an accepted
// type and size. All other types are refused, new ones as well as obsolete ones (ssh-dss).
func checkAlgorithm(key ssh.PublicKey) error {
	switch key.Type() {
	case ssh.KeyAlgoED25519, ssh.KeyAlgoSKED25519, ssh.KeyAlgoSKECDSA256,
		ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521:
		return nil
	case ssh.KeyAlgoRSA:
		return checkRSA(key)
	default:
		return &WeakKeyError{Type: key.Type(),
			Reason: "it is not ed25519, ecdsa or rsa; make one with ssh-keygen -t ed25519"}
	}
}

func checkRSA(key ssh.PublicKey) error {
	public, ok := key.(ssh.CryptoPublicKey)
	if !ok {
		return &WeakKeyError{Type: key.Type(), Reason: "its size is unknown"}
	}
	k, ok := public.CryptoPublicKey().(*rsa.PublicKey)
	if !ok {
		return &WeakKeyError{Type: key.Type(), Reason: "its size is unknown"}
	}
	if bits := k.N.BitLen(); bits < MinRSABits {
		return &WeakKeyError{Type: key.Type(), Reason: fmt.Sprintf(
			"it has %d bits, fewer than %d; make one with ssh-keygen -t ed25519", bits, MinRSABits)}
	}
	return nil
}

// isSecurityKey reports whether the private key is in a FIDO authenticator.
func isSecurityKey(key ssh.PublicKey) bool {
	return key.Type() == ssh.KeyAlgoSKED25519 || key.Type() == ssh.KeyAlgoSKECDSA256
}
