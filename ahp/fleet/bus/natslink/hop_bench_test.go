package natslink_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nkeys"

	"termhost/ahp/fleet/bus"
	"termhost/ahp/fleet/bus/natslink"
	"termhost/ahp/fleet/roster"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// BenchmarkHop sends a byte from a door to another host and back, in a stream: the one hop more
// that a key's echo has there. The server is in the door's process, the other host in its own.
func BenchmarkHop(b *testing.B) {
	w := newTown(b)
	startBox(b, w)
	o, _ := w.options("door", true)
	o.InProcess, o.Servers, o.TLS = w.server, nil, nil
	door, err := bus.New("door", natslink.Connect(o), bus.Handlers{})
	hosttest.Check(b, err)
	b.Cleanup(func() { door.Close() })
	s, err := door.Open("box", nil)
	hosttest.Check(b, err)
	b.Cleanup(func() { s.Close() })
	key := []byte{'x'}
	trip := func() {
		_, err := s.Write(key)
		hosttest.Check(b, err)
		_, err = s.Read(key)
		hosttest.Check(b, err)
	}
	for range slowtest.Amount(1000, 1) { // it is warm then
		trip()
	}
	var took []time.Duration
	for b.Loop() {
		start := time.Now()
		trip()
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	us := func(percent int) float64 { return took[len(took)*percent/100].Seconds() * 1e6 }
	b.ReportMetric(us(50), "p50-µs")
	b.ReportMetric(us(99), "p99-µs")
	b.ReportMetric(0, "ns/op")
}

// boxVariable has the program of these tests be the other host.
const boxVariable = "TERMHOST_TEST_BOX"

// box is how the other host reaches the server.
type box struct {
	Servers         []string
	Authority, Seed []byte
}

// startBox starts the other host, and waits until it is connected.
func startBox(b *testing.B, w *town) {
	b.Helper()
	o, _ := w.options("box", true)
	seed, err := o.Key.Seed()
	hosttest.Check(b, err)
	_, out := hosttest.Again(b, boxVariable, box{o.Servers, w.self.Authority, seed})
	_, err = out.Read(make([]byte, 1))
	hosttest.Check(b, err)
}

// boxMain is the other host: it sends back what comes in streams until its stdin ends.
func boxMain() error {
	in := json.NewDecoder(os.Stdin)
	var x box
	if err := in.Decode(&x); err != nil {
		return err
	}
	key, err := nkeys.FromSeed(x.Seed)
	if err != nil {
		return err
	}
	tls, err := roster.ClientTLS(x.Authority)
	if err != nil {
		return err
	}
	n, err := bus.New("box", natslink.Connect(natslink.Options{Name: "box", Servers: x.Servers,
		TLS: tls, Key: key, Log: slog.New(slog.DiscardHandler)}), bus.Handlers{Opened: echo})
	if err != nil {
		return err
	}
	fmt.Println()
	_, _ = io.Copy(io.Discard, os.Stdin) // until the benchmark has ended
	return n.Close()
}
