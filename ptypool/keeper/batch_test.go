package keeper

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// modelHost uses a landing as a host does: its reader reads batches, which it delivers one after
// the other, and its log takes them over. It prints numbers, so that no text repeats.
type modelHost struct {
	t        *testing.T
	l        *Landing
	printed  string // read(2) has delivered it
	next     int    // number to be printed
	logged   string
	reading  Batch // not delivered yet
	shown    Batch // delivered, and still in use by its reader
	unlogged Unlogged
	taken    []Waiting // being logged
}

// read has the reader read about n bytes into the present batch. killed: the host dies before
// read(2) returns.
func (h *modelHost) read(n int, killed bool) {
	defer func() {
		if killed {
			_ = recover()
		}
	}()
	_, err := h.reading.Read(func(p []byte) (int, error) {
		var b strings.Builder
		for ; b.Len() < n; h.next++ {
			fmt.Fprintf(&b, "%d,", h.next)
		}
		k := copy(p, b.String())
		h.printed += string(p[:k])
		if killed {
			panic("killed")
		}
		return k, nil
	})
	if err != nil {
		h.t.Fatal(err)
	}
}

// deliver delivers the batch that was read, and begins the next one.
func (h *modelHost) deliver() {
	h.shown.Free()
	h.shown = h.reading
	if len(h.shown.Bytes()) > 0 {
		h.unlogged.Add(h.shown, time.Time{})
	}
	if !h.l.Room() {
		h.flush()
	}
	if !h.l.Room() {
		h.t.Fatal("there is no room, and all batches but one have been freed")
	}
	h.reading = h.l.Batch()
}

// place begins to log a piece, if there is one.
func (h *modelHost) place() {
	if len(h.taken) == 0 {
		h.taken = h.unlogged.Take()
	}
	if len(h.taken) > 0 {
		h.taken[0].Place(int64(len(h.logged)))
	}
}

// log logs the piece that was placed, or if it is killed then, n bytes of it.
func (h *modelHost) log(n int, killed bool) {
	if len(h.taken) == 0 {
		return
	}
	p := h.taken[0].Bytes()
	if killed {
		h.logged += string(p[:n%(len(p)+1)])
		return
	}
	h.logged += string(p)
	h.taken[0].Free()
	h.taken = h.taken[1:]
}

func (h *modelHost) flush() {
	for {
		h.place()
		if len(h.taken) == 0 {
			return
		}
		h.log(0, false)
	}
}

// steps are what a host does: see die.
var steps = []string{
	"rdprdlrdplfk", "rrdRRRRRRRRRRRRRRRRRRRRdrdpwk", "RRRRRRRRRRdRRRRRRRRRRdRRRRRRRRRRdrK",
	"rdrpdrdw", "rdprdprk", "rdrpwrdl", "rdrplk", "rprdplrdprdlfrk",
	"eddrdrk",
}

// FuzzAHostMayBeKilledAtAnyMoment has a host do a step for each byte, and then die, in the last
// step. Log and salvage together hold exactly the printed bytes.
func FuzzAHostMayBeKilledAtAnyMoment(f *testing.F) {
	for _, s := range steps {
		f.Add(s, uint16(7))
	}
	f.Fuzz(func(t *testing.T, steps string, n uint16) {
		if len(steps) <= 200 {
			die(t, steps, int(n))
		}
	})
}

func TestAHostMayBeKilledAtAnyMoment(t *testing.T) {
	for _, s := range steps {
		for dies := range len(s) + 1 {
			die(t, s[:dies], 3*dies)
			for _, last := range "kKpw" {
				die(t, s[:dies]+string(last), 3*dies)
			}
		}
	}
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 0))
		var b strings.Builder
		for range 5 + r.IntN(60) {
			b.WriteByte("rrrRedddplfkKw"[r.IntN(14)])
		}
		die(t, b.String(), r.IntN(1000))
	}
}

