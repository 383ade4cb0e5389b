package history_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"termhost/ahp/history"
	"termhost/ptypool/smalldisk"
	"termhost/ptypool/termlog"
)

// Concurrent readers, of screens and of items, make and use the same keyframes.
func TestReadersShareKeyframes(t *testing.T) {
	t.Parallel()
	w := newWritten(t, 4, 4<<20)
	w.busy(300 << 10)
	straight, log := w.history(nil), w.history(newIndex())
	items, places := itemsOf(t, straight)
	var readers sync.WaitGroup
	for n := range 6 {
		until := places[(n+1)*len(places)/7]
		want := shownText(t, straight, &until, 1000)
		readers.Go(func() {
			for range 3 {
				if got := shownText(t, log, &until, 1000); got != want {
					t.Errorf("at %v it shows\n%.1000q\nand not\n%.1000q", until, got, want)
				}
			}
		})
		readers.Go(func() {
			k := 0
			for places[k].At < until.At {
				k++
			}
			_, err := log.ReadFrom(&work{}, until.At, func(i *history.Item) bool {
				if got := itemText(i); got != items[k] {
					t.Errorf("an item is %.500s and not %.500s", got, items[k])
				}
				k++
				return true
			})
			if err != nil || k != len(items) {
				t.Errorf("%d items of %d, %v", k, len(items), err)
			}
		})
	}
	readers.Wait()
}

// However many logs are read, and however large their screens, the keyframes stay within their
// bound, and reading stays correct.
func TestKeyframesKeepWithinTheirBound(t *testing.T) {
	t.Parallel()
	for _, full := range []bool{false, true} {
		cache := history.NewDenseCache((&smalldisk.Spill{Full: full}).Save)
		for seed := range uint64(3) {
			w := newWritten(t, seed, 8<<20)
			w.screen.Resize(1000, 500)
			w.append(termlog.Resize, termlog.SizePayload(1000, 500))
			w.busy(100 << 10)
			for _, lines := range []int{0, history.AllLines} {
				log := w.history(cache.Index(seed))
				want := shownText(t, w.history(nil), nil, lines)
				for range 2 {
					if got := shownText(t, log, nil, lines); got != want {
						t.Fatalf("log %d shows\n%.1000q\nand not\n%.1000q", seed, got, want)
					}
				}
				if n := cache.Bytes(); n > history.CacheBytes {
					t.Fatalf("after log %d it holds %d bytes", seed, n)
				}
			}
		}
		if cache.Bytes() == 0 {
			t.Error("nothing is kept")
		}
		for seed := range uint64(3) {
			cache.Drop(seed)
		}
		if n := cache.Bytes(); n != 0 {
			t.Errorf("%d bytes are kept of logs that are gone", n)
		}
	}
}

// An error says that the log may not be read, and nothing else is read instead.
func TestALogIsReadOnlyIfThatIsAllowed(t *testing.T) {
	t.Parallel()
	w := newWritten(t, 1, 1<<20)
	w.busy(1 << 16)
	log := w.history(newIndex())
	denied := errors.New("denied")
	log.Allowed = func() error { return denied }
	s, err := log.Show(&work{}, nil, 10, time.Now())
	if cols, rows := s.Size(); !errors.Is(err, denied) || cols != 80 || rows != 24 || s.Lines() != 0 {
		t.Errorf("%v, a screen of %dx%d", err, cols, rows)
	}
	if err := log.Search(&work{}, history.Search{}, nil); !errors.Is(err, denied) {
		t.Error(err)
	}
}

// BenchmarkShow shows the end of a log of 16 MiB: without keyframes, and with those of an earlier
// reader.
func BenchmarkShow(b *testing.B) {
	w := newWritten(b, 1, 32<<20)
	var p []byte
	for i := 0; w.log.End() < 16<<20; i++ {
		p = fmt.Appendf(p, "\x1b[32m[%4d/9999]\x1b[m Building CXX object lib.dir/file%d.o\r\n", i%9999, i)
		if len(p) > 4<<10 {
			w.append(termlog.Data, p)
			p = p[:0]
		}
	}
	for name, lines := range map[string]int{"screen": 1000, "lines": history.AllLines} {
		for _, kept := range []string{"straight", "keyframes"} {
			b.Run(name+"/"+kept, func(b *testing.B) {
				b.SetBytes(w.log.End())
				for b.Loop() {
					log := w.history(nil)
					if kept == "keyframes" {
						log = w.history(history.NewCache(new(smalldisk.Spill).Save).Index("log"))
					}
					if s, err := log.Show(&work{}, nil, lines, time.Now()); err != nil || s.Lines() == 0 {
						b.Fatal("no lines", err)
					}
				}
			})
		}
	}
}
