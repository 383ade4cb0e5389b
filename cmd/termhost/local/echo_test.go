package local

import (
	"bytes"
	"io"
	"testing"
	"time"

	"termhost/cmd/termhost/local/predict"
	"termhost/sshd/wire"
)

// stuckTerminal takes no output until it is freed.
type stuckTerminal struct {
	stuck chan struct{} // 1 deep: it was given some
	free  chan struct{}
	bytes.Buffer
}

func (s *stuckTerminal) Write(p []byte) (int, error) {
	signalOnce(s.stuck)
	<-s.free
	return s.Buffer.Write(p)
}

func TestWhatIsTypedWhileTheTerminalIsStuckIsKeptUpToABound(t *testing.T) {
	out := &stuckTerminal{stuck: make(chan struct{}, 1), free: make(chan struct{})}
	e := &echo{out: out, stop: make(chan struct{}), ended: make(chan struct{}),
		queued: make(chan struct{}, 1), p: predict.New(80, 24, predict.Always, time.Millisecond)}
	go e.run()
	written := make(chan error, 1)
	go func() {
		_, err := io.WriteString(e, "first")
		written <- err
	}()
	<-out.stuck
	paste := bytes.Repeat([]byte("x"), 1000)
	for range 100 {
		e.typed(paste)
		e.taken(wire.Taken{Shown: true})
	}
	e.queue.Lock()
	if len(e.told) > maxBehind || !e.late {
		t.Errorf("%d things are kept", len(e.told))
	}
	e.queue.Unlock()
	close(out.free)
	if err := <-written; err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(e, " second"); err != nil {
		t.Fatal(err)
	}
	e.typed([]byte("y"))
	close(e.stop)
	<-e.ended
	if got := out.String(); got != "first second" {
		t.Errorf("the terminal shows %q", got)
	}
}
