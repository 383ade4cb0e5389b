package curves_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/ahp/rpc"
	"termhost/ahp/store"
	"termhost/authz"
)

func TestMain(m *testing.M) { hosttest.Main(m) }

var alice = hosttest.Principal("alice", authz.Admin)

// size is how much there is in a world.
type size struct {
	terminals   int
	subscribers int // peers, each of which follows every terminal
	scrollback  int // bytes of output that the first terminal has, and may have
}

// world is a host with terminals and the peers that follow them.
type world struct {
	t     testing.TB
	h     *host.Host
	door  *host.Conn      // of a person that lists and creates
	peer  *host.Conn      // of AHP, without a wire
	share []*host.Share   // the terminals; the first one has the scrollback
	links []*link         // the subscribers
	left  *sync.WaitGroup // counts the appended bytes that the subscribers have yet to be sent
	asker *link           // a peer that asks for things and follows all terminals but the first

	// Of clients that have left: the serverSeq that "early" saw last, before the first terminal
	// printed anything, and "late" when it had printed all.
	early, late uint64

	items []store.Item
	buf   []byte
}

// piece is what is appended at a time: 1 KiB of lines as programs print them, with SGR colour.
var piece = coloured(1 << 10)

func coloured(size int) []byte {
	line := []byte("\x1b[32m[ ok ]\x1b[0m " + strings.Repeat("some text ", 8) + "\r\n")
	return bytes.Repeat(line, size/len(line)+1)[:size]
}

// ending is the end of the first terminal's output.
const ending = "-the-end-"

// newWorld makes a world, which ends with the test. The changes are to the host's configuration.
func newWorld(t testing.TB, sz size, changes ...func(*host.Config)) *world {
	t.Helper()
	h := hosttest.New(t, append([]func(*host.Config){func(c *host.Config) {
		c.MaxTerminals, c.ScrollbackBytes, c.NoLookout = 4000, sz.scrollback, true
	}}, changes...)...)
	w := &world{t: t, h: h, left: &sync.WaitGroup{}, door: hosttest.Conn(t, h, alice)}
	for range sz.terminals {
		s, err := w.door.Share(host.ShareOptions{Pty: true}) // with NAMEs that the host chooses
		hosttest.Check(t, err)
		t.Cleanup(s.Close)
		w.share = append(w.share, s)
	}
	for i := range w.share[1:] {
		w.print(i+1, piece)
	}
	w.early = w.visit("early")
	for n := sz.scrollback - len(ending); n > 0; n -= len(piece) {
		w.print(0, piece[:min(n, len(piece))])
	}
	w.print(0, []byte(ending))
	w.late = w.visit("late")
	for i := range sz.subscribers {
		l := w.dial()
		l.initialize(fmt.Sprintf("subscriber %d", i), w.uris()...)
		l.wrote = func(msg []byte) {
			if bytes.Contains(msg[:min(len(msg), 256)], []byte(`"terminal/data"`)) {
				w.left.Done()
			}
		}
		w.links = append(w.links, l)
	}
	peer, err := h.Connect(alice, host.DoorWebSocket)
	hosttest.Check(t, err)
	t.Cleanup(peer.Close)
	_, err = peer.Initialize(ahp.InitializeParams{Channel: ahp.RootURI,
		ProtocolVersions: []string{"1.0.0"}, ClientID: "peer"})
	hosttest.Check(t, err)
	w.peer = peer
	w.asker = w.dial()
	w.asker.initialize("asker", w.uris()[1:]...)
	return w
}

func (w *world) uri() string { return w.share[0].Terminal().URI() }

func (w *world) uris() (list []string) {
	for _, s := range w.share {
		list = append(list, strconv.Quote(s.Terminal().URI()))
	}
	return list
}

// print has a terminal print p.
func (w *world) print(i int, p []byte) {
	if _, err := w.share[i].Output(context.Background(), p); err != nil {
		w.t.Fatal(err)
	}
}

