package ahp_test

import (
	"testing"

	"termhost/ahp"
)

func TestReservedNamesMeanThePlainOnes(t *testing.T) {
	for name, want := range map[string]string{
		"x-termhost/ask":   ahp.MethodAsk,
		"x-termhost/":      "termhost/",
		"termhost/ask":     "",
		"ping":             "",
		"x-ping":           "",
		"x-x-termhost/ask": "",
		"X-termhost/ask":   "",
		"":                 "",
	} {
		plain, reserved := ahp.Plain(name)
		if reserved != (want != "") || !reserved && plain != name || reserved && plain != want {
			t.Errorf("%q is %q, %v", name, plain, reserved)
		}
	}
	for _, name := range ahp.Announced() {
		if plain, reserved := ahp.Plain(ahp.Reserved(name)); plain != name || !reserved {
			t.Errorf("%q has no reserved form", name)
		}
	}
}
