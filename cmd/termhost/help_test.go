package main

import (
	"regexp"
	"strings"
	"testing"

	"termhost/ptypool/vt/width"
	"termhost/sshd/verbs/helptext"
)

// otherWords are the protocol's words for what people are told of as the keyboard.
var otherWords = regexp.MustCompile(`(?i)\b(claim(s|ed)?|holders?|holds|held)\b`)

// Help on the host itself fits into a window of 100 columns, and calls the keyboard so.
func TestHelpFitsIntoAWindow(t *testing.T) {
	t.Parallel()
	asked := [][]string{{}, {"help"}, {"-h"}}
	for _, c := range commands() {
		asked = append(asked, []string{"help", c.name})
		if c.name != sftpServerName && c.name != "help" {
			asked = append(asked, []string{c.name, "-h"})
		}
	}
	for _, args := range asked {
		var out, errs strings.Builder
		code := run(args, stdio{out: &out, err: &errs})
		if code != exitOK || errs.Len() > 0 || !strings.Contains(out.String(), "termhost ") {
			t.Errorf("termhost %s: %d, %s%s", strings.Join(args, " "), code, out.String(), errs.String())
		}
		if word := otherWords.FindString(out.String()); word != "" {
			t.Errorf("termhost %s: says %q, not keyboard", strings.Join(args, " "), word)
		}
		for line := range strings.Lines(out.String()) {
			if width.String(strings.TrimSuffix(line, "\n")) > helptext.Columns {
				t.Errorf("termhost %s: too long: %s", strings.Join(args, " "), line)
			}
		}
	}
}
