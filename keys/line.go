package keys

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/crypto/ssh"
)

const (
	// MaxLineBytes bounds a line of a key file, in bytes. An RSA key of 16384 bits takes less
	// than 3 KiB, which leaves enough room for options.
	MaxLineBytes = 16 << 10
	// MaxCommentBytes bounds a comment or a certificate's key id, in bytes, because it is shown
	// in lists. What is longer is cut.
	MaxCommentBytes = 128
)

// Line is one usable line of an authorized_keys file.
type Line struct {
	// Key is the public key of a person or of a certificate authority.
	Key ssh.PublicKey
	// Comment is the rest of the line. It is printable and at most MaxCommentBytes long.
	Comment string
	// CertAuthority: Key does not log in but signs certificates.
	CertAuthority bool

	options lineOptions
}

// Fingerprint returns the key's "SHA256:..." fingerprint.
func (l Line) Fingerprint() string { return ssh.FingerprintSHA256(l.Key) }

// ParseLine reads a line in the format of sshd(8), "AUTHORIZED_KEYS FILE FORMAT": options, key
// type, base64 key, comment. An empty line or a # comment is an error. So is an option that is
// unknown or cannot be honoured, and a weak key (*WeakKeyError).
func ParseLine(text string) (Line, error) {
	line, err := parseLine(text)
	return line.Line, err
}

// IsFingerprint reports whether text has the format of a SHA-256 fingerprint: "SHA256:" and 43
// base64 characters without padding.
func IsFingerprint(text string) bool {
	encoded, ok := strings.CutPrefix(text, "SHA256:")
	if !ok {
		return false
	}
	sum, err := base64.RawStdEncoding.Strict().DecodeString(encoded)
	return err == nil && len(sum) == sha256.Size
}

// parsedLine is a line that may be refused. A refused line still has its key, if that could be
// read, because the key is then refused on all lines.
type parsedLine struct {
	Line
	keyKnown, hasOptions bool
}

func parseLine(text string) (parsedLine, error) {
	if len(text) > MaxLineBytes {
		return parsedLine{}, fmt.Errorf("the line is longer than %d bytes", MaxLineBytes)
	}
	if strings.ContainsAny(text, "\x00\n") {
		return parsedLine{}, errors.New("the line contains a NUL or line feed")
	}
	text = strings.TrimRight(strings.TrimLeft(text, " \t"), " \t\r")
	key, comment, err := parseKeyFields(text)
	options := noOptions()
	var optionsErr error
	var unknown *unknownTypeError
	hasOptions := err != nil && !errors.As(err, &unknown)
	if err != nil && !hasOptions {
		return parsedLine{}, err
	}
	if hasOptions {
		field, rest := cutOptions(text)
		if rest == "" {
			return parsedLine{}, err
		}
		if key, comment, err = parseKeyFields(rest); err != nil {
			return parsedLine{}, err
		}
		options, optionsErr = parseOptions(field)
	}
	parsed := parsedLine{keyKnown: true, hasOptions: hasOptions, Line: Line{
		Key: key, Comment: clean(comment), CertAuthority: options.certAuthority, options: options,
	}}
	if optionsErr != nil {
		return parsed, optionsErr
	}
	if err := checkAlgorithm(key); err != nil {
		return parsed, err
	}
	if options.verify && isSecurityKey(key) {
		return parsed, errors.New(`the option "verify-required" cannot be enforced here: ` +
			`the SSH library does not say whether a PIN was given`)
	}
	return parsed, nil
}

// parseKeyFields reads "type base64 comment".
func parseKeyFields(text string) (ssh.PublicKey, string, error) {
	kind, rest := cutField(text)
	encoded, comment := cutField(rest)
	if encoded == "" {
		return nil, "", errors.New("the line holds no key")
	}
	blob, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, "", errors.New("the line holds no readable key: its base64 is damaged")
	}
	key, err := ssh.ParsePublicKey(blob)
	if err != nil && isUnknownType(kind, blob) {
		return nil, "", &unknownTypeError{kind}
	}
	if err != nil {
		return nil, "", fmt.Errorf("the line holds no usable key: %w", err)
	}
	if key.Type() != kind {
		return nil, "", errors.New("the key is not of the type that the line names")
	}
	return key, comment, nil
}

// unknownTypeError says that the SSH library does not support the key's type, because it is too new
// or too old. Nobody can log in with such a key.
type unknownTypeError struct{ kind string }

func (e *unknownTypeError) Error() string {
	return fmt.Sprintf("keys of type %s are not supported here", clean(e.kind))
}

// isUnknownType reports whether blob has the type that its line names (RFC 4253 section 6.6), and
// the SSH library does not know that type.
func isUnknownType(kind string, blob []byte) bool {
	var key struct {
		Type string
		Rest []byte `ssh:"rest"`
	}
	if ssh.Unmarshal(blob, &key) != nil || key.Type != kind || kind == "" {
		return false
	}
	known := ssh.SupportedAlgorithms().PublicKeyAuths
	known = append(known, ssh.InsecureAlgorithms().PublicKeyAuths...)
	known = append(known, ssh.SupportedAlgorithms().HostKeys...) // with those of certificates
	known = append(known, ssh.InsecureAlgorithms().HostKeys...)
	plain := strings.TrimSuffix(kind, certSuffix)
	return !slices.Contains(known, kind) && !slices.Contains(known, plain)
}

// certSuffix ends the type of a certificate (OpenSSH's PROTOCOL.certkeys).
const certSuffix = "-cert-v01@openssh.com"

// cutField splits the first field off s.
func cutField(s string) (field, rest string) {
	end := strings.IndexAny(s, " \t")
	if end < 0 {
		return s, ""
	}
	return s[:end], strings.TrimLeft(s[end:], " \t")
}

// cutOptions splits the options off s, which end at the first blank outside double quotes. rest is
// empty if there is none.
func cutOptions(s string) (field, rest string) {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && s[i+1] == '"':
			i++
		case s[i] == '"':
			quoted = !quoted
		case !quoted && (s[i] == ' ' || s[i] == '\t'):
			return s[:i], strings.TrimLeft(s[i:], " \t")
		}
	}
	return s, ""
}

// clean makes text fit to be shown in a list or a log. It removes what is not printable (control
// and formatting characters, invalid UTF-8), cuts the text at a rune's end to MaxCommentBytes, and
// trims blanks.
func clean(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			continue
		}
		if b.Len()+utf8.RuneLen(r) > MaxCommentBytes {
			break
		}
		b.WriteRune(r)
	}
	return strings.TrimSpace(b.String())
}
