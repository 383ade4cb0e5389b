package verbs

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/authz"
	"termhost/sshd/viewertest"
)

func TestMain(m *testing.M) { hosttest.Main(m) }

// prefix is the control character of the tests' prefix key, Ctrl-\.
const prefix = 0x1c

// testRunner is a Runner whose callers connect to a host.
type testRunner struct {
	Runner
	host *host.Host
}

func newRunner(t *testing.T, changes ...func(*host.Config)) *testRunner {
	t.Helper()
	return &testRunner{Runner{Prefix: prefix, Version: "test"}, hosttest.New(t, changes...)}
}

// outcome is what a verb's run came to.
type outcome struct {
	stdout, stderr string
	status         int
}

// connect returns a caller that may do everything.
func (r *testRunner) connect(t *testing.T, p *viewertest.Peer) Caller {
	t.Helper()
	c, err := r.host.Connect(authz.ForUID(1000), host.DoorUnix)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return Caller{IO: p, Conn: c, Local: true, Taken: p.Taken}
}

// run runs a command line on pipes.
func (r *testRunner) run(t *testing.T, stdin, text string) outcome {
	t.Helper()
	var out, errs bytes.Buffer
	p := &viewertest.Peer{In: strings.NewReader(stdin), Out: &out, Err: &errs}
	ctx, cancel := context.WithTimeout(t.Context(), hosttest.Patience)
	defer cancel()
	caller := r.connect(t, p)
	defer caller.Conn.Close() // it may be run at every look
	status := r.Exec(ctx, caller, text).Status
	p.Wait()
	return outcome{out.String(), errs.String(), status}
}

// sits runs a command line at a terminal.
func (r *testRunner) sits(t *testing.T, w Window, text string) *viewertest.Person {
	t.Helper()
	return viewertest.Sit(t, w, func(ctx context.Context, p *viewertest.Peer) int {
		return r.Exec(ctx, r.connect(t, p), text).Status
	})
}

func TestVerbsRunWithoutSSH(t *testing.T) {
	r := newRunner(t)
	for _, c := range []struct {
		stdin, command string
		want           outcome
	}{
		{"", "new -d -n work -- sh -c 'stty -icanon -echo; echo ready; exec cat'", outcome{"work\n", "", 0}},
		{"", "wait --match ready --timeout 30s work", outcome{}},
		{"", "send --enter work from afar", outcome{}},
		{"", "wait --match afar --timeout 30s work", outcome{}},
		{"", "peek work", outcome{"ready\nfrom afar\n", "", 0}},
		{"b\na\n", "run -- sort", outcome{"a\nb\n", "", 0}},
		{"", "run -- sh -c 'exit 3'", outcome{"", "", 3}},
		{"", "attach work", outcome{"", "termhost: error: attach needs a terminal at your end\n" +
			"hint: run `termhost attach` in one, or use -r to see it as a plain stream\n", 2}},
	} {
		got := r.run(t, c.stdin, c.command)
		// On a busy machine cat may not have begun.
		got.stderr = strings.TrimPrefix(got.stderr, "held: the program does not read yet\n")
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", c.command, got, c.want)
		}
	}
	p := r.sits(t, Window{Cols: 40, Rows: 10}, "attach work")
	p.Sees("from afar")
	p.Types("typed\r")
	p.Sees("typed")
	p.Resize(Window{Cols: 50, Rows: 12})
	hosttest.Eventually(t, "the window becomes the terminal's", func() bool {
		return strings.Contains(r.run(t, "", "ls").stdout, "50x12")
	})
	p.Types(string(rune(prefix)) + "l")
	p.Sees("* work")
	p.Types("x" + string(rune(prefix)) + "d")
	p.Sees("[detached: work goes on running; `termhost attach work` comes back]\r\n")
	p.SeesAll()
	if status := <-p.Status; status != 0 {
		t.Errorf("attach ended with %d", status)
	}
}