// die has a host do steps: r, R and e read a little, much and nothing, d delivers, p begins to log a piece, l
// logs it, f logs all; k, K and w are its death while it reads or logs.
func die(t *testing.T, steps string, n int) {
	l, err := NewLanding()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	h := &modelHost{t: t, l: l, reading: l.Batch(), shown: l.Batch()}
	placed := false
	for i := range len(steps) {
		switch last := i == len(steps)-1; steps[i] {
		case 'r':
			h.read(n%100+1, false)
		case 'R':
			h.read(readSize, false)
		case 'e':
			h.read(0, false)
		case 'k', 'K':
			if last {
				h.read(n, true)
			}
		case 'd':
			if h.deliver(); len(h.taken) == 0 {
				placed = false
			}
		case 'p':
			h.place()
			placed = len(h.taken) > 0
		case 'l':
			if placed {
				h.log(0, false)
			}
			placed = false
		case 'w':
			if last && placed {
				h.log(n, true)
			}
		case 'f':
			h.flush()
			placed = false
		}
	}
	file, err := dupFile(l.File())
	if err != nil {
		t.Fatal(err)
	}
	keeper, err := MapLanding(file)
	if err != nil {
		t.Fatal(err)
	}
	defer keeper.Close()
	missing, left := keeper.Salvage(int64(len(h.logged)))
	if got := h.logged + string(left); got != h.printed || missing != 0 {
		t.Fatalf("after %q: %d bytes logged and %d salvaged, %d missing; %d printed, equal up to %d",
			steps, len(h.logged), len(left), missing, len(h.printed), commonPrefix(got, h.printed))
	}
	if !keeper.Empty() {
		t.Errorf("after %q: something is left", steps)
	}
}

func commonPrefix(a, b string) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// An idle terminal must not keep more memory than the first page of its landing.
func TestALandingBeginsAnewWhenAllIsLogged(t *testing.T) {
	l := newLanding(t)
	h := &modelHost{t: t, l: l, reading: l.Batch(), shown: l.Batch()}
	for range 100 {
		h.read(1, false)
		if at := h.reading; at.half != 0 || at.from != 0 {
			t.Fatalf("a batch is read to %d in half %d", at.from, at.half)
		}
		h.deliver()
		h.deliver() // an empty one: the reader is done with the first
		h.flush()
	}
	if !l.Empty() {
		t.Error("the landing is not empty")
	}
}

// Its memory is used as long as the parser needs it, and as long as the log does.
func TestABatchIsFreedByItsLastUser(t *testing.T) {
	l := newLanding(t)
	for _, logFirst := range []bool{false, true} {
		h := &modelHost{t: t, l: l, reading: l.Batch(), shown: l.Batch()}
		h.read(1, false)
		h.deliver()
		if logFirst {
			h.flush()
		} else {
			h.shown.Free()
		}
		if l.Empty() {
			t.Errorf("log first %v: it is freed after one of both", logFirst)
		}
		if logFirst {
			h.shown.Free()
		} else {
			h.flush()
		}
		if !l.Empty() {
			t.Errorf("log first %v: it is not freed", logFirst)
		}
	}
}

// Outputs of one program are logged in any order, so that batches of one do not follow each other.
func TestBatchesThatAreApartShareNoHalf(t *testing.T) {
	l := newLanding(t)
	l.Apart()
	h := &modelHost{t: t, l: l, reading: l.Batch()}
	h.read(10, false)
	first := h.reading
	h.reading = l.Batch()
	h.read(10, false)
	if h.reading.half == first.half {
		t.Fatal("two batches share a half")
	}
	if l.Room() {
		t.Error("there is room for a third one")
	}
	first.Place(0)
	first.Free()
	// The first one is logged, and then ten bytes of the other output.
	if got := salvage(l, 2*int64(len(first.Bytes()))); string(got) != h.printed[first.to:] {
		t.Errorf("salvaged %q", got)
	}
}

// The log could not be written before the host died.
func TestWhatALogHasMissedIsNotTakenForLogged(t *testing.T) {
	l := newLanding(t)
	b := l.Batch()
	if _, err := b.Read(func(p []byte) (int, error) { return copy(p, "seen"), nil }); err != nil {
		t.Fatal(err)
	}
	b.Place(100)
	missing, left := l.Salvage(70)
	if missing != 30 || string(left) != "seen" {
		t.Errorf("%d missing, then %q", missing, left)
	}
}
