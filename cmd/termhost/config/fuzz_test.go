package config

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// FuzzParse checks that no text makes parse panic or hang, that every problem is one printable
// line, and that what is accepted is within bounds.
func FuzzParse(f *testing.F) {
	example, err := os.ReadFile(examplePath)
	if err != nil {
		f.Fatal(err)
	}
	// Comments would only slow the fuzzer down.
	f.Add(regexp.MustCompile(`(?m)^#.*\n`).ReplaceAll(example, nil))
	f.Add([]byte("[[principal]]\nname = 'a'\nrole = 'admin'\nkeys = ['''" + aliceKey + "''']\n" +
		"[ssh]\nx.'y'.\"z\\n\" = [{a = 1}]"))
	f.Add([]byte("ssh = { max_conections = 1 }\nterminal.env = { \"\" = \"\" }\r\n"))
	f.Add([]byte("[http]\nallowed_origins = ['https://a:443', \"null\"]\nlisten = '[::]:1'"))
	f.Fuzz(func(t *testing.T, text []byte) {
		indexLines(string(text)) // must end for invalid TOML too
		c, err := parse("c.toml", text, ordinary())
		if err != nil {
			var ce *Error
			if !errors.As(err, &ce) || len(ce.lines) == 0 {
				t.Fatalf("error %v (%T), want a *Error with lines", err, err)
			}
			for _, line := range ce.lines {
				if !strings.HasPrefix(line, "c.toml:") ||
					strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) {
					t.Errorf("bad problem line %q", line)
				}
			}
			return
		}
		if !filepath.IsAbs(c.StateDir) || c.Terminal.MaxTerminals < 1 ||
			c.HTTP.MaxFrameBytes < minFrameBytes {
			t.Errorf("accepted %+v", c)
		}
		for _, p := range c.Principals {
			for _, k := range p.Keys {
				if len(k.Fingerprint) != len(fingerprintPrefix)+43 {
					t.Errorf("accepted the key %+v", k)
				}
			}
		}
	})
}
