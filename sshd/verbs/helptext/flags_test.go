package helptext

import (
	"flag"
	"io"
	"strings"
	"testing"
)

// TestErrorsNameFlagsAsHelpDoes has package flag find fault with each kind of mistake.
func TestErrorsNameFlagsAsHelpDoes(t *testing.T) {
	for words, want := range map[string]string{
		"-x":              "flag provided but not defined: -x",
		"-entre":          "flag provided but not defined: --entre (did you mean --enter?)",
		"--key":           "flag needs an argument: --key",
		"-n":              "flag needs an argument: -n",
		`--count=":for"`:  `invalid value "\":for\"" for flag --count: parse error`,
		"-n -count":       `invalid value "-count" for flag -n: parse error`,
		"--enter=perhaps": `invalid boolean value "perhaps" for --enter: parse error`,
		"--=x":            "bad flag syntax: --=x",
	} {
		fs := flag.NewFlagSet("send", flag.ContinueOnError)
		fs.SetOutput(io.Discard)
		fs.Bool("enter", false, "")
		fs.String("key", "", "")
		fs.Int("count", 0, "")
		fs.Int("n", 0, "")
		if got := FlagError(fs, fs.Parse(strings.Fields(words))); got != want {
			t.Errorf("%s: %s, want %s", words, got, want)
		}
	}
}
