package keys

import (
	"errors"
	"fmt"
	"net/netip"
	"time"
)

// Identity is what a Ring knows of a key that it let in. It is a plain value,
// comparable with ==, and nothing in it is secret.
type Identity struct {
	// Fingerprint is the key's "SHA256:..."; for a certificate, that of the key
	// inside it.
	Fingerprint string
	// Comment is the comment of the key's line, or the certificate's key id;
	// printable, at most MaxCommentBytes long, possibly empty.
	Comment string
	// User is the SSH user name that was asked for.
	User string
	// Remote is the address that the key was used from; the zero Addr if that
	// was no TCP connection.
	Remote netip.Addr
	// Key is the public key or certificate as it was presented, "type base64".
	Key string

	// Role is "admin", "operator", "observer" or, if the options name none, "".
	Role string
	// Command is the forced command, "" for none.
	Command string
	// ReadOnly: the options or the certificate take the pty away.
	ReadOnly bool
	// NoForward: the options or the certificate forbid the forward to the HTTP
	// door.
	NoForward bool
	// NoTouchRequired waives the touch of a security key; the SSH library must
	// be told so through Permissions.Extensions["no-touch-required"].
	NoTouchRequired bool
	// From is the from= list that Remote was matched against, "" for none.
	From string
	// Expires is the earliest of the line's expiry-time and the certificate's
	// end; zero means never.
	Expires time.Time

	// CertSerial, KeyID and CAFingerprint describe the certificate; KeyID is
	// cleaned like Comment. Without certificate CAFingerprint is "".
	CertSerial    uint64
	KeyID         string
	CAFingerprint string

	// Source is where the key is authorised, "FILE:LINE" or "config", for the
	// log.
	Source string
}

// Errors that a refused key is matched with. The error itself says more, for
// the log; the peer is told nothing but that it was refused.
var (
	// ErrUnknownKey: nothing authorises the key, or no longer.
	ErrUnknownKey = errors.New("keys: the key is not authorised")
	// ErrWithdrawn: the file that decides about the key cannot be trusted at the
	// moment. The key may come back.
	ErrWithdrawn = errors.New("keys: the key is withdrawn, because the file that decides about it is refused")
)

// RefusedError says why a known key was refused.
type RefusedError struct {
	// Fingerprint is the key's.
	Fingerprint string
	// Reason completes the sentence "the key is refused: ...".
	Reason string
}

// Error names the key and the reason.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("keys: the key %s is refused: %s", e.Fingerprint, e.Reason)
}

func refused(fingerprint, format string, args ...any) error {
	return &RefusedError{Fingerprint: fingerprint, Reason: fmt.Sprintf(format, args...)}
}
