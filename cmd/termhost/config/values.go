package config

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"termhost/ptypool/keyboard"
)

// Size is a number of bytes, never negative. In the file it carries a unit: "512B", "64KiB",
// "1MiB", "2GiB".
type Size int64

// sizeUnit is a suffix that a Size may have, and how many bytes it stands for.
type sizeUnit struct {
	suffix string
	bytes  int64
}

// sizeUnits lists the suffixes of a Size, largest first.
func sizeUnits() []sizeUnit {
	return []sizeUnit{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}
}

// UnmarshalText accepts a decimal whole number and one of sizeUnits.
func (s *Size) UnmarshalText(text []byte) error {
	in := string(text)
	digits := strings.TrimRight(in, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ")
	n, err := strconv.ParseUint(digits, 10, 63)
	if errors.Is(err, strconv.ErrRange) {
		return fmt.Errorf("%q is too large", in)
	}
	if err != nil {
		return fmt.Errorf("%q is not a size: write a whole number and a unit, "+
			"such as \"64KiB\" or \"1MiB\"", in)
	}
	suffix := in[len(digits):]
	if suffix == "" {
		return fmt.Errorf("%s has no unit: write \"%sB\", or use KiB, MiB or GiB", in, digits)
	}
	units := sizeUnits()
	i := slices.IndexFunc(units, func(u sizeUnit) bool { return u.suffix == suffix })
	if i < 0 {
		return fmt.Errorf("%q has an unknown unit: use B, KiB, MiB or GiB, "+
			"directly after the number", in)
	}
	if int64(n) > math.MaxInt64/units[i].bytes {
		return fmt.Errorf("%q is too large", in)
	}
	*s = Size(int64(n) * units[i].bytes)
	return nil
}

// String writes s with the largest unit of which it is a multiple.
func (s Size) String() string {
	for _, u := range sizeUnits() {
		if int64(s) >= u.bytes && int64(s)%u.bytes == 0 {
			return strconv.FormatInt(int64(s)/u.bytes, 10) + u.suffix
		}
	}
	return strconv.FormatInt(int64(s), 10) + "B"
}

// Duration is a length of time, never negative. In the file it is written as time.ParseDuration
// reads it, always with a unit: "30s", "1m30s", "8h".
type Duration time.Duration

// UnmarshalText accepts what time.ParseDuration does, except for negative durations and numbers
// without a unit. The error for days, which Go does not know, says how to write them.
func (d *Duration) UnmarshalText(text []byte) error {
	in := string(text)
	if in != "" && strings.Trim(in, "0123456789.") == "" {
		return fmt.Errorf("%s has no unit: write \"%ss\" for seconds, or use ms, m or h", in, in)
	}
	if days, ok := strings.CutSuffix(in, "d"); ok {
		if n, err := strconv.ParseUint(days, 10, 16); err == nil {
			return fmt.Errorf("%q: days are not understood: write \"%dh\"", in, n*24)
		}
	}
	v, err := time.ParseDuration(in)
	if err != nil || strings.HasPrefix(in, "+") {
		return fmt.Errorf("%q is not a duration: write a number and a unit, "+
			"such as \"30s\", \"5m\" or \"8h\"", in)
	}
	if strings.HasPrefix(in, "-") {
		return fmt.Errorf("%q is negative", in)
	}
	*d = Duration(v)
	return nil
}

// String writes d as time.Duration does, but without minutes and seconds that are zero.
func (d Duration) String() string {
	s := time.Duration(d).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// PrefixKey is the control character that begins a command while attached (0x01 to 0x1f, never
// ESC), or 0 when there is none. In the file it is "ctrl-" and a key, or "none".
type PrefixKey byte

// ctrlBackslash is Ctrl-\, the default prefix. Shells and editors hardly use it, and a program can
// still be sent one (it means SIGQUIT) by typing it twice.
const ctrlBackslash PrefixKey = 0x1c

// UnmarshalText accepts what [keyboard.ParsePrefix] reads.
func (k *PrefixKey) UnmarshalText(text []byte) error {
	key, err := keyboard.ParsePrefix(string(text))
	if err == nil {
		*k = PrefixKey(key)
	}
	return err
}

// String writes k as the file does.
func (k PrefixKey) String() string {
	if k == 0 {
		return "none"
	}
	return "ctrl-" + strings.ToLower(string(rune(k|0x40)))
}

// Startups says when new connections are refused because too many have not authenticated yet, as
// sshd's MaxStartups does: below Start of them none is refused, from Start on Rate percent, rising
// to all of them at Full.
type Startups struct {
	Start, Rate, Full int
}

// UnmarshalText accepts "START:RATE:FULL" with 1 <= START <= FULL <= maxStartupsFull and a RATE
// from 1 to 100 percent.
func (s *Startups) UnmarshalText(text []byte) error {
	parts := strings.Split(string(text), ":")
	if len(parts) != 3 {
		return fmt.Errorf("%q: write START:RATE:FULL, such as \"10:30:100\"", text)
	}
	var n [3]int
	for i, p := range parts {
		v, err := strconv.ParseUint(p, 10, 31)
		if err != nil {
			return fmt.Errorf("%q: %q is not a whole number", text, p)
		}
		n[i] = int(v)
	}
	switch {
	case n[0] < 1 || n[0] > n[2] || n[2] > maxStartupsFull:
		return fmt.Errorf("%q: START and FULL must satisfy 1 <= START <= FULL <= %d",
			text, maxStartupsFull)
	case n[1] < 1 || n[1] > 100:
		return fmt.Errorf("%q: RATE is a percentage from 1 to 100", text)
	}
	*s = Startups{Start: n[0], Rate: n[1], Full: n[2]}
	return nil
}

// String writes s as the file does.
func (s Startups) String() string { return fmt.Sprintf("%d:%d:%d", s.Start, s.Rate, s.Full) }

// Key is an SSH public key of a principal.
type Key struct {
	// Fingerprint is written as OpenSSH does: "SHA256:" and 43 characters of unpadded base64. It
	// is "" for a key that could not be decoded.
	Fingerprint string
	// Line is the authorized_keys line that the file gives, which lets the key log in, or "" where
	// the file gives only the fingerprint.
	Line string
}

const fingerprintPrefix = "SHA256:"

// UnmarshalText accepts a fingerprint or an authorized_keys line. It leaves the check of most of
// the line's options to package keys. Its errors never quote the text, since somebody may have
// pasted a private key.
func (k *Key) UnmarshalText(text []byte) error {
	in := strings.TrimSpace(string(text))
	if digest, ok := strings.CutPrefix(in, fingerprintPrefix); ok {
		sum, err := base64.RawStdEncoding.Strict().DecodeString(digest)
		if err != nil || len(sum) != 32 || strings.ContainsAny(digest, "\r\n") {
			return errors.New("bad fingerprint: after SHA256: there must be 43 base64 " +
				"characters, as ssh-keygen -l prints them")
		}
		*k = Key{Fingerprint: in}
		return nil
	}
	switch {
	case strings.Contains(in, "PRIVATE KEY"):
		return errors.New("this is a private key: name the public one (the .pub file), " +
			"and replace the pair if others can read this file")
	case strings.HasPrefix(in, "MD5:"):
		return errors.New("MD5 fingerprints are not accepted: use the SHA256 one, " +
			"as ssh-keygen -l prints it")
	case strings.ContainsAny(in, "\r\n"):
		return errors.New("a key is one line: give each key a string of its own")
	}
	pub, _, options, _, err := gossh.ParseAuthorizedKey([]byte(in))
	if err != nil {
		return errors.New("bad key: write \"SHA256:...\" or a line as in authorized_keys")
	}
	for _, o := range options {
		switch o = strings.ToLower(o); {
		case o == "cert-authority":
			return errors.New("an authority is not the key of one principal: " +
				"name its file in ssh.trusted_user_ca_files")
		case strings.HasPrefix(o, "environment=\"termhost_role="):
			return errors.New("the role is what the entry's role says: leave TERMHOST_ROLE out")
		}
	}
	if _, ok := pub.(*gossh.Certificate); ok {
		return errors.New("this is a certificate: name the key itself")
	}
	*k = Key{Fingerprint: gossh.FingerprintSHA256(pub), Line: in}
	return nil
}
