package recordings_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/ahp/journal"
	"termhost/ahp/recordings"
	"termhost/ptypool/termlog"
)

// terminal is a terminal as its recorder sees it: a log, and a screen that draws its name.
type terminal struct {
	*recordings.Recorder
	t      *testing.T
	log    []termlog.Record
	lost   bool // the log does not hold the last output
	size   int64
	parted bool // the output so far ends within a sequence
	at     int64
	ended  int
	clock  time.Time
}

func newTerminal(t *testing.T, s *recordings.Store) *terminal {
	e := &terminal{t: t, size: 256 << 10, clock: now}
	e.nextHost(s)
	return e
}

// nextHost gives the terminal a recorder of a host that has just started.
func (e *terminal) nextHost(s *recordings.Store) {
	e.Recorder = &recordings.Recorder{Env: e, Store: s, Log: slog.New(slog.DiscardHandler),
		Clock: func() time.Time { return e.clock }}
}

func (e *terminal) Begins() (recordings.About, int64) { return about("x", "", e.clock), e.size }
func (e *terminal) InSequence() bool                  { return e.parted }
func (e *terminal) Position() int64                   { return e.at }
func (e *terminal) Grown()                            {}
func (e *terminal) Ended()                            { e.ended++ }

func (e *terminal) Checkpoint(drawn bool) (s journal.Snapshot) {
	if drawn {
		s.Redraw = []byte("x")
	}
	return s
}

func (e *terminal) Log(visit func(termlog.Record) bool) error {
	for _, r := range e.log {
		if !visit(r) {
			break
		}
	}
	if e.lost {
		return journal.ErrNotLogged
	}
	return nil
}

// prints is what happens when a program prints.
func (e *terminal) prints(p string) {
	e.clock = e.clock.Add(time.Millisecond)
	e.log = append(e.log, termlog.Record{Kind: termlog.Data, Pos: e.at, Time: e.clock, Payload: []byte(p)})
	e.at += int64(len(p))
	e.Output([]byte(p), e.clock)
	e.Keep()
}

func TestARecordingGoesOnInTheNextFile(t *testing.T) {
	s := open(t, t.TempDir())
	e := newTerminal(t, s)
	if e.prints("before"); e.Recording() != nil {
		t.Fatal("it is recorded before that has begun")
	}
	must(t, e.Begin("ann", e.Checkpoint(true)))
	first := e.Recording()
	var want strings.Builder
	print := func(p string) {
		want.WriteString(p)
		e.prints(p)
	}
	for range 43 {
		print(strings.Repeat("0123456789abcdef", 256)) // 4 KiB
	}
	e.parted = true // while a sequence goes on, no file ends before it must
	print(strings.Repeat("p", 8<<10))
	if e.Recording() != first {
		t.Error("a file has ended within a sequence that it has room for")
	}
	e.parted = false
	print("q")
	if e.Recording() == first || s.Ended(first).IsZero() || e.Recording().About().By != "ann" {
		t.Error("a file that is nearly full has not ended")
	}
	e.parted = true
	for range 70 {
		print(strings.Repeat("p", 4<<10))
	}
	e.Finish(nil)
	list := s.All()
	if len(list) != 3 || e.ended != 1 || e.Recording() != nil {
		t.Errorf("there are %q, and it has ended %d times", ids(list), e.ended)
	}
	var got string
	for _, r := range list {
		if s.Bytes(r) > e.size {
			t.Errorf("%s has %d bytes", r.ID(), s.Bytes(r))
		}
		begin, rest, _ := strings.Cut(text(t, s, r), ">")
		if begin != "<"+checkpoint {
			t.Errorf("%s begins with %.20q", r.ID(), begin)
		}
		got += rest
	}
	if got != want.String() {
		t.Errorf("%d bytes are recorded of %d", len(got), want.Len())
	}
}

// checkpoint is the kind of a checkpoint, as text writes it.
const checkpoint = "4"

func TestARecordingOfAnEarlierHostCatchesUp(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	e := newTerminal(t, s)
	must(t, e.Begin("ann", e.Checkpoint(false)))
	e.prints("one ")

	// The host is killed, and the terminal prints on.
	s = open(t, dir)
	e.nextHost(s)
	e.prints("two ")
	command := journal.Event{Action: ahp.AppendAction(nil, ahp.TerminalCommandExecuted{}, ahp.ShapeLifecycle)}
	claim := journal.Event{Action: ahp.AppendAction(nil, ahp.TerminalClaimed{}, ahp.ShapeLifecycle)}
	for _, ev := range []journal.Event{command, claim} {
		e.log = append(e.log, termlog.Record{Kind: termlog.Event, Pos: e.at, Time: e.clock, Payload: ev.Encode()})
	}
	r := s.All()[0]
	if !e.Restore(r) || e.Restore(r) || !e.Behind() {
		t.Fatal("it does not go on, or twice")
	}
	e.prints("three ")
	if e.Behind() {
		t.Fatal("it is behind still")
	}
	e.prints("four")
	e.Finish(&journal.Ending{Status: termlog.Status{At: e.clock}})
	e.Finish(&journal.Ending{Status: termlog.Status{At: e.clock}})
	if got := text(t, s, r); got != "<4>one two <3>three four<5>" || e.ended != 1 {
		t.Errorf("recorded is %q; it has ended %d times", got, e.ended)
	}
}

func TestARecordingSaysWhatItsTerminalsLogLacks(t *testing.T) {
	for want, lost := range map[string]bool{
		"<4>one [the log is damaged, or was full]two<4>three": false,
		"<4>one [not kept]<4>three":                           true,
	} {
		dir := t.TempDir()
		e := newTerminal(t, open(t, dir))
		must(t, e.Begin("ann", e.Checkpoint(false)))
		e.prints("one ")
		e.nextHost(open(t, dir))
		r := e.Store.All()[0]
		e.Restore(r)
		e.at += int64(len("lost "))
		e.log, e.lost = nil, lost
		if lost {
			e.at += int64(len("two"))
			e.Keep()
		} else {
			e.prints("two")
		}
		e.lost = false
		e.prints("three")
		e.Finish(nil)
		if got := text(t, e.Store, r); got != want {
			t.Errorf("recorded is %q, want %q", got, want)
		}
	}
}