// visit has a client follow the first terminal and leave. It returns the serverSeq that it saw.
func (w *world) visit(client string) (seq uint64) {
	l := w.dial()
	defer l.close()
	answer := l.initialize(client, strconv.Quote(w.uri()))
	_, rest, _ := strings.Cut(answer, `"serverSeq":`)
	digits, _, _ := strings.Cut(rest, ",")
	seq, err := strconv.ParseUint(digits, 10, 64)
	hosttest.Check(w.t, err)
	return seq
}

// link is a peer of AHP, and the transport between it and the host: messages that are handed over
// in memory, without a copy.
type link struct {
	t      testing.TB
	in     chan []byte
	closed chan struct{}
	once   sync.Once
	served sync.WaitGroup
	wrote  func(msg []byte) // gets the host's messages that nobody asks for; nil: nobody wants them

	mu       sync.Mutex
	awaits   func(msg []byte) bool // nil: nothing is awaited
	answered chan int
	bytes    int // of all messages since something was asked
}

// dial connects a peer, which is served until the test ends or it is closed.
func (w *world) dial() *link {
	w.t.Helper()
	c, err := w.h.Connect(alice, host.DoorSubsystem)
	hosttest.Check(w.t, err)
	l := &link{t: w.t, in: make(chan []byte), closed: make(chan struct{}),
		answered: make(chan int, 1)}
	l.served.Go(func() {
		defer c.Close()
		_ = rpc.Serve(l, c, rpc.Options{RequestsPerSecond: -1}) // always an error: the end
	})
	w.t.Cleanup(l.close)
	return l
}

func (l *link) Read() ([]byte, error) {
	select {
	case msg := <-l.in:
		return msg, nil
	case <-l.closed:
		return nil, io.EOF
	}
}

func (l *link) Write(msg []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.bytes += len(msg)
	if l.awaits != nil && l.awaits(msg) {
		l.awaits = nil
		l.answered <- l.bytes
		return nil
	}
	if l.wrote != nil {
		l.wrote(msg)
	}
	return nil
}

// Messages are framed by the ends of lines, which no message contains.
func (l *link) BeginFrame(dst []byte) (framed []byte, at int) { return dst, len(dst) }
func (l *link) EndFrame(dst []byte, _ int) []byte             { return append(dst, '\n') }

func (l *link) WriteFrames(msgs []byte) error {
	for msg := range bytes.Lines(msgs) {
		_ = l.Write(msg[:len(msg)-1]) // it cannot fail
	}
	return nil
}

func (l *link) Close(string) error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// close ends the connection and waits for the host.
func (l *link) close() {
	l.Close("")
	l.served.Wait()
}

// ask sends a message and waits for one that until accepts. It returns how many bytes the host has
// sent up to its end.
func (l *link) ask(msg []byte, until func(msg []byte) bool) (sent int) {
	l.mu.Lock()
	l.awaits, l.bytes = until, 0
	l.mu.Unlock()
	select {
	case l.in <- msg:
	case <-l.closed:
		l.t.Fatalf("the host has closed the connection before %.200s", msg)
	}
	select {
	case sent = <-l.answered:
	case <-l.closed:
		l.t.Fatalf("the host has closed the connection at %.200s", msg)
	case <-time.After(slowtest.Patience):
		l.t.Fatalf("no answer to %.200s", msg)
	}
	return sent
}

// isResult accepts the result of the request of id 1.
func isResult(msg []byte) bool {
	return bytes.HasPrefix(msg, []byte(`{"jsonrpc":"2.0","id":1,"result"`))
}

// ends accepts the message that has the end of the first terminal's output: little comes behind it.
func ends(msg []byte) bool {
	return bytes.Contains(msg[max(0, len(msg)-4<<10):], []byte(ending))
}

func (l *link) initialize(client string, channels ...string) (answer string) {
	l.ask(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{`+
		`"channel":"ahp-root://","protocolVersions":["1.0.0"],"clientId":%q,`+
		`"initialSubscriptions":[%s]}}`, client, strings.Join(channels, ",")),
		func(msg []byte) bool {
			answer = string(msg[:min(len(msg), 256)])
			return isResult(msg)
		})
	return answer
}
