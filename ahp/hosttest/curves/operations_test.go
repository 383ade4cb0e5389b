package curves_test

import (
	"fmt"
	"testing"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/store"
)

// operation is something whose cost is measured in a world.
type operation struct {
	name string
	does string // for the table
	// once does it once and returns how many bytes peers were sent; 0: none. The timer is stopped
	// while it tidies up.
	once func(w *world, timer timer) (sent int)
}

// timer is of the benchmark that calls an operation.
type timer interface {
	StopTimer()
	StartTimer()
}

// operations has append last: it drives out what the others look at.
var operations = []operation{
	{"snapshot", "the state of a terminal is taken and encoded", (*world).snapshot},
	{"subscribe", "a peer subscribes over the wire, gets the snapshot and unsubscribes",
		(*world).subscribe},
	{"list", "a person lists all terminals", (*world).list},
	{"root", "a peer subscribes to the root, gets the list of terminals and unsubscribes",
		(*world).root},
	{"reconnect", "a peer connects anew, has missed nothing, and leaves", (*world).reconnect},
	{"catch up", "a peer connects anew, has missed all that was printed, and leaves",
		(*world).catchUp},
	{"create", "a terminal is created whose program runs on a pty", (*world).create},
	{"append", "1 KiB is printed, and every subscriber is sent it", (*world).append},
}

func (w *world) append(timer) int {
	w.left.Add(len(w.links))
	w.print(0, piece)
	w.left.Wait()
	return 0
}

func (w *world) snapshot(timer) (sent int) {
	answered := false
	hosttest.Check(w.t, w.peer.Subscribe(w.uri(), func(dst []byte, v store.View) []byte {
		answered = true
		return v.AppendJSON(dst, w.peer.Shape())
	}))
	for !answered {
		w.items = w.peer.Subscriber().Pull(w.items[:0], 1<<20)
		for _, it := range w.items {
			w.buf = it.Post(w.buf[:0])
		}
	}
	w.peer.Unsubscribe(w.uri())
	return len(w.buf)
}

func (w *world) subscribe(timer) int { return w.subscribeTo(w.uri()) }

func (w *world) root(timer) int { return w.subscribeTo("ahp-root://") }

func (w *world) subscribeTo(uri string) int {
	const request = `{"jsonrpc":"2.0","id":1,"method":%q,"params":{"channel":%q}}`
	sent := w.asker.ask(fmt.Appendf(nil, request, "subscribe", uri), isResult)
	w.asker.ask(fmt.Appendf(nil, request, "unsubscribe", uri), isResult)
	return sent
}

func (w *world) list(timer) int {
	list, err := w.door.List()
	hosttest.Check(w.t, err)
	if len(list) != len(w.share) {
		w.t.Fatalf("%d terminals", len(list))
	}
	return 0
}

func (w *world) reconnect(timer) int { return w.reconnectAs("late", w.late, isResult) }

func (w *world) catchUp(timer) int { return w.reconnectAs("early", w.early, ends) }

func (w *world) reconnectAs(client string, seen uint64, until func([]byte) bool) int {
	l := w.dial()
	defer l.close()
	return l.ask(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"reconnect","params":{`+
		`"channel":"ahp-root://","clientId":%q,"lastSeenServerSeq":%d,"subscriptions":[%q]}}`,
		client, seen, w.uri()), until)
}

func (w *world) create(t timer) int {
	made, err := w.door.Create(host.CreateOptions{Argv: []string{"/bin/cat"},
		Base: "shared"}) // as those that there are
	hosttest.Check(w.t, err)
	t.StopTimer()
	hosttest.Check(w.t, w.door.Dispose(made.Terminal))
	t.StartTimer()
	return 0
}

// axis is what grows along a curve.
type axis struct {
	name   string
	unit   string
	points []int
	at     func(n int) size
}

// Where an axis does not grow, there are one terminal, one subscriber and 32 KiB of scrollback.
var axes = []axis{
	{"terminals", "", []int{1, 10, 100, 500}, func(n int) size { return size{n, 1, 32 << 10} }},
	{"subscribers", "", []int{1, 10, 50, 200}, func(n int) size { return size{1, n, 32 << 10} }},
	{"scrollback", "KiB", []int{1, 32, 1 << 10, 16 << 10},
		func(n int) size { return size{1, 1, n << 10} }},
}

// sentUnit is the unit of what peers are sent.
const sentUnit = "sent-B/op"

// measure is an operation as a benchmark in a world.
func (op operation) measure(b *testing.B, w *world) {
	b.ReportAllocs()
	sent := 0
	for b.Loop() {
		sent = op.once(w, b)
	}
	if sent > 0 {
		b.ReportMetric(float64(sent), sentUnit)
	}
}

// BenchmarkCurve has each operation at each point of each axis.
func BenchmarkCurve(b *testing.B) {
	for _, a := range axes {
		for _, n := range a.points {
			b.Run(fmt.Sprintf("%s=%d%s", a.name, n, a.unit), func(b *testing.B) {
				w := newWorld(b, a.at(n))
				for _, op := range operations {
					b.Run(op.name, func(b *testing.B) { op.measure(b, w) })
				}
			})
		}
	}
}
