package bus_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"termhost/ahp/fleet/bus"
)

func TestARequestIsAnsweredByTheHostThatWasAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &bus.Network{}
		join(t, w, "b", bus.Handlers{
			Asked: func(_ context.Context, from string, p []byte) ([]byte, error) {
				if string(p) == "no" {
					return nil, errors.New("not for " + from)
				}
				return fmt.Appendf(nil, "%s asks %s", from, p), nil
			}})
		a := join(t, w, "a", bus.Handlers{})
		if p, err := a.Request(t.Context(), "b", []byte("yes")); string(p) != "a asks yes" {
			t.Errorf("%q, %v", p, err)
		}
		if _, err := a.Request(t.Context(), "b", []byte("no")); err == nil ||
			err.Error() != "not for a" {
			t.Errorf("refused with %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := a.Request(ctx, "c", nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a host that is not there: %v", err)
		}
	})
}

func TestAnAnnouncementReachesAllAndIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &bus.Network{}
		heard := make(chan string, 3)
		listen := func(name string) bus.Handlers {
			return bus.Handlers{Announced: func(from string, p []byte) {
				heard <- fmt.Sprintf("%s hears %q of %s", name, p, from)
			}}
		}
		a := join(t, w, "a", listen("a"))
		join(t, w, "b", listen("b"))
		if err := a.Announce([]byte("here")); err != nil {
			t.Fatal(err)
		}
		got := map[string]bool{<-heard: true, <-heard: true}
		if !got[`a hears "here" of a`] || !got[`b hears "here" of a`] {
			t.Errorf("%v", got)
		}
		if err := a.Announce(make([]byte, bus.MaxAnnouncement+1)); !errors.Is(err, bus.ErrTooLarge) {
			t.Errorf("one that is too long: %v", err)
		}
	})
}

func TestAStreamThatIsRefusedSaysWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &bus.Network{}
		join(t, w, "b", bus.Handlers{})
		s := open(t, join(t, w, "a", bus.Handlers{}), "b")
		if _, err := s.Read(make([]byte, 1)); err == nil ||
			err.Error() != "this host serves no streams" {
			t.Errorf("%v", err)
		}
	})
}

// Host c asks without end, and what it asks takes its time.
func TestAHostThatAsksWithoutEndKeepsNobodyFromBeingAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &bus.Network{}
		join(t, w, "b", bus.Handlers{
			Asked: func(ctx context.Context, from string, p []byte) ([]byte, error) {
				if from == "c" {
					<-ctx.Done()
				}
				return p, nil
			}})
		a, c := join(t, w, "a", bus.Handlers{}), join(t, w, "c", bus.Handlers{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for range 200 {
			go func() { _, _ = c.Request(ctx, "b", nil) }()
		}
		synctest.Wait()
		if p, err := a.Request(ctx, "b", []byte("x")); string(p) != "x" {
			t.Errorf("%q, %v", p, err)
		}
	})
}
