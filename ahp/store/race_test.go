package store

import (
	"fmt"
	"runtime"
	"sync"
	"testing"

	"termhost/ahp"
)

// TestManyAtOnce is for the race detector: terminals print, connections are cut and
// reconnect, and one of them hardly reads. In the end all have the same state.
func TestManyAtOnce(t *testing.T) {
	const terminals, connections, appends = 4, 8, 2000
	s := New(Options{LogBytes: 16 << 10, ContentBytes: 8 << 10})
	channels := []*Channel{s.Root()}
	for i := range terminals {
		c := newTerminal(t, s, fmt.Sprint(i))
		c.List()
		channels = append(channels, c)
	}
	finished := make(chan struct{})
	var readers, writers sync.WaitGroup
	for i := range connections {
		c := &client{shape: ahp.Shape(i % int(ahp.Shapes)), cutEvery: 40 * i, stopEvery: 7 * i}
		readers.Go(func() { c.run(t, s, channels, finished) })
	}
	for _, c := range channels[1:] {
		writers.Go(func() {
			for i := range appends {
				busy(c, i)
			}
		})
	}
	writers.Go(func() {
		for range appends / 10 {
			s.PublishTerminals()
		}
	})
	writers.Wait()
	s.PublishTerminals()
	close(finished)
	readers.Wait()
	for _, c := range channels {
		if len(c.cursors) != 0 {
			t.Errorf("%s has %d readers", c.URI(), len(c.cursors))
		}
		for _, e := range c.log.entries {
			if e.keptBytes() > 0 {
				t.Errorf("%s keeps an encoding for nobody", c.URI())
			}
		}
	}
}

func busy(c *Channel, i int) {
	switch i % 20 {
	case 3:
		c.Append(ahp.TerminalTitleChanged{Title: fmt.Sprint(i)}, nil)
	case 5:
		c.Append(ahp.TerminalCommandExecuted{CommandID: fmt.Sprint(i), CommandLine: "x"}, nil)
	case 9:
		c.Append(ahp.TerminalCommandFinished{CommandID: fmt.Sprint(i - 4)}, nil)
	case 11:
		c.Append(ahp.TerminalClaimed{Claim: ahp.ClientClaim(fmt.Sprint(i))}, nil)
	case 12:
		c.Summary()
	case 13:
		c.Terminal()
	default:
		if c.AppendData(fmt.Appendf(nil, "%d\u00e9\r\n", i)) {
			c.Checkpoint(nil)
		}
	}
}

// client is a connection with a writer of its own.
type client struct {
	shape               ahp.Shape
	cutEvery, stopEvery int
	root                ahp.RootState
	terminals           map[string]*ahp.TerminalState
	lastSeen            uint64
}

func (c *client) run(t *testing.T, s *Store, channels []*Channel, finished <-chan struct{}) {
	c.terminals = map[string]*ahp.TerminalState{}
	sub := s.NewSubscriber(false)
	var sn *Subscription
	sub.Post(func(dst []byte) []byte {
		views, _ := sn.Start()
		for _, v := range views {
			if v.Root != nil {
				c.root = *v.Root
			} else {
				st := v.Terminal.Clone()
				c.terminals[v.URI] = &st
			}
			dst = v.AppendJSON(dst, c.shape)
		}
		return dst
	}, 0)
	sn = sub.SubscribeAll(channels)
	var buf []byte
	for n := 1; ; n++ {
		items := sub.Pull(nil, 1<<10)
		if len(items) == 0 {
			select {
			case <-finished:
				if sub.Pending() {
					continue
				}
				c.check(t, channels)
				sub.Close()
				return
			case <-sub.Signal():
			}
			continue
		}
		if c.cutEvery > 0 && n%c.cutEvery == 0 && len(c.terminals) > 0 {
			synced := sub.Close() // the items are lost
			sub = s.NewSubscriber(false)
			var list []*Entry
			sub.Post(func(dst []byte) []byte {
				for _, e := range list {
					dst = e.AppendEnvelope(dst, c.shape)
					c.receive(t, e)
				}
				return dst
			}, 0)
			list = sub.Reconnect(channels, c.lastSeen, synced)
			continue
		}
		for _, it := range items {
			if it.Post != nil {
				buf = it.Post(buf[:0])
				continue
			}
			buf = it.Entry.AppendEnvelope(buf[:0], c.shape)
			c.receive(t, it.Entry)
		}
		if c.stopEvery > 0 && n%c.stopEvery == 0 {
			stop(s, finished)
		}
	}
}

// stop returns when so much has been appended that a log is full of it.
func stop(s *Store, finished <-chan struct{}) {
	for target := s.Seq() + 300; s.Seq() < target; runtime.Gosched() {
		select {
		case <-finished:
			return
		default:
		}
	}
}

func (c *client) receive(t *testing.T, e *Entry) {
	if e.Seq() <= c.lastSeen {
		t.Errorf("%d after %d", e.Seq(), c.lastSeen)
	}
	c.lastSeen = e.Seq()
	if e.Channel() == ahp.RootURI {
		c.root.Apply(e.Action())
	} else if st := c.terminals[e.Channel()]; st != nil {
		st.ApplyCopy(e.Action())
	}
}

// check compares whole logs, and of trimmed ones the end.
func (c *client) check(t *testing.T, channels []*Channel) {
	for _, ch := range channels[1:] {
		want, _ := ch.Terminal()
		got := c.terminals[ch.URI()]
		a, b := textOf(got), textOf(&want)
		if n := min(len(a), len(b)); n == 0 || a[len(a)-n:] != b[len(b)-n:] {
			a, b = a[max(0, len(a)-40):], b[max(0, len(b)-40):]
			t.Errorf("%s ends in %q, not %q", ch.URI(), a, b)
		}
		if got.Title != want.Title || got.Claim != want.Claim || got.Detection != want.Detection {
			t.Errorf("%s: %q, not %q", ch.URI(), got.Title, want.Title)
		}
	}
	first := channels[1].Summary().TerminalInfo
	if len(c.root.Terminals) != len(channels)-1 || c.root.Terminals[0] != first {
		t.Errorf("the root's list is %v", c.root.Terminals)
	}
}
