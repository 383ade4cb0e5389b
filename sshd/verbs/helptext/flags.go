package helptext

import (
	"flag"
	"regexp"
	"strings"

	"termhost/ahp/spelling"
)

// FlagError returns the text of an error of fs.Parse, with flags as people write them, and which
// flag was meant instead of an unknown one, if there is a similar one.
func FlagError(fs *flag.FlagSet, err error) string {
	text := err.Error()
	at := flagInError.FindStringSubmatchIndex(text)
	if at == nil {
		return text
	}
	name, meant := text[at[2]:at[3]], ""
	if strings.HasPrefix(text, UndefinedFlag) {
		fs.VisitAll(func(f *flag.Flag) {
			if meant == "" && spelling.Near(f.Name, name) {
				meant = " (did you mean " + Dashed(f.Name) + "?)"
			}
		})
	}
	return text[:at[2]-len("-")] + Dashed(name) + text[at[3]:] + meant
}

// UndefinedFlag begins the text of an error of fs.Parse about an unknown flag.
const UndefinedFlag = "flag provided but not defined: "

// flagInError matches the beginning of an error of package flag, up to the flag's name, which it
// captures.
var flagInError = regexp.MustCompile(`^(?:` + UndefinedFlag + `|flag needs an argument: |` +
	`invalid (?:boolean )?value "(?:[^"\\]|\\.)*" for (?:flag )?)-([^:]+)`)

// Dashed returns a flag as people write it: -c, --json.
func Dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}
