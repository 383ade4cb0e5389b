package share

import (
	"bytes"
	"testing"
)

func TestTheKeysOfShareAreNotTyped(t *testing.T) {
	const paste = "\x1b[200~rm \x1c\x1cp\x1b[92;5up\x1b[201~"
	for _, tc := range []struct {
		in       []string
		typed    string
		commands string
	}{
		{[]string{"ls\r"}, "ls\r", ""},
		{[]string{"a\x1cpb"}, "ab", "p"},
		{[]string{"a\x1c", "p", "b"}, "ab", "p"},
		{[]string{"\x1c\x1c"}, "\x1c", ""},
		{[]string{"\x1cx"}, "\x1cx", ""},
		{[]string{"\x1cé"}, "\x1cé", ""},
		{[]string{"\x1cp\x1cp"}, "", "pp"},
		{[]string{"\x1cr"}, "", "r"},
		// The kitty keyboard protocol: with Caps Lock, with everything reported.
		{[]string{"\x1b[92;5u", "p"}, "", "p"},
		{[]string{"\x1b[92;5u\x1b[92;5u"}, "\x1b[92;5u", ""},
		{[]string{"\x1b[92;69up"}, "", "p"},
		{[]string{"\x1b[92;5:1u\x1b[92;5:3u\x1b[112;1:1u\x1b[112;1:3ux"}, "\x1b[112;1:3ux", "p"},
		{[]string{"\x1b[9", "2;5", "up"}, "", "p"},
		// xterm's modifyOtherKeys.
		{[]string{"\x1b[27;5;92~p"}, "", "p"},
		// Other keys, including Alt-[ and half a rune, go through unchanged.
		{[]string{"\x1b[", "x\x1b[A\x1bOP\x1b[15;5~\x1b[92;6:3u\x1b"}, "\x1b[x\x1b[A\x1bOP\x1b[15;5~\x1b", ""},
		{[]string{"\xe2\x82", "\xac"}, "\xe2\x82\xac", ""},
		// A report of the mouse after the prefix is not the key.
		{[]string{"\x1c\x1b[<35;1;1M\x1b[Ip"}, "\x1b[<35;1;1M\x1b[I", "p"},
		// Pasted text contains no keys, however it arrives.
		{[]string{paste, "\x1cp"}, paste, "p"},
		{[]string{"\x1b[200~a\x1c", "p\x1b[20", "1~\x1cp"}, "\x1b[200~a\x1cp\x1b[201~", "p"},
		{[]string{"\x1c" + paste + "\x1cp"}, "\x1c" + paste, "p"},
	} {
		var typed bytes.Buffer
		commands := ""
		k := &typedKeys{
			program: func(p []byte) { typed.Write(p) },
			help:    func() {},
			command: func(key rune) bool {
				taken := key == 'p' || key == 'r'
				if taken {
					commands += string(key)
				}
				return taken
			},
		}
		for _, p := range tc.in {
			k.take([]byte(p))
		}
		if typed.String() != tc.typed || commands != tc.commands {
			t.Errorf("%q: typed is %q, commands are %q", tc.in, typed.String(), commands)
		}
	}
}
