package sshd

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/hosttest"
)

// rawSession opens a channel of type "session" without any of a client's manners.
func rawSession(t testing.TB, c *gossh.Client) (gossh.Channel, <-chan *gossh.Request) {
	t.Helper()
	ch, reqs, err := c.OpenChannel("session", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ch.Close() })
	return ch, reqs
}

func request(t testing.TB, ch gossh.Channel, name string, payload any) bool {
	t.Helper()
	var data []byte
	if payload != nil {
		data = gossh.Marshal(payload)
	}
	ok, err := ch.SendRequest(name, true, data)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return ok
}

type windowMsg struct{ Cols, Rows, Width, Height uint32 }

type ptyMsg struct {
	Term                      string
	Cols, Rows, Width, Height uint32
	Modes                     string
}

type stringMsg struct{ Value string }

func TestTheEndComesInOrder(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	ch, reqs := rawSession(t, r.dial("alice"))
	if !request(t, ch, "exec", stringMsg{"run -- echo last; exit 7"}) {
		t.Fatal("exec was refused")
	}
	// RFC 4254 section 6.10: the status comes before the close. It also comes before the end of the
	// output, because OpenSSH's client looks no further than that.
	var order []string
	out, err := io.ReadAll(ch)
	if err != nil {
		t.Fatal(err)
	}
	order = append(order, fmt.Sprintf("eof after %q", out))
	for req := range reqs {
		if req.Type == "exit-status" {
			var msg struct{ Status uint32 }
			if err := gossh.Unmarshal(req.Payload, &msg); err != nil {
				t.Fatal(err)
			}
			order = append(order, fmt.Sprintf("status %d", msg.Status))
		}
	}
	order = append(order, "close")
	if got := strings.Join(order, ", "); got != `eof after "last\n", status 7, close` {
		t.Errorf("got %s", got)
	}
}

// The library's own handler hangs here: nobody reads the window change.
func TestWindowChangesBeforeTheShell(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	ch, _ := rawSession(t, r.dial("alice"))
	if !request(t, ch, "pty-req", ptyMsg{Term: "xterm", Cols: 80, Rows: 24}) {
		t.Fatal("pty-req was refused")
	}
	for i := range 20_000 {
		size := gossh.Marshal(windowMsg{Cols: uint32(i), Rows: 1 << 30})
		if _, err := ch.SendRequest("window-change", false, size); err != nil {
			t.Fatal(err)
		}
	}
	if !request(t, ch, "window-change", windowMsg{Cols: 5000, Rows: 77}) {
		t.Fatal("window-change was refused")
	}
	if !request(t, ch, "exec", stringMsg{"new -- stty size; sleep 1000"}) {
		t.Fatal("exec was refused")
	}
	// So large a window is drawn, and a drawing need not have line ends.
	var shown []byte
	for buf := make([]byte, 1<<10); !bytes.Contains(shown, []byte("77 1000")); {
		n, err := ch.Read(buf)
		if err != nil {
			t.Fatalf("the newest window was not used, or not clamped: %q, %v", shown, err)
		}
		shown = append(shown, buf[:n]...)
	}
}

func TestWindowFloodsLeaveOthersAlone(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: map[string]string{"alice": "", "mallory": ""}})
	ch, _ := rawSession(t, r.dial("mallory"))
	request(t, ch, "pty-req", ptyMsg{Term: "xterm", Cols: 80, Rows: 24})
	request(t, ch, "shell", nil)
	stop := make(chan struct{})
	flooded := make(chan struct{})
	go func() {
		defer close(flooded)
		for i := uint32(0); ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			size := gossh.Marshal(windowMsg{Cols: 20 + i%500, Rows: 20 + i%90})
			if _, err := ch.SendRequest("window-change", false, size); err != nil {
				return
			}
		}
	}()
	p := r.open(r.dial("alice"), 80, 24, "")
	p.typeIn("echo ok-$((20+3))\r")
	p.sees("ok-23")
	close(stop)
	<-flooded
}

