package sshd

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// other runs another client than ssh, such as scp or dbclient, against the rig.
func (r *rig) other(program string, args ...string) (output string, err error) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	output, err = hosttest.Output(exec.CommandContext(ctx, program, args...))
	if ctx.Err() != nil {
		r.t.Fatalf("%s does not end: %s", program, output)
	}
	return output, err
}

func TestTheForwardLeadsToTheHTTPDoorAsAnOperator(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{
		people: map[string]string{"alice": "", "bob": "no-port-forwarding"},
		door:   func(c *Config) { c.Forward = echoDoor },
	})
	socket := r.path("forward.sock")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	args := append([]string{"-N", "-L", socket + ":ahp:80"}, r.sshArgs("alice")...)
	cmd := exec.CommandContext(ctx, "ssh", args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := hosttest.Start(cmd); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cancel()
	var nc net.Conn
	hosttest.Eventually(t, "the socket is there", func() (ok bool) {
		var err error
		nc, err = net.Dial("unix", socket)
		return err == nil
	})
	defer nc.Close()
	if err := nc.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(nc, "hello"); err != nil {
		t.Fatal(err)
	}
	want := "alice operator\nhello"
	b := make([]byte, len(want))
	if _, err := io.ReadFull(nc, b); err != nil || string(b) != want {
		t.Errorf("got %q, %v; %s", b, err, &errs)
	}
	if nc, err := r.dial("bob").Dial("tcp", "ahp:80"); err == nil {
		nc.Close()
		t.Error("a key with no-port-forwarding forwards")
	}
}

// `printf 'GET ...' | ssh -W ahp:80` has sent everything before it reads anything.
func TestAForwardAnswersAPeerThatSaysNoMore(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{door: func(c *Config) {
		c.Forward = func(nc net.Conn, _ authzPrincipal) {
			defer nc.Close()
			said, err := io.ReadAll(nc)
			_, _ = fmt.Fprintf(nc, "you said %q, %v", said, err)
		}
	}})
	got := r.runSSH("hello", r.sshArgs("alice", "-W", "ahp:80")...)
	if got.stdout != `you said "hello", <nil>` {
		t.Errorf("got %+v", got)
	}
}

func TestDropbearsClient(t *testing.T) {
	t.Parallel()
	slowtest.Programs(t, "dbclient") // of dropbear-bin
	r := newRig(t, rigOptions{})
	key := r.path("alice.db")
	out, err := r.other("dropbearconvert", "openssh", "dropbear", r.path("alice"), key)
	if err != nil {
		t.Fatalf("dropbearconvert: %v\n%s", err, out)
	}
	_, port, _ := net.SplitHostPort(r.addr)
	out, err = r.other("dbclient", "-y", "-y", "-i", key, "-p", port, "me@127.0.0.1",
		"run -- echo from-dropbear; exit 4")
	failed := err != nil && strings.Contains(err.Error(), "exit status 4")
	if !strings.Contains(out, "from-dropbear") || !failed {
		t.Errorf("%v\n%s", err, out)
	}
}

// oneListener gives an HTTP server one connection.
type oneListener struct {
	conn net.Conn
	once chan struct{} // 1 deep: the connection has not been taken
	done chan struct{} // closed when it is over
}

func (l *oneListener) Accept() (net.Conn, error) {
	select {
	case <-l.once:
		return l.conn, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *oneListener) Close() error   { return nil }
func (l *oneListener) Addr() net.Addr { return l.conn.LocalAddr() }

// A WebSocket takes the connection over from the HTTP server, which stops its own reading with a
// deadline.
func TestAForwardCanBeTakenOverFromHTTP(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{door: func(c *Config) {
		c.Forward = func(nc net.Conn, p authzPrincipal) {
			l := &oneListener{conn: nc, once: make(chan struct{}, 1), done: make(chan struct{})}
			l.once <- struct{}{}
			takeOver := func(w http.ResponseWriter, req *http.Request) {
				hijacked, rw, err := w.(http.Hijacker).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				defer close(l.done)
				defer hijacked.Close()
				line, _ := rw.ReadString('\n')
				_, _ = io.WriteString(hijacked, "taken over by "+p.Name+": "+line)
			}
			server := &http.Server{Handler: http.HandlerFunc(takeOver)}
			_ = server.Serve(l)
		}
	}})
	nc, err := r.dial("alice").Dial("tcp", "ahp:80")
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if _, err := io.WriteString(nc, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(nc, "raw\n"); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(nc)
	if err != nil || string(got) != "taken over by alice: raw\n" {
		t.Errorf("got %q, %v", got, err)
	}
}
