package vt

import (
	"strings"
	"testing"
)

// replies collects what the program gets.
type replies struct {
	Discard
	text string
}

func (r *replies) Reply(p []byte) { r.text += string(p) }

// A program that asks for kitty's keyboard protocol is answered where the terminal has it. While
// that is not known, its other questions wait, too, because it goes by the order of the answers.
func TestTheKeyboardsFlagsAreAnsweredByWhatTheTerminalHas(t *testing.T) {
	t.Parallel()
	const asks, has, da1 = "\x1b[>1u\x1b[?u\x1b[5n", "\x1b[?1u", "\x1b[0n"
	for _, c := range []struct {
		name  string
		first KittyKeys
		asked string // what is answered at once
		then  KittyKeys
		after string // what is answered in all
	}{
		{"nobody's", KeysUnsaid, has + da1, KeysUnsaid, has + da1},
		{"known", KeysKnown, has + da1, KeysKnown, has + da1},
		{"lacking", KeysLacking, da1, KeysLacking, da1},
		{"asked, and known", KeysAsked, "", KeysKnown, has + da1},
		{"asked, and lacking", KeysAsked, "", KeysLacking, da1},
		{"asked again", KeysAsked, "", KeysAsked, ""},
	} {
		v, r := New(20, 2, Options{}), &replies{}
		v.SetKittyKeys(c.first, r)
		v.Feed([]byte(asks), r)
		if r.text != c.asked {
			t.Errorf("%s: %q is answered, want %q", c.name, r.text, c.asked)
		}
		v.SetKittyKeys(c.then, r)
		if r.text != c.after {
			t.Errorf("%s: %q is answered in all, want %q", c.name, r.text, c.after)
		}
		if got := v.KeyModes().Kitty; got != 1 { // what the host types is as the program wants it
			t.Errorf("%s: the flags are %d", c.name, got)
		}
	}
	// What asks nothing of that does not wait, and what waits is bounded.
	v, r := New(20, 2, Options{}), &replies{}
	v.SetKittyKeys(KeysAsked, r)
	if v.Feed([]byte("\x1b[5n"), r); r.text != da1 {
		t.Errorf("before: %q", r.text)
	}
	v.Feed([]byte("\x1b[?u"+strings.Repeat("\x1b[5n", maxHeldReplies)), r)
	if want := strings.Repeat(da1, maxHeldReplies+1); r.text != want {
		t.Errorf("%d bytes are answered, want %d", len(r.text), len(want))
	}
}
