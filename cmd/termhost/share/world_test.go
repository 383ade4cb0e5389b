package share

import (
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"termhost/ahp"
	"termhost/ahp/client"
	"termhost/ahp/host"
	"termhost/ahp/rpc"
	"termhost/authz"
	"termhost/cmd/termhost/sshlink"
)

// patience bounds what a test waits for and must come.
const patience = 60 * time.Second

// actAsSSH names the variable that has this program carry its standard streams to
// the unix socket which it names, as ssh would.
const actAsSSH = "TERMHOST_TEST_SOCKET"

func TestMain(m *testing.M) {
	if socket := os.Getenv(actAsSSH); socket != "" {
		beSSH(socket)
		return
	}
	goleak.VerifyTestMain(m)
}

func beSSH(socket string) {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		os.Exit(255)
	}
	go func() {
		_, _ = io.Copy(conn, os.Stdin)
		os.Exit(0)
	}()
	_, _ = io.Copy(os.Stdout, conn)
	os.Exit(255)
}

// world is a host, what stands for ssh, and a terminal that is shared.
type world struct {
	t    *testing.T
	ctx  context.Context
	ssh  chan int      // the processes that have reached the host
	gone chan struct{} // 1 deep: one did not
	s    *sharing
	ends sync.WaitGroup

	mu    sync.Mutex
	host  *host.Host
	links map[net.Conn]struct{} // nil: nobody reaches the host
}

// newWorld shares a terminal called laptop, of 80x24, with a new host.
func newWorld(t *testing.T, keepalive time.Duration) *world {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	w := &world{t: t, ctx: ctx, ssh: make(chan int, 100), gone: make(chan struct{}, 1)}
	socket := filepath.Join(t.TempDir(), "socket")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	w.start()
	t.Setenv(actAsSSH, socket)
	t.Setenv(sshlink.Variable, os.Args[0])
	target, err := sshlink.Parse([]string{"host"})
	if err != nil {
		t.Fatal(err)
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	w.ends.Go(func() { w.accept(l) })
	w.s = newSharing(Config{Name: "laptop", Target: target, Argv: []string{"true"}, Dir: "/start", In: null, Out: null,
		Err: io.Discard, Keepalive: keepalive})
	if err := w.s.connect(); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(ctx)
	w.ends.Go(func() { w.s.publisher.run(ctx) })
	t.Cleanup(func() {
		stop()
		w.s.publisher.client.Close()
		w.s.feed.close()
		l.Close()
		w.halt()
		w.ends.Wait()
		null.Close()
	})
	return w
}

func (w *world) accept(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		w.ends.Go(func() { w.serve(conn.(*net.UnixConn)) })
	}
}

func (w *world) serve(conn *net.UnixConn) {
	defer conn.Close()
	w.mu.Lock()
	h := w.host
	if w.links == nil {
		w.mu.Unlock()
		select {
		case w.gone <- struct{}{}:
		default:
		}
		return
	}
	w.links[conn] = struct{}{}
	w.mu.Unlock()
	c, err := h.Connect(authz.Principal{ID: "SHA256:ann", Name: "ann", Role: authz.Operator}, host.DoorSubsystem)
	if err != nil {
		return // it ends
	}
	defer c.Close()
	if raw, err := conn.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) {
			if cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
				w.ssh <- int(cred.Pid)
			}
		})
	}
	_ = rpc.Serve(rpc.NewLines(conn, conn, 1<<20, func(string) error { return conn.Close() }), c, rpc.Options{})
}

// start starts a host, or lets it be reached again.
func (w *world) start() {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.links = map[net.Conn]struct{}{}
	if w.host != nil {
		return
	}
	h, err := host.New(host.Config{Shell: "/bin/sh", Version: "test", ClientGrace: time.Hour, MaxExited: 8})
	if err != nil {
		w.t.Fatal(err)
	}
	w.host = h
}

// lose has nobody reach the host until start is called, and returns when share has
// noticed.
func (w *world) lose() {
	w.t.Helper()
	select {
	case <-w.gone: // from before
	default:
	}
	w.cut()
	select {
	case <-w.gone:
	case <-w.ctx.Done():
		w.t.Fatal("share does not try again")
	}
}

func (w *world) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for conn := range w.links {
		conn.Close()
	}
	w.links = nil
}

// halt ends the host all of a sudden.
func (w *world) halt() {
	w.t.Helper()
	w.cut()
	w.mu.Lock()
	h := w.host
	w.host = nil
	w.mu.Unlock()
	if err := h.Shutdown(w.ctx); err != nil {
		w.t.Error(err)
	}
}

// watch follows the terminal from when the host has it.
func (w *world) watch() *client.Mirror {
	w.t.Helper()
	c, err := client.Connect(w.ctx, client.Config{Dial: client.Lines(func(context.Context) (io.ReadWriteCloser, error) {
		near, far := net.Pipe()
		w.mu.Lock()
		h := w.host
		w.mu.Unlock()
		conn, err := h.Connect(authz.Principal{ID: "SHA256:eve", Name: "eve", Role: authz.Observer}, host.DoorSubsystem)
		if err != nil {
			return nil, err
		}
		w.ends.Go(func() {
			defer conn.Close()
			_ = rpc.Serve(rpc.NewLines(far, far, 1<<20, func(string) error { return far.Close() }), conn, rpc.Options{})
		})
		return near, nil
	}), NoReconnect: true})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { c.Close() })
	root, err := c.Subscribe(w.ctx, ahp.RootURI)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := root.WaitRoot(w.ctx, func(r *ahp.RootState) bool { return len(r.Terminals) == 1 }); err != nil {
		w.t.Fatal(err)
	}
	m, err := c.Subscribe(w.ctx, ahp.TerminalURI("laptop"))
	if err != nil {
		w.t.Fatal(err)
	}
	return m
}