func TestEnvironmentIsBoundedAndChosen(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	ch, _ := rawSession(t, r.dial("alice"))
	type env struct{ Name, Value string }
	for _, e := range []env{
		{"LD_PRELOAD", "x"}, {"PATH", "/tmp"}, {"LC_=X", "x"}, {"LC_NUL", "a\x00b"},
		{"LC_BIG", strings.Repeat("x", maxEnvBytes)},
	} {
		if request(t, ch, "env", e) {
			t.Errorf("%s was accepted", e.Name)
		}
	}
	accepted := 0
	for i := range 10_000 {
		if i%100 != 0 {
			e := gossh.Marshal(env{fmt.Sprintf("LC_%d", i), "x"})
			if _, err := ch.SendRequest("env", false, e); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if request(t, ch, "env", env{fmt.Sprintf("LC_%d", i), "x"}) {
			accepted++
		}
	}
	if accepted != 1 { // the others of the first 32 wanted no reply
		t.Errorf("%d of each hundredth were accepted, want the first", accepted)
	}
	if !request(t, ch, "exec", stringMsg{"run -- env"}) {
		t.Fatal("exec was refused")
	}
	out, err := io.ReadAll(ch)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(out), "\nLC_"); n > maxEnv || n < maxEnv-1 {
		t.Errorf("%d variables arrived, want %d", n, maxEnv)
	}
}

func TestMalformedRequestsAreRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	c := r.dial("alice")
	for _, bad := range []struct {
		name    string
		payload []byte
	}{
		{"exec", nil},
		{"exec", []byte{0, 0, 0, 9, 'x'}},
		{"exec", gossh.Marshal(stringMsg{"run -- a\x00b"})},
		{"exec", gossh.Marshal(stringMsg{"run -- " + strings.Repeat("x", maxLine)})},
		{"shell", []byte("x")},
		{"subsystem", nil},
		{"subsystem", gossh.Marshal(stringMsg{"netconf"})},
		{"pty-req", []byte{1, 2, 3}},
		{"window-change", []byte{1}},
		{"signal", []byte{1}},
		{"signal", gossh.Marshal(stringMsg{"INT"})}, // nothing runs
		{"env", []byte{9}},
		{"auth-agent-req@openssh.com", nil},
		{"x11-req", nil},
		{"break", gossh.Marshal(struct{ Ms uint32 }{500})},
		{strings.Repeat("z", 1000), nil},
	} {
		ch, _ := rawSession(t, c)
		ok, err := ch.SendRequest(bad.name, true, bad.payload)
		if err != nil || ok {
			t.Errorf("%.20s %q: accepted %v, %v", bad.name, bad.payload, ok, err)
		}
		ch.Close()
	}
	hosttest.Eventually(t, "the channels are given back", func() bool {
		s, err := c.NewSession()
		if err != nil {
			return false
		}
		defer s.Close()
		out, err := s.Output("whoami")
		return err == nil && strings.Contains(string(out), "alice")
	})
}

func TestTooManySessionsAreAShortage(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	c := r.dial("alice")
	var open []gossh.Channel
	for range defaultMaxSessions {
		ch, _ := rawSession(t, c)
		open = append(open, ch)
	}
	_, _, err := c.OpenChannel("session", nil)
	var refused *gossh.OpenChannelError
	if !errorsAs(err, &refused) || refused.Reason != gossh.ResourceShortage {
		t.Fatalf("the eleventh: %v", err)
	}
	open[0].Close()
	hosttest.Eventually(t, "a place is free again", func() bool {
		ch, _, err := c.OpenChannel("session", nil)
		if err == nil {
			ch.Close()
		}
		return err == nil
	})
}

func TestChannelFloodIsRefusedAndForgotten(t *testing.T) {
	r := newRig(t, rigOptions{})
	c := r.dial("alice")
	for range defaultMaxSessions {
		rawSession(t, c)
	}
	for range 10_000 {
		if _, _, err := c.OpenChannel("session", nil); err == nil {
			t.Fatal("one too many was accepted")
		}
	}
	c.Close()
	r.empties()
}

func TestOnlyTheHTTPDoorIsForwardedTo(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{door: func(c *Config) { c.Forward = echoDoor }})
	c := r.dial("alice")
	for _, target := range []string{"127.0.0.1:22", "localhost:80", "ahp:81", "ahp.:80", "AHP:80"} {
		if nc, err := c.Dial("tcp", target); err == nil {
			nc.Close()
			t.Errorf("%s was connected", target)
		} else if !strings.Contains(err.Error(), "prohibited") {
			t.Errorf("%s: %v", target, err)
		}
	}
	if _, err := c.Listen("tcp", "127.0.0.1:0"); err == nil {
		t.Error("a reverse forward was accepted")
	}
	if _, _, err := c.OpenChannel("direct-streamlocal@openssh.com", nil); err == nil {
		t.Error("a forward to a socket was accepted")
	}
	if _, _, err := c.OpenChannel("x11", nil); err == nil {
		t.Error("an X11 channel was accepted")
	}
}

