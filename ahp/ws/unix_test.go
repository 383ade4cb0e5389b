package ws

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"golang.org/x/sys/unix"

	"termhost/ahp"
	"termhost/ahp/hosttest"
	"termhost/authz"
)

// childSocket is the variable that makes the test binary a client of a unix
// socket, for the terminals that tests run it in.
const childSocket = "TERMHOST_WS_TEST_SOCKET"

// unixDialer dials a unix socket, whatever the URL's host is.
func unixDialer(path string) *websocket.Dialer {
	return &websocket.Dialer{
		NetDial: func(string, string) (net.Conn, error) { return net.Dial("unix", path) }}
}

// child asks a TCP port who it is there, if socket is an address and a token. Else it creates the
// terminal "inner" through the socket. It prints the answers, and how the connection ends.
func child(socket string) {
	if address, token, ok := strings.Cut(socket, " "); ok {
		fmt.Println("who", get(address+"/who", token), "anyone", get(address+"/anyone", ""), "over")
		return
	}
	c, resp, err := unixDialer(socket).Dial("ws://localhost/ahp", nil)
	if err != nil {
		fmt.Println("refused:", err)
		if resp != nil {
			_, _ = io.Copy(os.Stdout, resp.Body)
		}
		return
	}
	defer c.Close()
	for _, msg := range []string{hello("inner"), fmt.Sprintf(
		`{"jsonrpc":"2.0","id":2,"method":"createTerminal","params":%s}`,
		creation("inner", "inner", "read x"))} {
		if err := c.WriteMessage(websocket.TextMessage, []byte(msg)); err != nil {
			fmt.Println("lost", err)
			return
		}
		_, answer, err := c.ReadMessage()
		fmt.Println("answer", string(answer), err)
	}
	for {
		if _, _, err := c.ReadMessage(); err != nil {
			fmt.Println("ended:", err)
			return
		}
	}
}

// unixSocket makes the server listen on a unix socket, too.
func (w *world) unixSocket() string {
	w.t.Helper()
	path := filepath.Join(w.t.TempDir(), "ahp.sock")
	l, err := ListenUnix(path)
	if err != nil {
		w.t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() { check(w.t, w.server.ServeUnix(l)) })
	w.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		check(w.t, w.server.Shutdown(ctx))
		serving.Wait()
	})
	return path
}

func (w *world) dialUnix(path string, header http.Header) (*socket, *http.Response, error) {
	c, resp, err := unixDialer(path).Dial("ws://whatever/ahp", header)
	if err != nil {
		return nil, resp, err
	}
	w.t.Cleanup(func() { c.Close() })
	return &socket{c, w.t}, resp, nil
}

// holder returns who holds a terminal.
func (w *world) holder(name string) string {
	w.t.Helper()
	list, err := hosttest.List(w.host, authz.ForUID(0))
	check(w.t, err)
	for _, info := range list {
		if info.Name == name {
			return info.Holder
		}
	}
	return "nobody"
}

