package store

import (
	"bytes"
	"fmt"
	"testing"

	"termhost/ahp"
)

// line is output as programs print it: 97 bytes with SGR colours.
var line = []byte("\x1b[32m[ ok ]\x1b[0m " + string(bytes.Repeat([]byte("some text "), 8)) + "\r\n")

func lines(size int) []byte { return bytes.Repeat(line, size/len(line)+1)[:size] }

func appendAll(c *Channel, p []byte) {
	if c.AppendData(p) {
		c.Checkpoint(nil)
	}
}

// BenchmarkAppend is an append and its delivery to raw cursors, as SSH viewers
// have, or to AHP ones with the encoding.
func BenchmarkAppend(b *testing.B) {
	for _, size := range []int{97, 64 << 10} {
		for _, cursors := range []int{0, 1, 10, 100} {
			for _, raw := range []bool{true, false} {
				kind := "ahp"
				if raw {
					kind = "raw"
				}
				b.Run(fmt.Sprintf("%dB/%d %s cursors", size, cursors, kind), func(b *testing.B) {
					s := New(Options{})
					c := newTerminal(b, s, "a")
					subs := make([]*Subscriber, cursors)
					for i := range subs {
						subs[i] = s.NewSubscriber(raw)
						b.Cleanup(func() { subs[i].Close() })
						if err := subs[i].Follow(c); err != nil {
							b.Fatal(err)
						}
					}
					p := lines(size)
					var items []Item
					var buf []byte
					b.SetBytes(int64(size))
					b.ReportAllocs()
					for b.Loop() {
						appendAll(c, p)
						for _, sub := range subs {
							items = sub.Pull(items[:0], 64<<10)
							for _, it := range items {
								if !raw {
									buf = it.Entry.AppendEnvelope(buf[:0], ahp.ShapeLifecycle)
								}
							}
						}
					}
				})
			}
		}
	}
}

// BenchmarkAppendBesideAStalledReader is what an append and its delivery cost a reader if another
// one, which came before all of them, reads nothing. It must not depend on how many there are.
func BenchmarkAppendBesideAStalledReader(b *testing.B) {
	for _, n := range []int{1, 10, 50, 200} {
		b.Run(fmt.Sprintf("%d", n), func(b *testing.B) {
			s := New(Options{LogBytes: 64 << 20})
			c := newTerminal(b, s, "a")
			stalled := subscribed(b, s, c)
			subs := make([]*Subscriber, n)
			for i := range subs {
				subs[i] = subscribed(b, s, c)
			}
			p := lines(1 << 10)
			var items []Item
			var buf []byte
			for b.Loop() {
				appendAll(c, p)
				for _, sub := range subs {
					items = sub.Pull(items[:0], 64<<10)
					for _, it := range items {
						buf = it.Entry.AppendEnvelope(buf[:0], ahp.ShapeLifecycle)
					}
				}
				if stalled.Lag(c) > 32<<20 {
					stalled.Skip(c)
				}
			}
			perAppend := float64(b.Elapsed().Nanoseconds()) / float64(b.N)
			b.ReportMetric(perAppend/float64(n), "ns/reader")
		})
	}
}

// BenchmarkAppendAmongTerminals shows that an append and its delivery cost the
// same however many terminals there are and are followed.
func BenchmarkAppendAmongTerminals(b *testing.B) {
	for _, n := range []int{1, 10, 100, 500} {
		b.Run(fmt.Sprintf("%d", n), func(b *testing.B) {
			s := New(Options{})
			sub := s.NewSubscriber(false)
			b.Cleanup(func() { sub.Close() })
			channels := make([]*Channel, n)
			for i := range channels {
				channels[i] = newTerminal(b, s, fmt.Sprint(i))
				if err := sub.Follow(channels[i]); err != nil {
					b.Fatal(err)
				}
			}
			var items []Item
			i := 0
			for b.Loop() {
				// All of them have something before the reader comes.
				appendAll(channels[i%n], line)
				if i++; i%n == 0 {
					for items = sub.Pull(items[:0], 1<<20); len(items) > 0; {
						items = sub.Pull(items[:0], 1<<20)
					}
				}
			}
		})
	}
}