func TestAPanicEndsOneConnectionOnly(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{door: func(c *Config) {
		c.Forward = func(net.Conn, authzPrincipal) { panic("boom") }
	}})
	other := r.dial("alice")
	victim := r.dial("alice")
	nc, err := victim.Dial("tcp", "ahp:80")
	if err == nil {
		nc.Close()
	}
	if err := victim.Wait(); err == nil {
		t.Error("no error")
	}
	s, err := other.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	if out, err := s.Output("whoami"); err != nil || !strings.Contains(string(out), "alice") {
		t.Errorf("the other connection: %s, %v", out, err)
	}
	if !strings.Contains(r.log.String(), "boom") {
		t.Error("the log does not tell")
	}
}

func TestAPeerThatTakesNothingIsClosed(t *testing.T) {
	t.Parallel()
	r := newRigBeforeServe(t, rigOptions{}, func(r *rig) { r.server.stall = 300 * time.Millisecond })
	nc, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	// What the sockets hold must be less than the windows of all channels, so that the server
	// writes more than it can send.
	if err := nc.(*net.TCPConn).SetReadBuffer(64 << 10); err != nil {
		t.Fatal(err)
	}
	stopped := &stoppedConn{Conn: nc, stop: make(chan struct{}), end: make(chan struct{})}
	conn, chans, reqs, err := gossh.NewClientConn(stopped, r.addr, r.clientConfig("alice"))
	if err != nil {
		t.Fatal(err)
	}
	c := gossh.NewClient(conn, chans, reqs)
	defer c.Close()
	defer close(stopped.end)
	// The commands print only when nothing is taken any more: else the client could take all
	// that the windows allow, and the server would have nothing to write.
	gate := filepath.Join(t.TempDir(), "gate")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 8 {
		ch, _ := rawSession(t, c)
		request(t, ch, "exec", stringMsg{"run -- sh -c ': <" + gate + "; exec yes 0123456789'"})
	}
	close(stopped.stop)
	open, err := os.OpenFile(gate, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	hosttest.Eventually(t, "it is closed", func() bool { return r.host.Stats().Connections["ssh"] == 0 })
	if got := r.ssh("alice", "", "ls"); !strings.Contains(got.stdout, "yes-") {
		t.Errorf("the terminals went with their viewer: %+v", got)
	}
}

func TestAChannelThatIsNotReadHarmsNoOtherAndGoesOn(t *testing.T) {
	t.Parallel()
	const stall = time.Second // a reader on a busy machine may miss less than that
	r := newRigBeforeServe(t, rigOptions{}, func(r *rig) { r.server.stall = stall })
	c := r.dial("alice")
	paused, reqs := rawSession(t, c)
	go gossh.DiscardRequests(reqs)
	request(t, paused, "exec", stringMsg{"run -- seq 1 1000000"})
	// Somebody reads the first page, while others on the same connection work.
	for begun := time.Now(); time.Since(begun) < 3*stall; {
		s, err := c.NewSession()
		if err != nil {
			t.Fatal(err)
		}
		if out, err := s.Output("run -- echo here"); err != nil || string(out) != "here\n" {
			t.Fatalf("another SSH session got %q, %v", out, err)
		}
	}
	out, err := io.ReadAll(paused)
	if err != nil {
		t.Fatal(err)
	}
	if lines := bytes.Count(out, []byte("\n")); lines != 1000000 {
		t.Errorf("%d lines came after the pause, want 1000000", lines)
	}
}

func TestADeadPeerIsNoticed(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{door: func(c *Config) { c.KeepaliveInterval = time.Second / 2 }})
	nc, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	deaf := &deafConn{Conn: nc, deaf: make(chan struct{})}
	conn, chans, reqs, err := gossh.NewClientConn(deaf, r.addr, r.clientConfig("alice"))
	if err != nil {
		t.Fatal(err)
	}
	c := gossh.NewClient(conn, chans, reqs)
	defer c.Close()
	rawSession(t, c)
	hosttest.Eventually(t, "it is seated", func() bool { return r.host.Stats().Connections["ssh"] == 1 })
	close(deaf.deaf)
	hosttest.Eventually(t, "it is closed", func() bool { return r.host.Stats().Connections["ssh"] == 0 })
}

// deafConn stops sending, as if a cable had been cut, when deaf is closed.
type deafConn struct {
	net.Conn
	deaf chan struct{}
}

func (c *deafConn) Write(p []byte) (int, error) {
	select {
	case <-c.deaf:
		return len(p), nil
	default:
		return c.Conn.Write(p)
	}
}
