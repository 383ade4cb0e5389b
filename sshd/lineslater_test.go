package sshd

import (
	"fmt"
	"io"
	"net"
	"regexp"
	"strings"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/ptypool/vt"
)

// aWindow is a window in which one view of a terminal follows another.
type aWindow struct {
	r     *rig
	shown []byte // by the views before
	out   *transcript
	in    io.Writer
	conn  *gossh.Client
	asked chan struct{} // gets a value for each request that the host wants answered
}

// attaches attaches by a connection that dial makes.
func (w *aWindow) attaches(c *gossh.Client, command string) {
	t := w.r.t
	t.Helper()
	w.conn, w.out = c, newTranscript()
	ch, reqs, err := c.OpenChannel("session", nil)
	hosttest.Check(t, err)
	asked := make(chan struct{}, 1000)
	go func() {
		for q := range reqs {
			if q.WantReply {
				_ = q.Reply(false, nil)
				asked <- struct{}{}
			}
		}
	}()
	go func() { _, _ = io.Copy(w.out, ch) }()
	w.in, w.asked = ch, asked
	for name, payload := range map[string]any{"pty-req": &struct {
		Term             string
		Cols, Rows, X, Y uint32
		Modes            string
	}{"xterm-256color", 80, 24, 0, 0, "\x00"}} {
		_, err := ch.SendRequest(name, true, gossh.Marshal(payload))
		hosttest.Check(t, err)
	}
	_, err = ch.SendRequest("exec", true, gossh.Marshal(&struct{ Command string }{command}))
	hosttest.Check(t, err)
}

func (w *aWindow) sees(text string) {
	w.r.t.Helper()
	if got, ok := w.out.awaitFor(text, slowtest.PatienceOf(w.r.t)); !ok {
		w.r.t.Fatalf("never saw %q; since then:\n%q", text, got)
	}
}

// isAsked waits until the host has asked n times.
func (w *aWindow) isAsked(n int) {
	w.r.t.Helper()
	for range n {
		select {
		case <-w.asked:
		case <-time.After(slowtest.PatienceOf(w.r.t)):
			w.r.t.Fatal("the host does not ask what has arrived")
		}
	}
}

// isLost cuts the connection.
func (w *aWindow) isLost() {
	w.conn.Close()
	w.shown = append(w.shown, w.out.all()...)
}

// numbers returns how often the window and its scrollback have each line that is a number.
func (w *aWindow) numbers() map[string]int {
	v := vt.New(80, 24, vt.Options{ScrollbackLines: 100_000, ScrollbackBytes: 1 << 30})
	v.Feed(append(w.shown[:len(w.shown):len(w.shown)], w.out.all()...), nil)
	found := map[string]int{}
	for _, line := range regexp.MustCompile(`(?m)^\d+ +x{60}$`).FindAllString(string(v.AppendHistoryText(nil)), -1) {
		number, _, _ := strings.Cut(line, " ")
		found[number]++
	}
	return found
}

// printer makes a terminal whose program prints lines from one number to another: 1000 at first,
// then as typed. It also prints what shows nothing.
func printer(r *rig) {
	lines := `while [ $i -le $to ]; do echo "$i ` + strings.Repeat("x", 60) + `"; i=$((i+1)); done`
	r.ssh("alice", "", "new -d -n big -- stty -echo; i=1 to=1000; "+lines+
		"; while read i to; do printf '\\r'; "+lines+"; done")
	r.shows("big", "1000 x")
}

func TestAWindowThatComesBackGetsEachLineOnce(t *testing.T) {
	t.Parallel()
	now := time.Now() // stands still: the window comes back at once
	r := newRig(t, rigOptions{host: func(c *host.Config) { c.Now = func() time.Time { return now } }})
	printer(r)
	w := &aWindow{r: r}
	w.attaches(r.dial("alice"), "attach big")
	w.sees("\n2 x")
	w.sees("1000 x")
	for last := 1000; last <= 1050; last += 50 {
		// Answers so far were about the line, or what was printed before. Once the host asks again, it
		// has handled the answer before.
		for drained := false; !drained; {
			select {
			case <-w.asked:
			default:
				drained = true
			}
		}
		_, err := fmt.Fprintf(w.in, "%d %d\r", last+1, last+10)
		hosttest.Check(t, err)
		w.sees(fmt.Sprintf("%d x", last+10))
		w.isAsked(1)
		_, err = fmt.Fprint(w.in, "1 0\r")
		hosttest.Check(t, err)
		w.isAsked(1)
		w.isLost()
		r.ssh("alice", "", fmt.Sprintf("send --enter big %d %d", last+11, last+50))
		r.shows("big", fmt.Sprintf("%d x", last+50))
		w.attaches(r.dial("alice"), "attach big")
		w.sees(fmt.Sprintf("%d x", last+50))
	}
	w.sees("should have the") // it lies over some lines until a key is typed
	_, err := fmt.Fprint(w.in, "1101 1101\r")
	hosttest.Check(t, err)
	w.sees("1101 x")
	found := w.numbers()
	for i := 1; i <= 1101; i++ {
		if n := found[fmt.Sprint(i)]; n != 1 {
			t.Errorf("line %d is there %d times", i, n)
		}
	}
	w.isLost()

	// Another window has nothing yet, and `--history` asks for the lines anew.
	for _, command := range []string{"attach --history all big", "attach --history 100 big"} {
		w = &aWindow{r: r}
		w.attaches(r.dial("alice"), command)
		w.sees("1101 x")
		want := 1101
		if strings.Contains(command, "100") {
			want = 100 + 23
		}
		if n := len(w.numbers()); n != want {
			t.Errorf("%s shows %d lines, want %d", command, n, want)
		}
		w.isLost()
	}
}

// slowConn is a connection whose peer's bytes come at a rate.
type slowConn struct {
	net.Conn
	perSecond int
}

func (c slowConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p[:min(len(p), max(c.perSecond/20, 1))])
	time.Sleep(time.Duration(n) * time.Second / time.Duration(c.perSecond))
	return n, err
}

func TestASlowLineGetsTheScreenFirstAndTheNewestLines(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	printer(r)
	r.ssh("alice", "", "send --enter big 1001 12000")
	r.shows("big", "12000 x")
	nc, err := net.Dial("tcp", r.addr)
	hosttest.Check(t, err)
	sc, chans, reqs, err := gossh.NewClientConn(slowConn{nc, 20 << 10}, r.addr, r.clientConfig("alice"))
	hosttest.Check(t, err)
	w := &aWindow{r: r}
	w.attaches(gossh.NewClient(sc, chans, reqs), "attach big")
	w.sees("12000 x")
	_, err = fmt.Fprint(w.in, "20001 20001\r")
	hosttest.Check(t, err)
	w.sees("20001 x")
	w.sees("attach --history all")
	if n := len(w.out.all()); n > 100<<10 {
		t.Errorf("%d bytes went over the line", n)
	}
	_, err = fmt.Fprint(w.in, "20002 20002\r")
	hosttest.Check(t, err)
	w.sees("20002 x")
	found := w.numbers()
	for i := 12003 - len(found); i <= 12000; i++ {
		if n := found[fmt.Sprint(i)]; n != 1 {
			t.Errorf("line %d is there %d times", i, n)
		}
	}
	if len(found) < 50 {
		t.Errorf("the window has %d lines only", len(found))
	}
	w.isLost()
}
