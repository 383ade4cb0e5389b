package carry_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// said is what a verb has printed until now.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// listener is somebody who listens to events at home.
type listener struct {
	t         *testing.T
	out, errs said
	p         *pipes
	ended     chan int
	renamed   int
}

// listens runs a command line that prints events.
func (b *box) listens(line string) *listener {
	e := &listener{t: b.w.t, p: newPipes(""), ended: make(chan int, 1)}
	e.p.Out, e.p.Err = &e.out, &e.errs
	go func() { e.ended <- b.runner.Exec(b.w.t.Context(), b.caller(e.p), line).Status }()
	return e
}

// hears has things happen on a host until an event there, of a terminal of that NAME, is heard.
func (e *listener) hears(b *box, name string) {
	e.t.Helper()
	if out, status := b.run("new -d -n " + name + " -- sleep 1000"); status != 0 {
		e.t.Fatal(out)
	}
	defer b.run("rm " + name)
	now := name
	hosttest.Eventually(e.t, b.name+"'s events are heard", func() bool {
		e.renamed++
		to := fmt.Sprintf("%s-%d", name, e.renamed)
		if out, status := b.run("rename " + now + " " + to); status != 0 {
			e.t.Fatal(out)
		}
		now = to
		out := e.out.String()
		return strings.Contains(out, b.name+"/"+name) ||
			strings.Contains(out, `{"host":"`+b.name+`"`)
	})
}

// ends ends it.
func (e *listener) ends() {
	e.t.Helper()
	e.p.signals <- syscall.SIGINT
	if status := slowtest.Receive(e.t, "the end", e.ended); status != 0 {
		e.t.Errorf("it ends with %d, and has said %s", status, &e.errs)
	}
	e.p.Wait()
}

func TestEventsOfAHostThatHasRestartedAreToldAgain(t *testing.T) {
	t.Parallel()
	w, home, boxes := newTown(t, "box1", "box2")
	e := home.listens("events")
	e.hears(boxes[0], "before")
	e.hears(boxes[1], "other")
	box1 := boxes[0]
	for n := range 2 {
		box1.leave()
		box1 = w.open("box1")
		e.hears(box1, fmt.Sprintf("after%d", n))
		hosttest.Eventually(t, "it says what may be missing", func() bool {
			return strings.Count(e.errs.String(), "box1 is followed again; events from ") == n+1
		})
		e.hears(boxes[1], fmt.Sprintf("other%d", n))
	}
	e.hears(home, "own")
	e.ends()
	if strings.Contains(e.errs.String(), "box2") {
		t.Errorf("of a host that was there it says %s", &e.errs)
	}
}

func TestEventsOfAHostThatJoinsLaterAreTold(t *testing.T) {
	t.Parallel()
	w, home, _ := newTown(t)
	e := home.listens("events --json")
	e.hears(home, "alone")
	w.join("box1")
	e.hears(w.open("box1"), "first")
	w.join("box2")
	box2 := w.open("box2")
	hosttest.Eventually(t, "box2 is followed", func() bool {
		return strings.Contains(e.errs.String(), "box2 is followed from ")
	})
	e.hears(box2, "later")
	e.ends()
}

// A host that is back without what is named says so, and the others' events go on.
func TestEventsOfOtherNAMEsGoOnWhenAHostHasRestartedWithoutItsOwn(t *testing.T) {
	t.Parallel()
	w, home, boxes := newTown(t, "box1", "box2")
	home.makes("box1", "one", "one-")
	home.makes("box2", "two", "two-")
	e := home.listens("events box1/one box2/two")
	hears := func(b *box, name string) {
		t.Helper()
		before := strings.Count(e.out.String(), b.name+"/"+name)
		hosttest.Eventually(t, name+"'s events are heard", func() bool {
			b.run("label " + name + " is=here")
			b.run("label " + name + " is-")
			return strings.Count(e.out.String(), b.name+"/"+name) > before
		})
	}
	hears(boxes[0], "one")
	hears(boxes[1], "two")
	boxes[0].run("rm one")
	boxes[0].leave()
	w.open("box1")
	hosttest.Eventually(t, "it says that there is none", func() bool {
		return strings.Contains(e.errs.String(), "no terminal")
	})
	hears(boxes[1], "two")
	e.ends()
}
