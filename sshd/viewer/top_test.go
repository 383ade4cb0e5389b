package viewer

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"

	"termhost/ahp/history"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/authz"
)

// sink is a peer at a terminal of 80x24 that keeps what it is sent and types nothing.
type sink struct{ out bytes.Buffer }

func (*sink) Stdin() io.Reader               { return strings.NewReader("") }
func (s *sink) Stdout() io.Writer            { return &s.out }
func (s *sink) Stderr() io.Writer            { return &s.out }
func (*sink) Terminal() (string, bool)       { return "xterm", true }
func (*sink) Draws() bool                    { return true }
func (*sink) Window() Window                 { return Window{Cols: 80, Rows: 24} }
func (*sink) Resized() <-chan struct{}       { return nil }
func (*sink) Signals() <-chan syscall.Signal { return nil }
func (*sink) Env() []string                  { return nil }
func (*sink) Go(string, func())              {}

// With 500 terminals of which none changes, top writes nothing, and of one that changes a row.
func TestTopWritesOnlyWhatHasChanged(t *testing.T) {
	h := hosttest.New(t, func(c *host.Config) { c.MaxTerminals = 500 })
	c, err := h.Connect(authz.ForUID(1000), host.DoorUnix)
	hosttest.Check(t, err)
	t.Cleanup(c.Close)
	made, err := c.Create(host.CreateOptions{Name: "t0", Dir: t.TempDir(), Line: "exec sleep 1000"})
	hosttest.Check(t, err)
	for i := range 499 {
		s, err := c.Share(host.ShareOptions{Name: fmt.Sprintf("t%d", i+1), Pty: true})
		hosttest.Check(t, err)
		t.Cleanup(s.Close)
	}
	peer := &sink{}
	top := &top{s: &Session{IO: peer, Conn: c}, ctx: t.Context(), stale: make(chan struct{}, 1)}
	top.list = newList(t.Context(), top.s, top, listOptions{window: top.s.Window, whole: true, goes: top.goes})
	top.dialog = top.list
	t.Cleanup(top.list.closed)
	drawn := func() int {
		before := peer.out.Len()
		hosttest.Check(t, top.draw())
		return peer.out.Len() - before
	}
	if n := drawn(); n < 1000 || n > 24*200 || !strings.Contains(peer.out.String(), "500 terminals") {
		t.Errorf("at first %d bytes: %q", n, peer.out.String())
	}
	settles := func(when string) {
		t.Helper()
		quiet := 0
		hosttest.Eventually(t, "nothing is written "+when, func() bool {
			if quiet++; drawn() > 0 {
				quiet = 0
			}
			return quiet >= 5
		})
	}
	settles("where nothing changes")
	hosttest.Check(t, c.Rename(made.Terminal, "abcd"))
	total := 0
	hosttest.Eventually(t, "the title is shown", func() bool {
		total += drawn()
		return total > 0
	})
	if total > 400 {
		t.Errorf("a title costs %d bytes", total)
	}
	settles("after that")
}

// Another host that is broken into controls nobody's terminal.
func TestWhatAnotherHostListsIsOnlyText(t *testing.T) {
	const evil = "x\x1b[2J\x9b31m\u202e\r\n\a"
	r := &Row{Host: evil, Elsewhere: true, Info: host.Info{Name: "work", State: host.StateRunning + evil,
		Title: evil, Group: evil, Holder: evil, Notice: evil, Executor: evil, Cwd: evil,
		LastCommand: &history.Command{Line: evil}}, asks: evil}
	other := &Row{Info: host.Info{Name: "here", URI: "here", State: host.StateRunning}}
	l := &list{o: listOptions{whole: true}, rows: rows{hosts: true}}
	l.places = []string{evil}
	l.arrange([]*Row{r, other}, false)
	l.current, l.lines = r.id(), []string{evil}
	for _, w := range []Window{{Cols: 80, Rows: 24}, {Cols: 200, Rows: 24}, {Cols: 20, Rows: 5}} {
		o := l.layOut(w, w)
		for i, line := range o.fitted(w) {
			shown := o.topLine(i, line, w)
			text := strings.NewReplacer("\x1b[0m", "", "\x1b[0;7m", "", "\x1b[0;1m", "").Replace(shown)
			if text != host.Printable(text) {
				t.Errorf("in %v a line is %q", w, shown)
			}
		}
	}
}
