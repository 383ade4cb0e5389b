package sshd

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/hosttest"
)

// forwarding makes a rig whose SSH door forwards.
func forwarding(f Forwarding, people map[string]string) rigOptions {
	return rigOptions{people: people, door: func(c *Config) { c.Policy.Forwarding = f }}
}

// withState has the rig's folder count as the host's state folder.
func (r *rig) withState() *rig { return r.withStateAt(r.dir) }

// withStateAt has another name of that folder be configured.
func (r *rig) withStateAt(dir string) *rig {
	configured := *r.server.cfg()
	configured.StateDir = dir
	r.server.live.Store(&configured)
	return r
}

// upperServer answers each connection, when it has sent everything, with that in upper case.
func upperServer(t *testing.T, network, addr string) net.Addr {
	t.Helper()
	l, err := net.Listen(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			go answerUpper(nc)
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return l.Addr()
}

func answerUpper(nc net.Conn) {
	defer nc.Close()
	said, err := io.ReadAll(nc)
	if err == nil {
		_, _ = io.WriteString(nc, strings.ToUpper(string(said)))
	}
}

// speak sends text, ends that direction, and returns the answer.
func speak(t *testing.T, nc net.Conn, text string) string {
	t.Helper()
	defer nc.Close()
	watchdog := time.AfterFunc(patience, func() { nc.Close() })
	defer watchdog.Stop()
	if _, err := io.WriteString(nc, text); err != nil {
		t.Fatal(err)
	}
	if err := nc.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(nc)
	if err != nil {
		t.Fatal(err)
	}
	return string(answer)
}

func TestForwardsLeadToLoopbackAndCarryBothDirectionsToTheirEnds(t *testing.T) {
	t.Parallel()
	r := newRig(t, forwarding(ForwardLoopback, nil))
	_, port, _ := net.SplitHostPort(upperServer(t, "tcp", "127.0.0.1:0").String())
	long := strings.Repeat("0123456789abcdef", 300_000) // more than the windows hold
	for _, host := range []string{"127.0.0.1", "localhost"} {
		got := r.runSSH(long, r.sshArgs("alice", "-W", host+":"+port)...)
		if got.stdout != strings.ToUpper(long) {
			t.Errorf("%s: got %d bytes, %q", host, len(got.stdout), got.stderr)
		}
	}
}

func TestForwardsToOtherAddressesAreRefusedUnlessAllowed(t *testing.T) {
	t.Parallel()
	r := newRig(t, forwarding(ForwardLoopback, nil))
	c := r.dial("alice")
	for _, target := range []string{"192.0.2.1:80", "0.0.0.0:80", "[::]:80", "[2001:db8::1]:80",
		"[::ffff:192.0.2.1]:80", "169.254.169.254:80"} {
		if nc, err := c.Dial("tcp", target); err == nil {
			nc.Close()
			t.Errorf("%s was connected", target)
		} else if !strings.Contains(err.Error(), "loopback") {
			t.Errorf("%s: %v", target, err)
		}
	}
	for _, at := range []string{"0.0.0.0:0", "[::]:0", "192.0.2.1:0"} {
		if l, err := c.Listen("tcp", at); err == nil {
			l.Close()
			t.Errorf("%s is listened at", at)
		}
	}
	// What is refused is told by the next SSH session.
	got := r.ssh("alice", "", "whoami")
	if got.stderr != "" {
		t.Errorf("another connection is told %q", got.stderr)
	}
	s, err := c.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	told, err := s.CombinedOutput("whoami")
	if err != nil || !strings.Contains(string(told), `-R 0.0.0.0:0: not permitted: forwards lead`) {
		t.Errorf("told %q, %v", told, err)
	}

	r.server.SetPolicy(Policy{Forwarding: ForwardAnywhere})
	l, err := c.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatalf("with forwarding = any: %v", err)
	}
	l.Close()
	r.server.SetPolicy(Policy{})
	if _, err := c.Dial("tcp", "127.0.0.1:80"); err == nil || !strings.Contains(err.Error(), "off") {
		t.Errorf("with forwarding = off: %v", err)
	}
}

func TestARemoteForwardReachesTheClient(t *testing.T) {
	t.Parallel()
	r := newRig(t, forwarding(ForwardLoopback, nil))
	c := r.dial("alice")
	for _, at := range []string{"127.0.0.1:0", "localhost:0"} {
		l := listenRemote(t, c, at)
		nc, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if got := speak(t, nc, "hello"); got != "HELLO" {
			t.Errorf("%s: got %q", at, got)
		}
		l.Close()
		hosttest.Eventually(t, "the port is closed", func() bool { return refused(l.Addr()) })
	}
}

// listenRemote has the host listen, and answers in upper case.
func listenRemote(t *testing.T, c *gossh.Client, at string) net.Listener {
	t.Helper()
	l, err := c.Listen("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			go answerUpper(nc)
		}
	}()
	return l
}

