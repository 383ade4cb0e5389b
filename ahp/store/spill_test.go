package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"

	"termhost/ahp"
)

// disk takes what is spilled, and fails when it is told to.
type disk struct {
	b    []byte
	full bool
}

var errDisk = errors.New("the disk is full")

func (d *disk) save(p []byte) (io.ReaderAt, int64, error) {
	if d.full {
		return nil, 0, errDisk
	}
	d.b = append(d.b, p...)
	return d, int64(len(d.b) - len(p)), nil
}

func (d *disk) ReadAt(p []byte, at int64) (int, error) {
	return bytes.NewReader(d.b).ReadAt(p, at)
}

func TestSpilledContentIsTrimmedAndReadAsContentInMemory(t *testing.T) {
	o := Options{LogBytes: 256 << 10, ContentBytes: 64 << 10}
	var d disk
	var channels [2]*Channel
	for i := range channels {
		channels[i] = newTerminal(t, New(o), "a")
	}
	is, want := channels[0], channels[1]
	id := ""
	for i := range 3000 {
		for _, c := range channels {
			if c.AppendData(fmt.Appendf(nil, "line %d of the output, with more text\r\n", i)) {
				c.Checkpoint(fmt.Appendf(nil, "[drawn %d]", i))
			}
			switch i % 50 {
			case 7:
				id = fmt.Sprintf("c-%d", i)
				c.Append(ahp.TerminalCommandExecuted{CommandID: id, CommandLine: "make"}, nil)
			case 43:
				c.Append(ahp.TerminalCommandFinished{CommandID: id}, nil)
			}
		}
		if i%20 != 0 {
			continue
		}
		is.ShortenLog()
		if err := is.Spill(d.save); err != nil {
			t.Fatal(err)
		}
		views := [2]View{}
		for k, c := range channels {
			views[k] = subscribe(t, subscribed(t, c.store), c)
		}
		got, w := views[0].Terminal, views[1].Terminal
		if !bytes.Equal(got.AppendJSON(nil, ahp.ShapeLifecycle), w.AppendJSON(nil, ahp.ShapeLifecycle)) {
			t.Fatalf("the snapshot differs at line %d", i)
		}
		if is.Trimmed() != want.Trimmed() || is.Position() != want.Position() {
			t.Fatalf("trimmed %v, position %d", is.Trimmed(), is.Position())
		}
	}
	if !is.Trimmed() {
		t.Error("nothing was trimmed")
	}
	if err := is.Spill(d.save); err != nil {
		t.Fatal(err)
	}
	is.ShortenLog()
	if got, before := is.Memory(), want.Memory(); got > before/8 {
		t.Errorf("%d bytes are left of %d", got, before)
	}
}

func TestContentThatCannotBeSpilledStaysInMemory(t *testing.T) {
	c := newTerminal(t, New(Options{}), "a")
	c.AppendData([]byte("hello"))
	before := c.Memory()
	if err := c.Spill((&disk{full: true}).save); !errors.Is(err, errDisk) {
		t.Error(err)
	}
	if st, _ := c.Terminal(); st.Content[0].Text.String() != "hello" || c.Memory() != before {
		t.Errorf("%q", st.Content[0].Text)
	}
}

func TestAShortenedLogKeepsWhatItsReadersHaveNotRead(t *testing.T) {
	s := New(Options{LogBytes: 16 << 10})
	c := newTerminal(t, s, "a")
	near, far := subscribed(t, s, c), subscribed(t, s, c)
	for range 8 { // more than a share of the log
		c.AppendData(make([]byte, 1<<10))
	}
	pullAll(near)
	c.AppendData([]byte("hello"))
	c.ShortenLog()
	if got := types(pullAll(near)); got != "data" {
		t.Errorf("who is near the end reads %q", got)
	}
	if got := types(pullAll(far)); got == "" || got[:7] != "cleared" {
		t.Errorf("who is far behind reads %q", got)
	}
	c.ShortenLog()
	pullAll(near) // says that all has been written
	pullAll(far)
	c.ShortenLog()
	if n := len(c.log.entries); n != 0 {
		t.Errorf("%d entries stay that nobody reads", n)
	}
}

func TestAClientWhoseLogWasShortenedWhileItWasAwayGetsTheState(t *testing.T) {
	s := New(Options{})
	c := newTerminal(t, s, "a")
	sub := subscribed(t, s, c)
	c.AppendData([]byte("one"))
	seen := pullAll(sub)[0].Entry.Seq()
	sub, synced := drop(t, sub)
	c.AppendData([]byte(" two"))
	c.ShortenLog()
	var d disk
	if err := c.Spill(d.save); err != nil {
		t.Fatal(err)
	}
	st := ahp.TerminalState{}
	for _, e := range sub.Reconnect([]*Channel{c}, seen, synced) {
		st.ApplyCopy(e.Action())
	}
	if len(st.Content) != 1 || st.Content[0].Text.String() != "one two" {
		t.Errorf("it has %+v", st.Content)
	}
}

// unlocked is a disk that is slow, as far as everybody would notice who needs the store meanwhile.
type unlocked struct {
	disk
	s     *Store
	reads int
	held  bool // the store was locked during a read
}

func (u *unlocked) save(p []byte) (io.ReaderAt, int64, error) {
	_, at, err := u.disk.save(p)
	return u, at, err
}

func (u *unlocked) ReadAt(p []byte, at int64) (int, error) {
	u.reads++
	if !u.s.mu.TryLock() {
		u.held = true
	} else {
		u.s.mu.Unlock()
	}
	return u.disk.ReadAt(p, at)
}

// A reader that gets the state anew has it read piece by piece while it is written to the peer.
// Nobody else waits for the disk.
func TestSpilledOutputIsNotReadUnderTheLock(t *testing.T) {
	s := New(Options{ContentBytes: 1 << 20})
	c := newTerminal(t, s, "a")
	sub := subscribed(t, s, c)
	want := lines(300 << 10)
	for n := 0; n < len(want); n += 10 << 10 {
		c.AppendData(want[n:min(n+10<<10, len(want))])
	}
	u := &unlocked{s: s}
	c.ShortenLog()
	if err := c.Spill(u.save); err != nil {
		t.Fatal(err)
	}
	check := func(how string, entries []*Entry) {
		t.Helper()
		if u.reads != 0 {
			t.Errorf("%s: %d pieces are read before they are needed", how, u.reads)
		}
		var st ahp.TerminalState
		weight := 0
		for i, e := range entries {
			st.ApplyCopy(e.Action())
			weight += e.weight
			if reads := u.reads; reads > i+1 {
				t.Errorf("%s: %d pieces are read for %d actions", how, reads, i+1)
			}
		}
		if got := st.Content[0].Text.String(); got != string(want) {
			t.Errorf("%s: %d bytes, want %d", how, len(got), len(want))
		}
		if u.held || u.reads < 4 || weight < len(want) {
			t.Errorf("%s: read under the lock: %v, %d reads, weight %d", how, u.held, u.reads, weight)
		}
		u.reads = 0
	}
	var fallen []*Entry
	for items := sub.Pull(nil, 1<<20); len(items) > 0; items = sub.Pull(nil, 1<<20) {
		for _, it := range items {
			fallen = append(fallen, it.Entry)
		}
	}
	check("a reader that is too slow", fallen)
	back := s.NewSubscriber(false)
	t.Cleanup(func() { back.Close() })
	check("a client that reconnects", back.Reconnect([]*Channel{c}, 0, map[string]uint64{}))
}
