package host

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"termhost/ahp"
	"termhost/ahp/store"
)

func BenchmarkCreateUntilExit(b *testing.B) {
	h := newHost(b)
	for b.Loop() {
		term, err := h.Create(carol, CreateOptions{Argv: []string{"/bin/true"}, Transient: true})
		if err != nil {
			b.Fatal(err)
		}
		<-term.Done()
	}
}

// reader takes what a connection's writer would take: as raw bytes, or encoded.
type reader struct {
	sub *store.Subscriber
	raw bool
}

// readToExit reads until the terminal has exited.
func (r *reader) readToExit() {
	var items []store.Item
	var wire []byte
	for {
		items = r.sub.Pull(items[:0], 256<<10)
		if len(items) == 0 {
			<-r.sub.Signal()
			continue
		}
		wire = wire[:0]
		for _, it := range items {
			switch {
			case it.Lagged != nil:
				r.sub.Skip(it.Lagged)
				continue
			case r.raw:
				if d, ok := it.Entry.Action().(ahp.TerminalData); ok {
					wire = append(wire, d.Data...)
				}
			default:
				wire = it.Entry.AppendEnvelope(wire, ahp.ShapeExitCode)
			}
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
			h := newHost(b, func(cfg *Config) { cfg.Persist = !c.volatile })
			b.SetBytes(size)
			for b.Loop() {
				// A program that begins when it is told to.
				term := run(b, h, carol, "", "stty -opost -echo; echo ready; read x; exec cat "+file)
				term.awaitOutput(b, "ready")
				var wg sync.WaitGroup
				for i := range c.raw + c.ahp {
					r := &reader{raw: i < c.raw}
					r.sub = h.store.NewSubscriber(r.raw)
					if err := r.sub.Follow(term.ch); err != nil {
						b.Fatal(err)
					}
					wg.Go(func() {
						r.readToExit()
						r.sub.Close()
					})
				}
				if err := term.term.Input([]byte("\n")); err != nil {
					b.Fatal(err)
				}
				<-term.Done()
				wg.Wait()
				h.remove(term, "")
			}
		})
	}
}

func BenchmarkIdleTerminal(b *testing.B) {
	const n = 50
	var before, after runtime.MemStats
	for b.Loop() {
		h := newHost(b, func(c *Config) { c.MaxTerminals = 500 })
		runtime.GC()
		runtime.ReadMemStats(&before)
		for range n {
			run(b, h, carol, "", "echo some output; exec cat").awaitOutput(b, "output")
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

// many makes terminals without processes.
func many(b *testing.B, h *Host, n int) []*Terminal {
	list := make([]*Terminal, n)
	for i := range list {
		list[i] = fedTerminal(b, h, 80, 24)
		h.mu.Lock()
		h.order = append(h.order, list[i])
		h.terminals[list[i].uri] = list[i]
		h.mu.Unlock()
		list[i].ch.List()
	}
	return list
}

func BenchmarkListOf500(b *testing.B) {
	h := newHost(b, func(c *Config) { c.MaxTerminals = 2000 }) // of which one key gets a quarter
	many(b, h, 500)
	b.Run("ls", func(b *testing.B) {
		for b.Loop() {
			if list, err := h.List(carol); err != nil || len(list) != 500 {
				b.Fatal(err)
			}
		}
	})
	b.Run("root", func(b *testing.B) {
		for b.Loop() {
			h.store.PublishTerminals()
		}
	})
}

func BenchmarkDispatchInput(b *testing.B) {
	h := newHost(b)
	p := connect(b, h, carol, "c")
	uri := p.create("x", "/bin/sh", "-c", "stty raw -echo; echo ready; exec cat >/dev/null")
	h.lookup(uri).awaitOutput(b, "ready")
	key := ahp.TerminalInput{Data: []byte("x")}
	var items []store.Item
	seq := int64(0)
	for b.Loop() {
		seq++
		p.c.Dispatch(uri, seq, key)
		items = p.c.sub.Pull(items[:0], 1<<20)
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
			h := newHost(b, func(cfg *Config) { cfg.StateDir = c.state() })
			for b.Loop() {
				term, err := h.Create(carol, CreateOptions{Argv: []string{"/bin/true"}, Transient: true})
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				<-term.Done()
				b.StartTimer()
			}
		})
	}
}