func refused(a net.Addr) bool {
	nc, err := net.Dial(a.Network(), a.String())
	if err == nil {
		nc.Close()
	}
	return err != nil
}

func TestARemoteForwardIsItsConnectionsOwn(t *testing.T) {
	t.Parallel()
	r := newRig(t, forwarding(ForwardLoopback, map[string]string{"alice": "", "bob": ""}))
	alice, bob := r.dial("alice"), r.dial("bob")
	l := listenRemote(t, alice, "127.0.0.1:0")
	port := uint32(l.Addr().(*net.TCPAddr).Port)
	cancel := gossh.Marshal(struct {
		Host string
		Port uint32
	}{"127.0.0.1", port})
	if ok, _, err := bob.SendRequest("cancel-tcpip-forward", true, cancel); ok || err != nil {
		t.Errorf("bob has cancelled it: %v, %v", ok, err)
	}
	if _, err := bob.Listen("tcp", l.Addr().String()); err == nil {
		t.Error("bob listens at the same port")
	}
	nc, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if got := speak(t, nc, "hello"); got != "HELLO" {
		t.Errorf("got %q", got)
	}
	alice.Close()
	hosttest.Eventually(t, "it ends with its connection", func() bool { return refused(l.Addr()) })
}

func TestForwardsOfUnixSockets(t *testing.T) {
	t.Parallel()
	r := newRig(t, forwarding(ForwardLoopback, nil)).withState()
	dir := t.TempDir()
	upperServer(t, "unix", dir+"/there")
	c := r.dial("alice")
	nc, err := c.Dial("unix", dir+"/there")
	if err != nil {
		t.Fatal(err)
	}
	if got := speak(t, nc, "to a socket"); got != "TO A SOCKET" {
		t.Errorf("got %q", got)
	}
	l, err := c.ListenUnix(dir + "/back")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			go answerUpper(nc)
		}
	}()
	if st, err := os.Stat(dir + "/back"); err != nil || st.Mode() != os.ModeSocket|0o600 {
		t.Errorf("the socket: %v, %v", st.Mode(), err)
	}
	nc, err = net.Dial("unix", dir+"/back")
	if err != nil {
		t.Fatal(err)
	}
	if got := speak(t, nc, "from a socket"); got != "FROM A SOCKET" {
		t.Errorf("got %q", got)
	}
	if _, err := c.ListenUnix(dir + "/back"); err == nil {
		t.Error("a socket was replaced")
	}
	c.Close()
	hosttest.Eventually(t, "the socket is removed", func() bool {
		_, err := os.Lstat(dir + "/back")
		return errors.Is(err, os.ErrNotExist)
	})
	if _, err := r.dial("alice").ListenUnix(r.path("keeper.sock")); err == nil {
		t.Error("something listens in the state folder")
	}
}

func TestOnlyAnAdminReachesTheHostsOwnSocketByAForward(t *testing.T) {
	t.Parallel()
	r := newRig(t, forwarding(ForwardLoopback, map[string]string{"alice": "", "oscar": asOperator}))
	r.withState()
	if err := os.Mkdir(r.path("keeper"), 0o700); err != nil {
		t.Fatal(err)
	}
	upperServer(t, "unix", r.path("ahp.sock"))
	upperServer(t, "unix", r.path("keeper/sock"))
	other := t.TempDir()
	for _, make := range []error{
		os.Symlink(r.path("ahp.sock"), other+"/link"),
		os.Symlink(r.dir, other+"/folder"),
		os.Link(r.path("ahp.sock"), other+"/hard"),
		os.Link(r.path("keeper/sock"), other+"/keeper"),
		os.Symlink(r.dir, other+"/state"),
	} {
		if make != nil {
			t.Fatal(make)
		}
	}
	r.withStateAt(other + "/state") // the configuration may name a link
	admin, operator := r.dial("alice"), r.dial("oscar")
	paths := []string{r.path("ahp.sock"), r.path("keeper/sock"), other + "/link",
		other + "/folder/ahp.sock", other + "/hard", other + "/keeper",
		r.dir + "/../" + r.dir[strings.LastIndexByte(r.dir, '/')+1:] + "//ahp.sock",
		"/proc/self/root" + r.path("ahp.sock"),
		fmt.Sprintf("/proc/%d/root%s", os.Getppid(), r.path("ahp.sock"))}
	for _, path := range paths {
		if nc, err := operator.Dial("unix", path); err == nil {
			nc.Close()
			t.Errorf("an operator is connected to %s", path)
		} else if !strings.Contains(err.Error(), "only an admin") {
			t.Errorf("%s: %v", path, err)
		}
	}
	nc, err := admin.Dial("unix", r.path("ahp.sock"))
	if err != nil {
		t.Fatal(err)
	}
	if got := speak(t, nc, "admin"); got != "ADMIN" {
		t.Errorf("got %q", got)
	}
	// A name outside is all that is left of the socket.
	if err := os.Remove(r.path("ahp.sock")); err != nil {
		t.Fatal(err)
	}
	if nc, err := operator.Dial("unix", other+"/hard"); err == nil {
		nc.Close()
		t.Error("an operator is connected to a socket that this process serves")
	}
}

