package viewer

import (
	"errors"
	"fmt"
	"strings"

	"termhost/ahp/host"
	"termhost/authz"
	"termhost/ptypool/keyboard"
)

// Explain returns the text of an error for people: a refusal names the holder of the keyboard and a
// way on, and no error names a package. prefix is as in [Session].
func Explain(err error, prefix byte) string {
	var held *host.HeldError
	switch {
	case !errors.As(err, &held):
	case held.Agent || held.Denied.Verb != authz.Input || prefix == 0:
		return held.Error()
	default:
		return fmt.Sprintf("%s has the keyboard; ask with %s, or an admin can take it",
			held.Holder, keyName(prefix, 'a'))
	}
	text := err.Error()
	for _, prefix := range []string{"ptypool: ", "keys: ", "authz: ", "host: ", "history: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return text
}

func (s *Session) explain(err error) string { return Explain(err, s.Prefix) }

// key names the keys to press for the key k behind the prefix.
func (s *Session) key(k rune) string { return keyName(s.Prefix, k) }

func keyName(prefix byte, k rune) string { return keyboard.ControlName(prefix) + " " + string(k) }
