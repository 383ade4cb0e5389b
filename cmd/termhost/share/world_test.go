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

	"golang.org/x/sys/unix"

	"termhost/ahp"
	"termhost/ahp/client"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/ahp/rpc"
	"termhost/authz"
	"termhost/cmd/termhost/sshcmd"
)

// actAsSSH is the environment variable that makes this program act as ssh: it connects its standard
// streams to the unix socket that the variable names.
const actAsSSH = "TERMHOST_TEST_SOCKET"

func TestMain(m *testing.M) {
	hosttest.Main(m, hosttest.Program{Variable: actAsSSH, Run: beSSH})
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

// world is a host, a program that acts as ssh, and a terminal that is shared.
type world struct {
	t    *testing.T
	ctx  context.Context
	ssh  chan int      // process ids of the programs that have reached the host
	gone chan struct{} // 1 deep: one has not reached it
	s    *sharing
	ends sync.WaitGroup

	mu    sync.Mutex
	host  *host.Host
	conns map[net.Conn]struct{} // nil: nobody reaches the host
}

// newWorld shares a terminal called laptop, of 80x24, with a new host.
func newWorld(t *testing.T, keepalive time.Duration) *world {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), hosttest.Patience)
	t.Cleanup(cancel)
	w := &world{t: t, ctx: ctx, ssh: make(chan int, 100), gone: make(chan struct{}, 1)}
	socket := filepath.Join(t.TempDir(), "socket")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	w.start()
	t.Setenv(actAsSSH, socket)
	t.Setenv(sshcmd.Variable, os.Args[0])
	target, err := sshcmd.Parse([]string{"host"})
	if err != nil {
		t.Fatal(err)
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	w.ends.Go(func() { w.accept(l) })
	w.s = newSharing(Config{Name: "laptop", Target: target, Argv: []string{"true"}, Dir: "/start",
		In: null, Out: null, Err: io.Discard, Keepalive: keepalive})
	if err := w.s.connect(); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(ctx)
	w.ends.Go(func() { w.s.publisher.run(ctx) })
	t.Cleanup(func() {
		stop()
		w.s.publisher.client.Close()
		w.s.tee.close()
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
	if w.conns == nil {
		w.mu.Unlock()
		select {
		case w.gone <- struct{}{}:
		default:
		}
		return
	}
	w.conns[conn] = struct{}{}
	w.mu.Unlock()
	c, err := h.Connect(hosttest.Principal("ann", authz.Operator), host.DoorSubsystem)
	if err != nil {
		return // it ends
	}
	if raw, err := conn.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) {
			cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
			if err == nil {
				w.ssh <- int(cred.Pid)
			}
		})
	}
	hosttest.Serve(c, conn, rpc.Options{})
}

// start starts a host, or makes it reachable again.
func (w *world) start() {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conns = map[net.Conn]struct{}{}
	if w.host != nil {
		return
	}
	w.host = hosttest.New(w.t, func(c *host.Config) { c.ClientGrace = time.Hour })
}

// lose makes the host unreachable until start is called, and returns when share has noticed.
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
	for conn := range w.conns {
		conn.Close()
	}
	w.conns = nil
}

// halt ends the host without a warning.
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

// watch waits until the host has the terminal, and follows it.
func (w *world) watch() *client.Mirror {
	w.t.Helper()
	dial := func(context.Context) (io.ReadWriteCloser, error) {
		w.mu.Lock()
		h := w.host
		w.mu.Unlock()
		return hosttest.Dial(w.t, h, hosttest.Principal("eve", authz.Observer), rpc.Options{})
	}
	c, err := client.Connect(w.ctx, client.Config{Dial: client.Lines(dial), NoReconnect: true})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { c.Close() })
	root, err := c.Subscribe(w.ctx, ahp.RootURI)
	if err != nil {
		w.t.Fatal(err)
	}
	listed := func(r *ahp.RootState) bool { return len(r.Terminals) == 1 }
	if err := root.WaitRoot(w.ctx, listed); err != nil {
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
	shown := func(s *ahp.TerminalState) bool { return strings.Contains(client.Text(s), text) }
	if err := m.WaitTerminal(w.ctx, shown); err != nil {
		w.t.Fatalf("%q is not seen: %v", text, err)
	}
}

// prints has the program print text.
func (w *world) prints(text string) { _, _ = w.s.tee.Write([]byte(text)) }

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
	w := newWorld(t, time.Second/2)
	m := w.watch()
	old := <-w.ssh
	if err := syscall.Kill(old, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	// Until it has stopped, it may still carry something.
	if err := unix.Waitid(unix.P_PID, old, nil, unix.WSTOPPED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
	slowtest.Hurry(t)
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
	w.s.tee.resized(70, 20)
	w.prints("\x1b]133;D;0\x07\x1b]7;file:///elsewhere\x07\x1b]133;A\x07$ \x1b]133;C\x07")
	w.prints(strings.Repeat(strings.Repeat("x", 68)+"\r\n", outboxBytes/64) + "the end")
	w.start()
	moved := func(s *ahp.TerminalState) bool { return s.Cwd == "file:///elsewhere" }
	if err := m.WaitTerminal(w.ctx, moved); err != nil {
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
	w.s.publisher.finish(hosttest.Patience)
	w.halt()
	w.start()
	m = w.watch()
	marked := func(s *ahp.TerminalState) bool { return s.Detection }
	moved := func(s *ahp.TerminalState) bool { return marked(s) && s.Cwd == "file:///elsewhere" }
	if err := m.WaitTerminal(w.ctx, moved); err != nil {
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
	w.s.publisher.finish(hosttest.Patience)
	w.halt()
	w.start()
	m = w.watch()
	if err := m.WaitTerminal(w.ctx, marked); err != nil {
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
	w.s.tee.toggle()
	w.s.tee.resized(60, 15)
	w.halt()
	w.start()
	m := w.watch()
	w.sees(m, "paused by its owner")
	if s := m.Terminal(); s.Cols != 80 || s.Rows != 24 {
		t.Errorf("in the pause its size is %dx%d", s.Cols, s.Rows)
	}
	w.s.tee.resized(80, 24)
	w.s.tee.toggle()
	w.sees(m, "goes on")
	if s := m.Terminal(); s.Cols != 80 || s.Rows != 24 {
		t.Errorf("after it its size is %dx%d", s.Cols, s.Rows)
	}
}
