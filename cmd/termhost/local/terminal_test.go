package local

import (
	"strings"
	"testing"

	"github.com/creack/pty"

	"termhost/cmd/termhost/tty"
)

// Why a host is not reached may be another program's words.
func TestWhyAHostIsNotReachedIsOnlyText(t *testing.T) {
	t.Parallel()
	user, line, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer user.Close()
	defer line.Close()
	if err := pty.Setsize(user, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	terminal := &sessionTerminal{tty: tty.New(line, line), draws: true}
	terminal.hold("not yet: %s; ^C gives up", "no\x1b]0;title\a\x9b2J\r\nway")
	var shown strings.Builder
	for p := make([]byte, 1024); !strings.Contains(shown.String(), "gives up"); {
		n, err := user.Read(p)
		if err != nil {
			t.Fatal(err)
		}
		shown.Write(p[:n])
	}
	if text := shown.String(); !strings.Contains(text, "not yet: no]0;title2Jway; ^C gives up") {
		t.Errorf("%q is shown", text)
	}
}
