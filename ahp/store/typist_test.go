package store

import (
	"runtime"
	"sync"
	"testing"
)

// On one processor the typist's goroutine runs before those of the others, whenever it subscribed.
func TestTheTypistIsTheFirstToRun(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // so this test is not parallel
	const readers, rounds = 5, 100
	s := New(Options{})
	c := newTerminal(t, s, "a")
	subs := make([]*Subscriber, readers)
	order, over := make(chan int, readers), make(chan struct{})
	var reading sync.WaitGroup
	defer reading.Wait()
	defer close(over)
	for i := range subs {
		subs[i] = s.NewSubscriber(true)
		defer subs[i].Close()
		if err := subs[i].Follow(c); err != nil {
			t.Fatal(err)
		}
		reading.Go(func() {
			for {
				select {
				case <-subs[i].Signal():
					subs[i].Pull(nil, 1<<10)
					order <- i
				case <-over:
					return
				}
			}
		})
	}
	first := 0 // how often the typist was
	for typist := range subs {
		c.SetTypist(subs[typist])
		for range rounds {
			c.AppendData([]byte("x"))
			if <-order == typist {
				first++
			}
			for range readers - 1 {
				<-order
			}
		}
	}
	// Under the race detector the runtime shuffles. Otherwise it is nearly always.
	if all := readers * rounds; first < all*2/readers {
		t.Errorf("the typist was the first %d times in %d", first, all)
	}
}