func TestWhoMayForward(t *testing.T) {
	t.Parallel()
	port := upperServer(t, "tcp", "127.0.0.1:0").(*net.TCPAddr).Port
	opens := fmt.Sprintf("127.0.0.1:%d", port)
	people := map[string]struct {
		options       string
		opens, listen bool
	}{
		"alice":  {"", true, true},
		"oscar":  {asOperator, true, true},
		"olga":   {asObserver, false, false},
		"none":   {"no-port-forwarding", false, false},
		"strict": {"restrict", false, false},
		"looks":  {"no-pty", false, false},
		"tunnel": {"restrict,port-forwarding", true, true},
		"forced": {`command="true"`, false, false},
		"here":   {`permitopen="` + opens + `"`, true, true},
		"other":  {`permitopen="127.0.0.1:1"`, false, true},
		"deaf":   {`permitlisten="localhost:1"`, true, false},
		"both":   {`restrict,port-forwarding,permitopen="*:*",permitlisten="127.0.0.1:*"`, true, true},
	}
	options := map[string]string{}
	for name, p := range people {
		options[name] = p.options
	}
	r := newRig(t, forwarding(ForwardLoopback, options))
	for name, p := range people {
		c := r.dial(name)
		nc, err := c.Dial("tcp", opens)
		if (err == nil) != p.opens {
			t.Errorf("%s: opening: %v", name, err)
		}
		if err == nil {
			nc.Close()
		} else if !strings.Contains(err.Error(), "not permitted: ") {
			t.Errorf("%s: no rule is named: %v", name, err)
		}
		l, err := c.Listen("tcp", "127.0.0.1:0")
		if (err == nil) != p.listen {
			t.Errorf("%s: listening: %v", name, err)
		}
		if err == nil {
			l.Close()
		}
		c.Close()
	}
}

func TestForwardsAreBounded(t *testing.T) {
	t.Parallel()
	r := newRig(t, forwarding(ForwardLoopback, nil))
	c := r.dial("alice")
	for range maxListening {
		if _, err := c.Listen("tcp", "127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Listen("tcp", "127.0.0.1:0"); err == nil {
		t.Error("there is no limit to listening")
	}
	target := upperServer(t, "tcp", "127.0.0.1:0").String()
	for range maxForwards {
		if _, err := c.Dial("tcp", target); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Dial("tcp", target); err == nil {
		t.Error("there is no limit to forwards")
	}
}

// A reader that stops must stop the writer, and must not stop other channels.
func TestAForwardThatNobodyReadsHoldsNothingUp(t *testing.T) {
	t.Parallel()
	r := newRig(t, forwarding(ForwardLoopback, nil))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c := r.dial("alice")
	if _, err := c.Dial("tcp", l.Addr().String()); err != nil { // its reader never reads
		t.Fatal(err)
	}
	flood, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer flood.Close()
	const plenty = 64 << 20
	wrote := 0
	chunk := make([]byte, 1<<20)
	for ; wrote < plenty; wrote += len(chunk) {
		if err := flood.SetWriteDeadline(time.Now().Add(200 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		if _, err := flood.Write(chunk); err != nil {
			break
		}
	}
	if wrote >= plenty {
		t.Errorf("%d bytes were taken of a forward that nobody reads", wrote)
	}
	target := upperServer(t, "tcp", "127.0.0.1:0").String()
	nc, err := c.Dial("tcp", target)
	if err != nil {
		t.Fatal(err)
	}
	if got := speak(t, nc, "still here"); got != "STILL HERE" {
		t.Errorf("got %q", got)
	}
}

// The keeper's socket is served by another process, so only the file tells whose it is.
func TestASocketOfTheStateFolderIsKnownByAnyName(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	if err := os.Mkdir(r.path("keeper"), 0o700); err != nil {
		t.Fatal(err)
	}
	other := t.TempDir()
	upperServer(t, "unix", r.path("keeper/sock"))
	upperServer(t, "unix", other+"/unrelated")
	if err := errors.Join(os.Link(r.path("keeper/sock"), other+"/hard"),
		os.Symlink(r.dir, other+"/state")); err != nil {
		t.Fatal(err)
	}
	for _, state := range []string{r.dir, other + "/state"} {
		r.withStateAt(state)
		for path, want := range map[string]bool{
			r.path("keeper/sock"):        true,
			other + "/hard":              true,
			other + "/state/keeper/sock": true,
			other + "/unrelated":         false,
		} {
			f, err := openPath(path)
			if err != nil {
				t.Fatal(err)
			}
			st, err := f.Stat()
			if err != nil {
				t.Fatal(err)
			}
			if got := r.server.isPrivate(f, st); got != want {
				t.Errorf("with the state folder %s: %s: %v, want %v", state, path, got, want)
			}
			f.Close()
		}
	}
}
