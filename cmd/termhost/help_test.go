package main

import (
	"strings"
	"testing"

	"termhost/ptypool/vt/width"
	"termhost/sshd/verbs/helptext"
)

// All that help says on the host itself fits into a window of 100 columns.
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
		for line := range strings.Lines(out.String()) {
			if width.String(strings.TrimSuffix(line, "\n")) > helptext.Columns {
				t.Errorf("termhost %s: too long: %s", strings.Join(args, " "), line)
			}
		}
	}
}
