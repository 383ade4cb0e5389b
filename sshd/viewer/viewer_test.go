package viewer_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/authz"
	"termhost/sshd/viewer"
	"termhost/sshd/viewertest"
)

func TestMain(m *testing.M) { hosttest.Main(m) }

// prefix is the tests' prefix key, Ctrl-\.
const prefix = "\x1c"

// room is a host with one user, who looks at its terminals.
type room struct {
	t       *testing.T
	host    *host.Host
	conn    *host.Conn
	buffers viewer.Buffers
	dir     string // where its programs start
	ended   error  // why the host ends the connection
}

func newRoom(t *testing.T) *room {
	t.Helper()
	r := &room{t: t, host: hosttest.New(t), dir: t.TempDir()}
	r.conn = r.connect()
	return r
}

// connect returns another connection of the user's.
func (r *room) connect() *host.Conn {
	r.t.Helper()
	c, err := r.host.Connect(authz.ForUID(1000), host.DoorUnix)
	hosttest.Check(r.t, err)
	r.t.Cleanup(c.Close)
	return c
}

// runs makes a terminal called work.
func (r *room) runs(command string) *host.Terminal {
	r.t.Helper()
	made, err := r.conn.Create(host.CreateOptions{Name: "work", Dir: r.dir, Line: command})
	hosttest.Check(r.t, err)
	return made.Terminal
}

func (r *room) session(p *viewertest.Peer) *viewer.Session {
	return &viewer.Session{IO: p, Conn: r.conn, Prefix: prefix[0], Buffers: &r.buffers,
		CreateOptions: func() host.CreateOptions { return host.CreateOptions{} },
		ComeBack:      func(name string) string { return "come back to " + name },
		Remove:        func(name string) string { return "remove " + name },
		Ended:         func() error { return r.ended }, Taken: p.Taken}
}

// attached is how a viewer has ended.
type attached struct {
	end  viewer.Ending
	code int
}

// sits has a person look at a terminal. The result is there once the person's Status is.
func (r *room) sits(t *host.Terminal, o viewer.Options) (*viewertest.Person, *attached) {
	r.t.Helper()
	w, result := viewer.Window{Cols: 60, Rows: 10}, &attached{}
	a, first, err := r.conn.Attach(t, host.AttachOptions{Cols: w.Cols, Rows: w.Rows})
	hosttest.Check(r.t, err)
	p := viewertest.Sit(r.t, w, func(ctx context.Context, p *viewertest.Peer) int {
		result.end, result.code = viewer.Attach(ctx, r.session(p), a, first, o)
		return 0
	})
	return p, result
}

// ends waits for the end of what a person looks at, and compares it.
func (r *room) ends(p *viewertest.Person, got *attached, want attached) {
	r.t.Helper()
	p.SeesAll()
	if <-p.Status; *got != want {
		r.t.Errorf("ended as %+v, want %+v", *got, want)
	}
}

func TestAViewerEndsWithItsProgram(t *testing.T) {
	r := newRoom(t)
	work := r.runs("stty -icanon -echo; echo ready; read x; exit 3")
	p, got := r.sits(work, viewer.Options{Greet: true, Greeting: "good morning"})
	p.Sees("ready")
	p.Types("\r")
	r.ends(p, got, attached{viewer.Exited, 3})
	p, got = r.sits(work, viewer.Options{Over: true, Greet: true, Greeting: "it is over"})
	p.Sees("[work exited with status 3")
	p.Sees("`remove work` removes it]\r\n")
	r.ends(p, got, attached{viewer.Exited, 3})
}

func TestAViewerEndsByItsOwnWish(t *testing.T) {
	r := newRoom(t)
	p, got := r.sits(r.runs("echo ready; exec cat"), viewer.Options{Greet: true, Greeting: "good morning"})
	p.Sees("termhost: good morning")
	p.Types(prefix + "d")
	p.Sees("[detached: work goes on running; `come back to work` comes back]\r\n")
	r.ends(p, got, attached{end: viewer.Detached})
}

func TestAViewerThatIsKickedSaysSo(t *testing.T) {
	r := newRoom(t)
	work := r.runs("echo ready; exec cat")
	p, got := r.sits(work, viewer.Options{})
	p.Sees("ready")
	_, _, err := r.connect().Kick(work, r.conn.Principal().Name)
	hosttest.Check(t, err)
	p.Sees("[")
	r.ends(p, got, attached{end: viewer.Kicked})
}

func TestAViewerWhoseConnectionEndsSaysWhy(t *testing.T) {
	r := newRoom(t)
	r.ended = errors.New("the host has had enough")
	p, got := r.sits(r.runs("echo ready; exec cat"), viewer.Options{})
	p.Sees("ready")
	p.Leaves()
	p.Sees("[the host has had enough; work goes on running]\r\n")
	r.ends(p, got, attached{end: viewer.Lost})
}

// A peer without a terminal gets a stream, with line ends as on a pipe.
func TestAPeerWithoutATerminalGetsAStream(t *testing.T) {
	r := newRoom(t)
	work := r.runs("echo one; echo two")
	hosttest.Eventually(t, "it has ended", func() bool {
		_, over := work.Exit()
		return over
	})
	var out, errs strings.Builder
	peer := &viewertest.Peer{In: strings.NewReader(""), Out: &out, Err: &errs}
	a, first, err := r.conn.Attach(work, host.AttachOptions{ReadOnly: true})
	hosttest.Check(t, err)
	end, code := viewer.Attach(t.Context(), r.session(peer), a, first, viewer.Options{Over: true})
	peer.Wait()
	if end != viewer.Exited || code != 0 || out.String() != "one\ntwo\n" ||
		!strings.HasPrefix(errs.String(), "[work exited with status 0") {
		t.Errorf("%v with %d: %q and %q", end, code, out.String(), errs.String())
	}
}