// sees waits until the terminal shows text.
func (w *world) sees(m *client.Mirror, text string) {
	w.t.Helper()
	if err := m.WaitTerminal(w.ctx, func(s *ahp.TerminalState) bool { return strings.Contains(client.Text(s), text) }); err != nil {
		w.t.Fatalf("%q is not seen: %v", text, err)
	}
}

// prints has the program print text.
func (w *world) prints(text string) { _, _ = w.s.feed.Write([]byte(text)) }

// commands returns a terminal's commands: each line, and whether it has ended.
func commands(m *client.Mirror) string {
	var list []string
	state := m.Terminal()
	for _, p := range state.Content {
		switch c := p.Command; {
		case c == nil:
		case !c.Complete:
			list = append(list, c.Line+" runs")
		case c.ExitCode == nil:
			list = append(list, c.Line+" ended")
		default:
			list = append(list, c.Line+" ended with a code")
		}
	}
	return strings.Join(list, ", ")
}

func TestAConnectionThatHangsIsMadeAgain(t *testing.T) {
	w := newWorld(t, 100*time.Millisecond)
	m := w.watch()
	old := <-w.ssh
	if err := syscall.Kill(old, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := unix.Waitid(unix.P_PID, old, nil, unix.WSTOPPED|unix.WNOWAIT, nil); err != nil { // only then it carries nothing
		t.Fatal(err)
	}
	w.prints("printed while it hangs")
	w.sees(m, "printed while it hangs")
	if err := syscall.Kill(old, 0); err != syscall.ESRCH {
		t.Errorf("the ssh that hung is still there: %v", err)
	}
}

func TestAGapIsFollowedByHowThingsStand(t *testing.T) {
	w := newWorld(t, 0)
	m := w.watch()
	w.prints("\x1b]133;A\x07$ \x1b]133;C\x07begun")
	w.sees(m, "begun")
	w.lose()
	w.s.feed.resized(70, 20)
	w.prints("\x1b]133;D;0\x07\x1b]7;file:///elsewhere\x07\x1b]133;A\x07$ \x1b]133;C\x07")
	w.prints(strings.Repeat(strings.Repeat("x", 68)+"\r\n", journalBytes/64) + "the end")
	w.start()
	if err := m.WaitTerminal(w.ctx, func(s *ahp.TerminalState) bool { return s.Cwd == "file:///elsewhere" }); err != nil {
		t.Fatal(err)
	}
	w.sees(m, "the end")
	if s := m.Terminal(); s.Cols != 70 || s.Rows != 20 {
		t.Errorf("its size is %dx%d", s.Cols, s.Rows)
	}
	if got, want := commands(m), " ended with a code,  runs"; got != want {
		t.Errorf("its commands are %q, want %q", got, want)
	}
}

func TestAHostThatIsStartedAnewHasHowThingsStand(t *testing.T) {
	w := newWorld(t, 0)
	m := w.watch()
	w.prints("\x1b]7;file:///elsewhere\x07\x1b]133;A\x07$ \x1b]133;C\x07begun")
	w.sees(m, "begun")
	w.s.publisher.finish(patience)
	w.halt()
	w.start()
	m = w.watch()
	if err := m.WaitTerminal(w.ctx, func(s *ahp.TerminalState) bool { return s.Detection && s.Cwd == "file:///elsewhere" }); err != nil {
		t.Fatalf("%v: %+v", err, m.Terminal())
	}
	w.sees(m, "begun")
	if got := commands(m); got != " runs" {
		t.Errorf("its commands are %q", got)
	}
	w.prints("\x1b]133;D;3\x07\x1b]133;A\x07$ idle")
	w.sees(m, "idle")
	if got := commands(m); got != " ended with a code" {
		t.Errorf("its commands are %q", got)
	}

	// An idle one is idle at the next host, too.
	w.s.publisher.finish(patience)
	w.halt()
	w.start()
	m = w.watch()
	if err := m.WaitTerminal(w.ctx, func(s *ahp.TerminalState) bool { return s.Detection }); err != nil {
		t.Fatal(err)
	}
	if got := commands(m); got != "" {
		t.Errorf("its commands are %q", got)
	}
}

func TestAPauseThatAHostDoesNotOutliveKeepsItsSize(t *testing.T) {
	w := newWorld(t, 0)
	w.prints("before")
	w.sees(w.watch(), "before")
	w.s.feed.toggle()
	w.s.feed.resized(60, 15)
	w.halt()
	w.start()
	m := w.watch()
	w.sees(m, "paused by its owner")
	if s := m.Terminal(); s.Cols != 80 || s.Rows != 24 {
		t.Errorf("in the pause its size is %dx%d", s.Cols, s.Rows)
	}
	w.s.feed.resized(80, 24)
	w.s.feed.toggle()
	w.sees(m, "goes on")
	if s := m.Terminal(); s.Cols != 80 || s.Rows != 24 {
		t.Errorf("after it its size is %dx%d", s.Cols, s.Rows)
	}
}
