package host_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/store"
)

func BenchmarkCreateUntilExit(b *testing.B) {
	c := hosttest.Conn(b, hosttest.New(b), carol)
	for b.Loop() {
		made, err := c.Create(host.CreateOptions{Argv: []string{"/bin/true"}, Transient: true})
		if err != nil {
			b.Fatal(err)
		}
		<-made.Terminal.Done()
	}
}

// readRaw takes output as an SSH session's writer does, until the terminal has exited.
func readRaw(b *testing.B, v *viewer) {
	var items []store.Item
	var wire []byte
	for {
		items = v.a.Pull(items[:0], 256<<10)
		if len(items) == 0 {
			<-v.a.Signal()
			continue
		}
		wire = wire[:0]
		for _, it := range items {
			if it.Lagged != nil {
				if _, err := v.a.Redraw(); err != nil {
					b.Error(err)
					return
				}
				continue
			}
			switch a := it.Entry.Action().(type) {
			case ahp.TerminalData:
				wire = append(wire, a.Data...)
			case ahp.TerminalExited:
				return
			}
		}
	}
}

// readAHP takes and encodes actions as an AHP connection's writer does, until a terminal has
// exited.
func readAHP(p *peer) {
	sub := p.c.Subscriber()
	var items []store.Item
	var wire []byte
	for {
		items = sub.Pull(items[:0], 256<<10)
		if len(items) == 0 {
			<-sub.Signal()
			continue
		}
		wire = wire[:0]
		for _, it := range items {
			if it.Lagged != nil {
				sub.Skip(it.Lagged)
				continue
			}
			wire = it.Entry.AppendEnvelope(wire, ahp.ShapeExitCode)
			if _, ok := it.Entry.Action().(ahp.TerminalExited); ok {
				return
			}
		}
	}
}

// BenchmarkFlood is `cat` of a large text through a real pty.
func BenchmarkFlood(b *testing.B) {
	const size = 32 << 20
	file := filepath.Join(b.TempDir(), "text")
	line := []byte("\x1b[32m12:34:56\x1b[0m info: the quick brown fox jumps over the lazy dog 0123456789\r\n")
	if err := os.WriteFile(file, bytes.Repeat(line, size/len(line)), 0o600); err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name     string
		raw, ahp int
		volatile bool
	}{
		{"no reader", 0, 0, false}, {"1 raw", 1, 0, false}, {"1 raw, no log on disk", 1, 0, true},
		{"1 AHP", 0, 1, false}, {"10 raw", 10, 0, false}, {"10 AHP", 0, 10, false},
	} {
		b.Run(c.name, func(b *testing.B) {
			h := hosttest.New(b, func(cfg *host.Config) { cfg.Persist = !c.volatile })
			b.SetBytes(size)
			for b.Loop() {
				// A program that begins when it is told to.
				term := run(b, h, carol, "", "stty -icanon -opost -echo; echo ready; read x; exec cat "+file)
				awaitOutput(b, h, term, "ready")
				var wg sync.WaitGroup
				for i := range c.raw + c.ahp {
					if i < c.raw {
						v := attach(b, h, eve, term.Name(), host.AttachOptions{})
						wg.Go(func() {
							readRaw(b, v)
							v.a.Close()
						})
						continue
					}
					p := connect(b, h, carol, fmt.Sprint("reader ", i))
					p.subscribe(term.URI())
					wg.Go(func() {
						readAHP(p)
						p.c.Close()
					})
				}
				hosttest.Check(b, door(b, h, carol, host.DoorSSH).Send(b.Context(), term, []byte("\n")))
				<-term.Done()
				wg.Wait()
				dispose(b, h, term)
			}
		})
	}
}

func BenchmarkIdleTerminal(b *testing.B) {
	const n = 50
	var before, after runtime.MemStats
	for b.Loop() {
		h := hosttest.New(b, func(c *host.Config) { c.MaxTerminals = 500 })
		runtime.GC()
		runtime.ReadMemStats(&before)
		for range n {
			awaitOutput(b, h, run(b, h, carol, "", "echo some output; exec cat"), "output")
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		if err := h.Shutdown(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	inUse := func(m *runtime.MemStats) uint64 { return m.HeapAlloc + m.StackInuse }
	b.ReportMetric(float64(inUse(&after)-inUse(&before))/n, "B/terminal")
}

func BenchmarkDispatchInput(b *testing.B) {
	h := hosttest.New(b)
	p := connect(b, h, carol, "c")
	uri := p.create("x", "/bin/sh", "-c", "stty raw -echo; echo ready; exec cat >/dev/null")
	awaitOutput(b, h, lookup(h, uri), "ready")
	key := ahp.TerminalInput{Data: []byte("x")}
	var items []store.Item
	seq := int64(0)
	for b.Loop() {
		seq++
		p.c.Dispatch(uri, seq, key)
		items = p.c.Subscriber().Pull(items[:0], 1<<20)
		if len(items) != 1 {
			b.Fatalf("%d answers", len(items))
		}
	}
}

// BenchmarkCreate is what a new terminal costs until its program has been started, with and without
// a journal.
func BenchmarkCreate(b *testing.B) {
	for _, c := range []struct {
		name  string
		state func() string
	}{{"without a journal", func() string { return "" }}, {"with one", b.TempDir}} {
		b.Run(c.name, func(b *testing.B) {
			h := hosttest.New(b, func(cfg *host.Config) { cfg.StateDir = c.state() })
			conn := hosttest.Conn(b, h, carol)
			for b.Loop() {
				made, err := conn.Create(host.CreateOptions{Argv: []string{"/bin/true"}, Transient: true})
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				<-made.Terminal.Done()
				b.StartTimer()
			}
		})
	}
}
