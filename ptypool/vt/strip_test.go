package vt

import "testing"

func TestTheStripperRemovesSequencesOnly(t *testing.T) {
	for in, want := range map[string]string{
		"":                                   "",
		"plain é漢\r\n\t\a":                   "plain é漢\r\n\t\a",
		"\x1b[1;31mred\x1b[0m":               "red",
		"a\x1b]0;title\ab\x1b]8;;x\x1b\\c":   "abc",
		"a\x1bPqsixel\x1b\\b\x1b_x\x1b\\c":   "abc",
		"a\x1b(0b\x1bMc\x1b#8d":              "abcd",
		"a\x1b[3\r1mb":                       "a\rb",
		"a\x1b[3\x18b\x1b]0;t\x18c":          "abc",
		"a\x1b[3\x1b[1mb":                    "ab",
		"a\x1b]0;half\x1b[1mb":               "ab",
		"a\x1b[3é":                           "aé",
		"\xff\x1b[m\xe2\x82":                 "\xff\xe2\x82",
		"an end\x1b[12":                      "an end",
		"\x1b]0;a string without an end... ": "",
	} {
		for i := range len(in) + 1 {
			var s Stripper
			got := s.Append(s.Append([]byte("<"), []byte(in[:i])), []byte(in[i:]))
			if string(got) != "<"+want {
				t.Errorf("%q, split at %d: %q, want %q", in, i, got, want)
			}
		}
	}
}
