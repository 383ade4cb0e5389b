package verbs

import (
	"flag"
	"strings"
	"testing"
)

func TestWhatIsTypedIsToldFromFlags(t *testing.T) {
	for _, c := range []struct {
		words string
		flags int
	}{
		{"", 0},
		{"text --enter", 0},
		{"--enter text", 1},
		{"-enter --enter", 2},
		{"--enter=true --key=up --key down -x", 4},
		{"--key", 1},
		{"--key --enter", 2},
		{"-la", 0},
		{"- --enter", 0},
		{"-- --enter", 0},
		{"--enterprise", 0},
	} {
		fs := flag.NewFlagSet("send", flag.ContinueOnError)
		fs.Bool("enter", false, "")
		fs.Func("key", "", func(string) error { return nil })
		if got := knownFlags(fs, strings.Fields(c.words)); got != c.flags {
			t.Errorf("%q begins with %d flags, want %d", c.words, got, c.flags)
		}
	}
}
