package store

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"termhost/ahp"
)

func nothing(dst []byte) []byte { return dst }

func TestWaitRoomBlocksWhileTheOutboxIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{})
		sub := s.NewSubscriber(false)
		defer sub.Close()
		for range maxAnswers {
			sub.Post(nothing, 0)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		const waiters = 3
		free := make(chan error, waiters)
		for range waiters {
			go func() { free <- sub.WaitRoom(ctx) }()
		}
		synctest.Wait()
		for range maxAnswers/2 - 1 {
			sub.Pull(nil, 1)
		}
		synctest.Wait()
		if len(free) > 0 {
			t.Fatal("the door was let go on too early: it would wait again at once")
		}
		sub.Pull(nil, 1)
		synctest.Wait()
		if len(free) != waiters {
			t.Fatalf("%d of %d go on", len(free), waiters)
		}
		for range waiters {
			if err := <-free; err != nil {
				t.Error(err)
			}
		}
	})
}

func TestWaitRoomEndsWithItsContextOrTheSubscriber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{})
		sub := s.NewSubscriber(false)
		for range maxAnswers {
			sub.Answer("x:/a", ahp.TerminalInput{}, nil, "")
		}
		cause := errors.New("the transport is gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		ended := make(chan error, 2)
		go func() { ended <- sub.WaitRoom(ctx) }()
		go func() { ended <- sub.WaitRoom(t.Context()) }()
		synctest.Wait()
		cancel(cause)
		if err := <-ended; !errors.Is(err, cause) {
			t.Error(err)
		}
		synctest.Wait()
		if len(ended) > 0 {
			t.Error("it went on without room")
		}
		sub.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestAWriterSleepsUntilThereIsSomething(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{})
		c := newTerminal(t, s, "a")
		sub := s.NewSubscriber(false)
		defer sub.Close()
		subscribe(t, sub, c)
		got := make(chan string, 100)
		done := make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			defer close(done)
			for {
				if items := sub.Pull(nil, 1); len(items) > 0 {
					got <- types(items)
					continue
				}
				select {
				case <-sub.Signal():
				case <-ctx.Done():
					return
				}
			}
		}()
		expect := func(want string) {
			t.Helper()
			synctest.Wait()
			for len(got) > 0 {
				if next := <-got; next != want {
					t.Errorf("got %s, want %s", next, want)
				}
				want = ""
			}
			if want != "" {
				t.Errorf("the writer slept through %s", want)
			}
		}
		for range 3 {
			c.AppendData([]byte("x"))
			expect("data")
			sub.Post(nothing, 0)
			expect("post")
			sub.Answer("x:/a", ahp.TerminalInput{}, nil, "no")
			expect("input")
		}
		c.Remove()
		synctest.Wait()
		if sub.Subscribed(c) {
			t.Error("the writer was not woken to let go of a removed channel")
		}
		cancel()
		<-done
	})
}

// TestAReaderThatStopsHoldsNobodyUp has 256 KiB logs, so that nothing but the
// store stands between a flood and a reader that does not read.
func TestAReaderThatStopsHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const logBytes, flood = 256 << 10, 8 << 20
		s := New(Options{LogBytes: logBytes, ContentBytes: 128 << 10})
		c := newTerminal(t, s, "a")
		mirrors := [2]ahp.TerminalState{}
		var subs [2]*Subscriber
		for i := range subs {
			subs[i] = s.NewSubscriber(false)
			defer subs[i].Close()
			mirrors[i] = *subscribe(t, subs[i], c).Terminal
		}
		read := func(i int) {
			for _, it := range pullAll(subs[i]) {
				mirrors[i].ApplyCopy(it.Entry.Action())
			}
		}
		for n := 0; n < flood; n += 4 << 10 {
			if c.AppendData(make([]byte, 4<<10)) {
				c.Checkpoint([]byte("preamble"))
			}
			if l := &c.log; l.bytes+l.encoded > logBytes {
				t.Fatalf("the log holds %d bytes", l.bytes+l.encoded)
			}
			read(0) // the other one stopped
		}
		if subs[0].Lag(c) != 0 {
			t.Error("the reader that reads lags")
		}
		c.Append(ahp.TerminalTitleChanged{Title: "after"}, nil)
		read(0)
		read(1)
		state, _ := c.Terminal()
		want := string(state.AppendJSON(nil, ahp.ShapeLifecycle))
		if got := string(mirrors[1].AppendJSON(nil, ahp.ShapeLifecycle)); got != want {
			t.Error("the reader that had stopped has another state")
		}
		if mirrors[0].Content[0].Text.Len() != flood {
			t.Errorf("the reader that reads got %d bytes", mirrors[0].Content[0].Text.Len())
		}
	})
}
