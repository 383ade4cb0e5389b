package store

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"termhost/ahp"
)

// arrival is output as a reader's peer gets it.
type arrival struct {
	at   time.Duration
	text string
	seq  uint64
}

// arrivals reads as a connection's writer does, for as long as output is appended, and returns what
// its peer gets. Output that is read at once is one arrival.
func arrivals(sub *Subscriber, done <-chan struct{}) (list []arrival) {
	start := time.Now()
	for {
		items := sub.Pull(nil, 256<<10)
		if len(items) == 0 {
			select {
			case <-sub.Signal():
				continue
			case <-done:
				return list
			}
		}
		a := arrival{at: time.Since(start)}
		for _, it := range items {
			if it.Entry == nil {
				continue
			}
			if d, ok := it.Entry.Action().(ahp.TerminalData); ok {
				a.text += string(d.Data)
			} else {
				a.text += "<" + it.Entry.Action().Type() + ">"
			}
			if it.Entry.Seq() <= a.seq {
				a.text += "<out of order>"
			}
			a.seq = it.Entry.Seq()
		}
		list = append(list, a)
	}
}

// reading runs arrivals while do appends, and for a while after that.
func reading(sub *Subscriber, do func()) (list []arrival) {
	done, read := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(read)
		list = arrivals(sub, done)
	}()
	synctest.Wait()
	do()
	time.Sleep(2 * maxDelay)
	close(done)
	<-read
	return list
}

func text(list []arrival) (s string) {
	for _, a := range list {
		s += a.text
	}
	return s
}

// A program prints a line each millisecond. Whoever lets output wait gets it in so much fewer
// pieces, and no line later than it allows.
func TestOutputThatMayWaitComesInFewerPiecesAndInTime(t *testing.T) {
	const lines = 1000
	for _, c := range []struct {
		most   time.Duration
		pieces int // at most
	}{{0, lines}, {-time.Second, lines}, {20 * time.Millisecond, 52}, {100 * time.Millisecond, 12},
		{time.Hour, 5}} { // much of it waits no longer
		t.Run(c.most.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := New(Options{})
				ch := newTerminal(t, s, "a")
				sub := subscribed(t, s, ch)
				sub.Delay(ch.URI(), c.most)
				synctest.Wait()
				var want string
				list := reading(sub, func() {
					for i := range lines {
						line := fmt.Sprintf("%04d\n", i)
						want += line
						ch.AppendData([]byte(line))
						synctest.Wait()
						time.Sleep(time.Millisecond)
					}
				})
				if text(list) != want {
					t.Fatal("the output is not what was printed")
				}
				if len(list) > c.pieces || c.most <= 0 && len(list) != lines {
					t.Errorf("%d pieces, want %d", len(list), c.pieces)
				}
				most := min(max(c.most, 0), maxDelay)
				for _, a := range list {
					var first int
					fmt.Sscanf(a.text, "%d", &first)
					if late := a.at - time.Duration(first)*time.Millisecond; late > most {
						t.Errorf("line %d came %v late", first, late)
					}
				}
			})
		})
	}
}

func TestWhatDoesNotWaitBringsWhatWaits(t *testing.T) {
	const most = 500 * time.Millisecond
	for _, c := range []struct {
		name string
		do   func(s *Store, sub *Subscriber, a, b *Channel)
		want string
	}{
		{"a first piece", func(*Store, *Subscriber, *Channel, *Channel) {}, "first"},
		{"another action", func(_ *Store, _ *Subscriber, a, _ *Channel) {
			a.Append(ahp.TerminalCommandFinished{CommandID: "1"}, nil)
		}, "first|second<terminal/commandFinished>"},
		{"another channel", func(_ *Store, _ *Subscriber, _, b *Channel) {
			b.AppendData([]byte("other"))
		}, "first|secondother"},
		{"an answer", func(_ *Store, sub *Subscriber, a, _ *Channel) {
			sub.Post(func(dst []byte) []byte { return dst }, 0)
		}, "first|second"},
		{"much of it", func(_ *Store, _ *Subscriber, a, _ *Channel) {
			a.AppendData([]byte(strings.Repeat("x", delayedBytes)))
		}, "first|second" + strings.Repeat("x", delayedBytes)},
		{"an end of the delay", func(_ *Store, sub *Subscriber, a, _ *Channel) {
			sub.Delay(a.URI(), 0)
		}, "first|second"},
		{"the end", func(_ *Store, _ *Subscriber, a, _ *Channel) { a.Remove() }, "first|second"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := New(Options{})
				a, b := newTerminal(t, s, "a"), newTerminal(t, s, "b")
				sub := subscribed(t, s, a, b)
				sub.Delay(a.URI(), most)
				synctest.Wait()
				var got []string
				list := reading(sub, func() {
					a.AppendData([]byte("first"))
					synctest.Wait()
					a.AppendData([]byte("second"))
					synctest.Wait()
					c.do(s, sub, a, b)
					synctest.Wait()
				})
				for _, p := range list {
					if p.at == 0 {
						got = append(got, p.text)
					}
				}
				if at := strings.Join(got, "|"); at != c.want {
					t.Errorf("at once came %.100q, want %.100q", at, c.want)
				}
				if !strings.Contains(text(list), "second") {
					t.Error("what waits has not come")
				}
			})
		})
	}
}

// A watcher of a client-executed terminal reads no echoes, and they bring nothing.
func TestEchoesToTheOwnerBringNothingThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{})
		ch := newOwned(t, s)
		sub := subscribed(t, s, ch)
		sub.Identify("watcher")
		sub.Delay(ch.URI(), 100*time.Millisecond)
		synctest.Wait()
		list := reading(sub, func() {
			for range 100 {
				ch.AppendData([]byte("x"))
				ch.Echo(ahp.TerminalOutput{Data: []byte("x")}, &ahp.Origin{ClientID: "c1"})
				synctest.Wait()
				time.Sleep(time.Millisecond)
			}
		})
		if text(list) != strings.Repeat("x", 100) || len(list) > 3 {
			t.Errorf("%v", list)
		}
	})
}
