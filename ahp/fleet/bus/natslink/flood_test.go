package natslink_test

import (
	"context"
	"testing"

	"termhost/ahp/fleet/bus"
	"termhost/ahp/hosttest"
)

// Whoever has the key of c sends as much as the connections take: messages that are short, and of
// streams that nobody knows, so that b would answer each of them; and what is for all.
func TestAHostThatFloodsStarvesNobody(t *testing.T) {
	for _, subject := range []string{"th.c.b.c", "th.c.all.c"} {
		w := newTown(t)
		b := answers
		b.Opened, b.Announced = echo, func(string, []byte) {}
		w.join("b", b)
		a, _ := w.join("a", bus.Handlers{Announced: b.Announced})
		o, _ := w.options("c", true)
		message := make([]byte, 40)
		message[0] = 6 // bytes of a stream
		stop, ended := make(chan struct{}), make(chan struct{})
		for range 4 {
			c, _ := dial(t, o)
			go func() {
				defer func() { ended <- struct{}{} }()
				for {
					select {
					case <-stop:
						return
					default:
						if c.Publish(subject, message) != nil {
							return
						}
					}
				}
			}()
		}
		for range 5 {
			asks(t, a)
		}
		s, err := a.Open("b", nil)
		hosttest.Check(t, err)
		transfer(t, s, 1<<20)
		s.Close()
		close(stop)
		w.server.End("c") // what it has sent and nobody has read is much
		for range 4 {
			<-ended
		}
	}
}

// asks has a host ask b until it is answered, four times at once. What is sent in a flood may be
// lost, and most of it is where the machine is busy; who is starved has no answer however often they
// ask.
func asks(t *testing.T, a *bus.Node) {
	t.Helper()
	hosttest.Eventually(t, a.Name()+" is answered", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), hosttest.Patience/6)
		defer cancel()
		answers := make(chan bool)
		for range 4 {
			go func() {
				p, err := a.Request(ctx, "b", nil)
				answers <- err == nil && string(p) == "hello "+a.Name()
			}()
		}
		answered := 0
		for range 4 {
			if <-answers {
				answered++
			}
		}
		return answered > 0
	})
}