func BenchmarkPublishTerminals(b *testing.B) {
	for _, n := range []int{1, 10, 100, 500} {
		b.Run(fmt.Sprintf("%d", n), func(b *testing.B) {
			s := New(Options{})
			for i := range n {
				newTerminal(b, s, fmt.Sprint(i)).List()
			}
			for b.Loop() {
				s.PublishTerminals()
			}
			perList := float64(b.Elapsed().Nanoseconds()) / float64(b.N)
			b.ReportMetric(perList/float64(n), "ns/terminal")
		})
	}
}

func filled(b *testing.B, s *Store, size, step int) *Channel {
	b.Helper()
	c := newTerminal(b, s, "a")
	for n := 0; n < size; n += step {
		appendAll(c, lines(min(step, size-n)))
	}
	return c
}

func BenchmarkEncodeEntry64KiB(b *testing.B) {
	s := New(Options{})
	c := newTerminal(b, s, "a")
	sub := subscribed(b, s, c)
	c.AppendData(lines(64 << 10))
	e := sub.Pull(nil, 1)[0].Entry
	var buf []byte
	for _, shared := range []bool{false, true} {
		b.Run(fmt.Sprintf("shared=%v", shared), func(b *testing.B) {
			e.shared.Store(shared)
			b.SetBytes(64 << 10)
			b.ReportAllocs()
			for b.Loop() {
				buf = e.AppendEnvelope(buf[:0], ahp.ShapeLifecycle)
			}
		})
	}
}

// BenchmarkReconnect1MiB is a reconnect that missed 1 MiB, replayed from the log
// or rebuilt from the content, to the answer's last byte.
func BenchmarkReconnect1MiB(b *testing.B) {
	for _, step := range []int{97, 64 << 10} {
		for _, replayed := range []bool{true, false} {
			how := "rebuilt"
			if replayed {
				how = "replayed"
			}
			b.Run(fmt.Sprintf("%s, %dB appends", how, step), func(b *testing.B) {
				s := New(Options{LogBytes: 16 << 20})
				seen := s.Seq() + 1
				c := filled(b, s, 1<<20, step)
				synced := map[string]uint64{}
				if replayed {
					synced[c.URI()] = seen
				}
				var buf []byte
				b.SetBytes(1 << 20)
				for b.Loop() {
					sub := s.NewSubscriber(false)
					buf = buf[:0]
					for _, e := range sub.Reconnect([]*Channel{c}, seen, synced) {
						buf = e.AppendEnvelope(buf, ahp.ShapeLifecycle)
					}
					sub.Close()
				}
				if len(buf) < 1<<20 {
					b.Fatalf("the answer has %d bytes", len(buf))
				}
			})
		}
	}
}

// BenchmarkSteadyTrim shows that an append at the content's bound costs what one
// far below it does, in plain output and where every line is a command.
func BenchmarkSteadyTrim(b *testing.B) {
	for _, content := range []int{64 << 10, 1 << 20, 16 << 20} {
		b.Run(fmt.Sprintf("output/%dKiB", content>>10), func(b *testing.B) {
			s := New(Options{ContentBytes: content})
			c := filled(b, s, content, 1<<10)
			for b.Loop() {
				appendAll(c, line)
			}
		})
		b.Run(fmt.Sprintf("commands/%dKiB", content>>10), func(b *testing.B) {
			s := New(Options{ContentBytes: content})
			c := newTerminal(b, s, "a")
			command := func() {
				c.Append(ahp.TerminalCommandExecuted{CommandID: "1", CommandLine: "true"}, nil)
				c.Append(ahp.TerminalCommandFinished{CommandID: "1"}, nil)
				appendAll(c, line)
			}
			for range content / 300 {
				command()
			}
			for b.Loop() {
				command()
			}
		})
	}
}