func TestAPeerOfTheUnixSocketIsItsUser(t *testing.T) {
	w := newWorld(t)
	path := w.unixSocket()
	st, err := os.Stat(path)
	if err != nil || st.Mode() != os.ModeSocket|0o600 {
		t.Errorf("%v %v", st.Mode(), err)
	}
	s, _, err := w.dialUnix(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.initialize("me")
	s.create("me", "mine", "read x")
	if got := w.holder("mine"); got != "alice/me" { // the only one with a key
		t.Errorf("the terminal is %s's", got)
	}
	// With a token it is the token's principal, or nobody if the token is not good.
	s, _, err = w.dialUnix(path, bearer(w.token(authz.Operator, "agent")))
	if err != nil {
		t.Fatal(err)
	}
	s.initialize("agent")
	s.create("agent", "agents", "read x")
	if got := w.holder("agents"); got != "alice/agent" {
		t.Errorf("the terminal is %s's", got)
	}
	for _, c := range []struct {
		header http.Header
		status int
	}{
		{bearer("nonsense"), 401},
		{http.Header{"Origin": {"https://evil.example"}}, 403},
	} {
		_, resp, err := w.dialUnix(path, c.header)
		if err == nil || resp == nil || resp.StatusCode != c.status {
			t.Errorf("%v: %v %v", c.header, resp, err)
		}
	}
}

func TestAPeerInsideATerminalIsItsCreator(t *testing.T) {
	w := newWorld(t)
	path := w.unixSocket()
	exe, err := os.Executable()
	check(t, err)
	s := w.dial(w.token(authz.Operator, "agent"))
	s.initialize("agent")
	// Also from a process session of its own, below the terminal's.
	script := fmt.Sprintf("read x; setsid -w %s; echo again; %[1]s; read y", exe)
	s.create("agent", "outer", script, childSocket, path)
	s.subscribe("outer")
	s.types("outer", "")
	var seen strings.Builder
	for !strings.Contains(seen.String(), `"id":2`) && !strings.Contains(seen.String(), "refused") {
		var m struct{ Params ahp.Envelope }
		check(t, json.Unmarshal([]byte(s.next()), &m))
		if a, err := ahp.DecodeAction(m.Params.Action); err == nil {
			if d, ok := a.(ahp.TerminalData); ok {
				seen.Write(d.Data)
			}
		}
	}
	if got := w.holder("inner"); got != "alice/agent#2" {
		t.Errorf("the inner terminal is %s's, want alice/agent#2's\n%s", got, seen.String())
	}
	// That ends when its creator may not come in any more.
	check(t, w.authority.RevokeToken(w.grant, "agent"))
	outer, err := hosttest.Find(w.host, authz.ForUID(0), "outer")
	check(t, err)
	told := "ended: websocket: close 1008 (policy violation): " + errDescended.Error()
	deadline := time.Now().Add(patience)
	for {
		log, err := hosttest.Retained(w.host, authz.ForUID(0), outer)
		check(t, err)
		text := log.State.Content[0].Text.String()
		first, second, again := strings.Cut(text, "again\r\n")
		if again && strings.Contains(first, told) &&
			strings.Contains(second, errDescended.Error()) {
			if !strings.Contains(second, "refused:") {
				t.Errorf("the second connection was let in: %s", second)
			}
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the connection from inside goes on; its terminal shows:\n%s", text)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// fifo makes a named pipe, which is open until the test ends.
func fifo(t testing.TB, name string) *os.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	check(t, unix.Mkfifo(path, 0o600))
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	check(t, err)
	t.Cleanup(func() { f.Close() })
	check(t, f.SetReadDeadline(time.Now().Add(patience)))
	return f
}

// leftBehind makes the terminal "outer", for an operator, which ends and leaves a
// process running that waits. let lets that become a child and returns the first line
// that the child prints; said returns the next one.
func (w *world) leftBehind() (let, said func() string) {
	path := w.unixSocket()
	exe, err := os.Executable()
	check(w.t, err)
	in, out := fifo(w.t, "in"), fifo(w.t, "out")
	s := w.dial(w.token(authz.Operator, "agent"))
	s.initialize("agent")
	script := fmt.Sprintf(`trap "" HUP; setsid /bin/sh -c 'read x <%s; exec %s >%s 2>&1' & exit 0`,
		in.Name(), exe, out.Name())
	s.create("agent", "outer", script, childSocket, path)
	outer, err := hosttest.Find(w.host, authz.ForUID(0), "outer")
	check(w.t, err)
	<-outer.Done()
	lines := bufio.NewReader(out)
	said = func() string {
		line, err := lines.ReadString('\n')
		check(w.t, err)
		return line
	}
	return func() string {
		_, err := in.WriteString("go\n")
		check(w.t, err)
		return said()
	}, said
}

func TestWhatATerminalLeftBehindIsItsCreator(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	let, said := w.leftBehind()
	if first, second := let(), said(); !strings.Contains(second, `"id":2,"result":null`) {
		t.Fatalf("it was told\n%s%s", first, second)
	}
	if got := w.holder("inner"); got != "alice/agent#2" {
		t.Errorf("the inner terminal is %s's, want alice/agent#2's", got)
	}
}

func TestWhatATerminalLeftBehindGoesWithItsCreator(t *testing.T) {
	w := newWorld(t)
	let, said := w.leftBehind()
	check(t, w.authority.RevokeToken(w.grant, "agent"))
	first, second := let(), said()
	if !strings.Contains(first, "refused:") || !strings.Contains(second, errDescended.Error()) {
		t.Errorf("it was told\n%s%s", first, second)
	}
}

func TestAProofThatIsGoneIsNoProof(t *testing.T) {
	for _, c := range []struct{ lost, told error }{
		{nil, nil}, {authz.ErrChanged, errChanged}, {errors.New("removed"), errDescended},
	} {
		if got := ended(func(end func(error)) func() {
			if c.lost != nil {
				end(c.lost)
			}
			return func() {}
		}); got != c.told {
			t.Errorf("%v: the peer is told %v", c.lost, got)
		}
	}
}

func TestASocketFileIsReplacedOnlyIfItIsDead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ahp.sock")
	l, err := ListenUnix(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ListenUnix(path); err == nil || !strings.Contains(err.Error(), "another host") {
		t.Errorf("a living socket: %v", err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	l.Close()
	if l, err = ListenUnix(path); err != nil {
		t.Fatalf("a dead socket: %v", err)
	}
	l.Close()
	if _, err := os.Lstat(path); err == nil {
		t.Error("the socket is there after its host")
	}
	_, err = ListenUnix(filepath.Join(t.TempDir(), strings.Repeat("x", 100)))
	if err == nil || !strings.Contains(err.Error(), "state_dir") {
		t.Errorf("a long path: %v", err)
	}
	check(t, os.WriteFile(path, []byte("precious"), 0o600))
	if _, err := ListenUnix(path); err == nil || !strings.Contains(err.Error(), "not a socket") {
		t.Errorf("a file: %v", err)
	}
	if b, err := os.ReadFile(path); string(b) != "precious" {
		t.Errorf("the file is %q %v", b, err)
	}
}

func TestAUserWhomAPrincipalNamesIsOneWithItsKey(t *testing.T) {
	w := newWorld(t)
	named := func(role authz.Role) {
		t.Helper()
		d, err := authz.NewDirectory([]authz.Entry{{Name: "ann", Role: role,
			UIDs: []uint32{uint32(os.Geteuid())}, Keys: []string{w.grant.Principal.Fingerprint}}})
		check(t, err)
		w.authority.SetDirectory(d)
	}
	named(authz.Operator)
	path := w.unixSocket()
	s, _, err := w.dialUnix(path, nil)
	check(t, err)
	s.initialize("me")
	s.create("me", "mine", "read x")
	term, err := hosttest.Find(w.host, w.grant.Principal, "mine")
	check(t, err)
	if got := term.Info(w.grant.Principal); got.Holder != "ann/me" || got.Mine {
		t.Errorf("the terminal is %+v", got)
	}
	// Another role ends what is connected with the old one.
	named(authz.Observer)
	if _, _, err := s.ReadMessage(); err == nil ||
		!strings.Contains(err.Error(), errOwnChanged.Error()) {
		t.Errorf("it ends with %v", err)
	}
}
