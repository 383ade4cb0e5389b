package viewer_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/sshd/viewer"
	"termhost/sshd/viewertest"
)

// copying is what has a terminal copy a text.
func copying(text string) string {
	return "\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte(text)) + "\x1b\\"
}

// A person looks back while the program goes on, and nothing that they type there reaches it.
func TestAPersonLooksBack(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	work := r.runs(`seq 1 30; echo a Needle here; seq 31 60; echo ready;` +
		` while read x; do echo "got $x"; done`)
	p, got := r.sits(work, viewer.Options{})
	p.Sees("ready")
	p.Types(prefix + "[")
	p.Sees("work: lines 54 to 62 of 62")
	p.Types("/needle\r")
	p.Sees("Needle")
	p.Types("y")
	p.Sees(copying("a Needle here"))
	p.Types("kvjjy")
	p.Sees(copying("30\na Needle here\n31"))

	// The program prints meanwhile: the lines stand still until the person wants others.
	hosttest.Check(t, r.conn.Send(t.Context(), work, []byte("from elsewhere\n")))
	hosttest.Eventually(t, "the program has got a line", func() bool {
		screen, err := r.conn.Peek(work, false)
		hosttest.Check(t, err)
		return strings.HasSuffix(string(screen), "\ngot from elsewhere\n")
	})
	p.Types("Gy")
	p.Sees(copying("ready"))
	p.Types("rGy")
	p.Sees(copying("got from elsewhere"))
	p.Types("q")
	p.Sees("got from elsewhere")
	p.Types("last\n")
	p.Sees("got last")
	p.Types("\x04")
	r.ends(p, got, attached{viewer.Exited, 0})
}

// Keys lead from command to command, and take the output of one.
func TestAPersonLooksForACommand(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	var script strings.Builder
	for i := range 20 {
		fmt.Fprintf(&script, `printf '$ command %d\r\n\033]133;C\a'; seq %d 100 %d; printf '\033]133;D;0\a';`, i, i, 300+i)
	}
	p, got := r.sits(r.runs(script.String()+"echo ready; exec cat"), viewer.Options{})
	p.Sees("ready")
	p.Types(prefix + "[[y")
	p.Sees(copying("$ command 19"))
	p.Types("[[oy")
	p.Sees(copying("17\n117\n217\n317"))
	p.Types("]y")
	p.Sees(copying("$ command 18"))
	p.Types("]]")
	p.Sees("no command comes after this")
	p.Types("g[")
	p.Sees("no command comes before this")
	p.Types("\x1b")
	p.Types(prefix + "d")
	r.ends(p, got, attached{end: viewer.Detached})
}

// A log is looked through in a window of its own, of any size.
func TestALogIsLookedThrough(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	work := r.runs(`for i in $(seq 1 50); do printf '\033[31mred %s\033[m %060d\n' $i 0; done`)
	hosttest.Eventually(t, "it has ended", func() bool {
		_, over := work.Exit()
		return over
	})
	result := new(error)
	look := func(w viewer.Window) *viewertest.Person {
		return viewertest.Sit(t, w, func(ctx context.Context, p *viewertest.Peer) int {
			*result = viewer.Read(ctx, r.session(p), "work", host.Source{Terminal: work})
			return 0
		})
	}
	p := look(viewer.Window{Cols: 80, Rows: 10})
	p.Sees("work: lines 42 to 50 of 50")
	p.Types("gjj")
	p.Sees("work: lines 1 to 9 of 50")
	p.Resize(viewer.Window{Cols: 40, Rows: 7})
	p.Sees("lines 1 to 3 of 50")
	p.Types("y")
	p.Sees(copying("red 3 " + strings.Repeat("0", 60)))
	p.Types("/RED\r")
	p.Sees("not found: RED")
	p.Types("q")
	p.SeesAll()
	if <-p.Status; *result != nil {
		t.Errorf("quit: %v", *result)
	}
	p = look(viewer.Window{Cols: 80, Rows: 10})
	p.Sees("work: lines 42 to 50 of 50")
	p.Leaves()
	p.SeesAll()
	if <-p.Status; !errors.Is(*result, viewer.ErrLost) {
		t.Errorf("left: %v", *result)
	}
}

// When the lines go that a person looks at, because a terminal floods, the new ones are shown.
func TestLinesGoWhileAPersonLooksBack(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.host = hosttest.New(t, func(c *host.Config) { c.LogBytes, c.ScrollbackBytes = 128<<10, 64<<10 })
	r.conn = r.connect()
	work := r.runs("seq 1 10000; echo ready; read x; seq 10001 40000; echo more; exec cat")
	p, got := r.sits(work, viewer.Options{})
	p.Sees("ready")
	p.Types(prefix + "[ky")
	p.Sees(copying("10000"))
	hosttest.Check(t, r.conn.Send(t.Context(), work, []byte("\n")))
	hosttest.Eventually(t, "the program goes on", func() bool {
		screen, err := r.conn.Peek(work, false)
		hosttest.Check(t, err)
		return strings.Contains(string(screen), "more")
	})
	p.Types("g")
	p.Sees("what you looked at is gone")
	p.Types("y")
	p.Sees(copying("more"))
	p.Types("q" + prefix + "d")
	r.ends(p, got, attached{end: viewer.Detached})
}
