package ahp_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"termhost/ahp"
)

// checkString fails unless p is encoded as encoding/json would.
func checkString(t *testing.T, p []byte) {
	t.Helper()
	got := ahp.AppendJSONString([]byte("x"), p)
	if got[0] != 'x' {
		t.Fatal("dst was not kept")
	}
	got = got[1:]
	if !utf8.Valid(got) {
		t.Fatalf("%q is encoded as invalid UTF-8: %q", p, got)
	}
	ref, err := json.Marshal(string(p))
	if err != nil {
		t.Fatal(err)
	}
	var a, b string
	if err := json.Unmarshal(got, &a); err != nil {
		t.Fatalf("%q is encoded as %s: %v", p, got, err)
	}
	if err := json.Unmarshal(ref, &b); err != nil {
		t.Fatal(err)
	}
	if a != b {
		t.Fatalf("%q decodes to %q, encoding/json's to %q", p, a, b)
	}
	if s := ahp.AppendJSONString(nil, string(p)); string(s) != string(got) {
		t.Fatalf("%q differs as a string: %s", p, s)
	}
	for _, c := range got { // a message must fit in a line
		if c < 0x20 {
			t.Fatalf("%q is encoded with a control character: %q", p, got)
		}
	}
}

var hardStrings = []string{
	"", "plain", `"\/`, "\x00\x1f\x7f", "\b\f\n\r\t", "\x1b[31mred\x1b[0m", "\u2028\u2029<>&",
	"\u00e9\u4e2d\U0001f600", "\xff", "a\xffb", "\xc3", "\xc3(", "\xe4\xb8", "\xe4\xb8x",
	"\xf0\x9f\x98", "\xed\xa0\x80", "\xc0\xaf", "\xf4\x90\x80\x80", "\xff\xfe\xfd", "\ufffd",
	"\x80",
	strings.Repeat("x", 5000) + "\xff" + strings.Repeat("\u00e9", 5000),
}

func TestStringsAreEncodedAsEncodingJSONDoes(t *testing.T) {
	for _, s := range hardStrings {
		checkString(t, []byte(s))
	}
	for b := range 256 {
		checkString(t, []byte{byte(b)})
		checkString(t, []byte{'a', byte(b), 'z'})
	}
}

func FuzzAppendJSONString(f *testing.F) {
	for _, s := range hardStrings {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, p []byte) { checkString(t, p) })
}
