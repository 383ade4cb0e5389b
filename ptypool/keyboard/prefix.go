package keyboard

import (
	"fmt"
	"strings"
)

// PrefixVariable is the environment variable with which a person chooses a prefix key. OpenSSH's
// SetEnv sends it, and servers that do not know it accept it as they do the locale.
const PrefixVariable = "LC_TERMHOST_PREFIX"

// StatusVariable is the environment variable with which a person chooses whether there is a status
// line below a terminal: "line" or "off". Hosts of a fleet tell each other by it, too.
const StatusVariable = "LC_TERMHOST_STATUS"

// ParsePrefix reads the name of a prefix key: "ctrl-a" to "ctrl-z", "ctrl-\", "ctrl-]", "ctrl-^"
// and "ctrl-_", also with "c-" or "^" in place of "ctrl-", and "none" or "", which is 0. It refuses
// Tab, Enter, interrupt and end of file, which everybody types, and Escape, with which the
// sequences of function keys begin.
func ParsePrefix(text string) (byte, error) {
	in := strings.ToLower(text)
	if in == "" || in == "none" {
		return 0, nil
	}
	key := ""
	for _, modifier := range []string{"ctrl-", "c-", "^"} {
		if rest, ok := strings.CutPrefix(in, modifier); ok {
			key = rest
			break
		}
	}
	if len(key) != 1 {
		return 0, fmt.Errorf("%q is not a prefix key: write \"ctrl-\" and one character, "+
			"such as \"ctrl-a\", or \"none\"", text)
	}
	switch c := key[0]; {
	case strings.IndexByte("[ijmcd", c) >= 0:
		return 0, fmt.Errorf("%q is needed as it is (Escape, Tab, Enter, interrupt or end of "+
			"file): choose another key", text)
	case c >= 'a' && c <= 'z', c >= '\\' && c <= '_':
		return c & 0x1f, nil
	}
	return 0, fmt.Errorf("%q is not a control character: use a letter, or one of \\ ] ^ _", text)
}
