package keys

import (
	"errors"
	"fmt"
	"net/netip"
	"time"
)

// Identity describes a key that a Ring has accepted. It is comparable and holds no secrets.
type Identity struct {
	// Fingerprint is the key's "SHA256:...", or that of the key in the certificate.
	Fingerprint string
	// Comment is the comment of the key's line, or the certificate's key id. It is
	// printable, at most MaxCommentBytes long, and may be empty.
	Comment string
	// User is the SSH user name that the peer asked for.
	User string
	// Remote is the address that the key was used from. It is the zero Addr if that was not
	// a TCP connection.
	Remote netip.Addr
	// Key is the public key or certificate as the peer presented it, "type base64".
	Key string

	// Role is "admin", "operator" or "observer", or "" if the options name none.
	Role string
	// Command is the forced command, or "".
	Command string
	// ReadOnly says that the options or the certificate do not permit a pty.
	ReadOnly bool
	// NoForward says that the options or the certificate do not permit port forwarding.
	NoForward bool
	// Forwards says that the options name port forwarding (port-forwarding, permitopen or
	// permitlisten). It matters for a key that is ReadOnly.
	Forwards bool
	// Opens is what forwards may connect to, and Listens where they may listen.
	Opens, Listens Permits
	// NoAgent says that the options or the certificate do not permit agent forwarding.
	NoAgent bool
	// NoTouchRequired says that a security key need not be touched. Pass it to the SSH library as
	// Permissions.Extensions["no-touch-required"].
	NoTouchRequired bool
	// From is the from= list that Remote was matched with, or "".
	From string
	// Expires is the earlier one of the line's expiry-time and the certificate's end; zero:
	// never.
	Expires time.Time
}

// Errors of refused keys, to match. An error's text has details for the log. The peer learns only
// that the key was refused.
var (
	// ErrUnknownKey says that nothing authorises the key, or no longer does.
	ErrUnknownKey = errors.New("keys: the key is not authorised")
	// ErrWithdrawn says that the file that authorised the key cannot be trusted at the moment. The
	// key may come back.
	ErrWithdrawn = errors.New(
		"keys: the key is withdrawn, because the file that decides about it is refused")
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
