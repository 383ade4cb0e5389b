package vt_test

import (
	"fmt"
	"testing"

	"termhost/ptypool/vt"
)

// commandSink notes where commands begin and end.
type commandSink struct {
	vt.Discard
	told string
}

func (s *commandSink) CommandExecuted(string) { s.told += "C" }

func (s *commandSink) CommandFinished(code int, known bool) {
	s.told += "D"
	if known {
		s.told += fmt.Sprint(code)
	}
}

// TestMarksAreThoseOfTheScreen: whatever a program prints, a reader of its output and the screen
// find the same commands.
func TestMarksAreThoseOfTheScreen(t *testing.T) {
	t.Parallel()
	const secret = "n0nce"
	for _, nonce := range []string{"", secret} {
		for _, body := range []string{"633;C", "633;C;" + secret, "633;D;3;" + secret, "633;D;3", "633;D;" + secret, "633;D",
			"133;C", "133;C;" + secret, "133;D;7", "133;D;x", "0633;C;" + secret, "00633;C;" + secret, "633;CC;" + secret,
			"633;C;" + secret + ";", "633;C;x" + secret, "633;C;n0\x01nce", "633;\x02C;" + secret, "633;C;n0nc", "633;;" + secret,
			"633;E;echo;" + secret, "133;A;k=s", "133;A;k=s;C", "633;D;99999999999;" + secret, "633;D;-1;" + secret, "633", "", ";"} {
			for _, ends := range [][2]string{{"\x1b]", "\a"}, {"\x1b]", "\x1b\\"}, {"\xc2\x9d", "\xc2\x9c"}} {
				begun := "\x1b]633;C\a"
				if nonce != "" {
					begun = "\x1b]633;C;" + nonce + "\a"
				}
				seq := ends[0] + body + ends[1]
				var sink commandSink
				screen := vt.New(80, 24, vt.Options{Nonce: nonce})
				screen.Feed([]byte(begun), &sink)
				sink.told = ""
				screen.Feed([]byte(seq), &sink)
				marks := vt.NewMarks(nonce)
				marks.Parse([]byte(begun))
				got := ""
				if mark, ok := marks.Parse([]byte(seq)); ok && !mark.Finished {
					got = "DC" // the one before is over
				} else if ok {
					got = "D"
					if mark.ExitCode != nil {
						got += fmt.Sprint(*mark.ExitCode)
					}
				}
				if got != sink.told {
					t.Errorf("nonce %q: %q is %q, and for the screen %q", nonce, seq, got, sink.told)
				}
			}
		}
	}
}
