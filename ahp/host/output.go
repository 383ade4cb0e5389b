package host

import (
	"cmp"
	"errors"
	"runtime/debug"
	"slices"
	"time"
)

// output is what a terminal has printed, as it is in memory. It is guarded by the Term's lock.
type output struct {
	t       *Terminal
	content checkpoints
	spills  *spills // nil: nothing was spilled yet
	usage   usage   // of memory

	lastTitle string // the last one that a program set
	lastCwd   string
	// What the piece of output that is being handled has brought so far: see events.
	small            []byte
	newTitle, newCwd string
}

// usage is what a terminal's output takes in memory. It is guarded by the Term's lock.
type usage struct {
	counted   int  // of memory.total, in bytes
	fresh     int  // what was printed since that was counted, in bytes
	forgotten bool // the terminal is, and counts no more
}

// slack is by how much the total may grow until terminals give memory back again.
func (m *memory) slack() int64 { return m.limit / 4 }

// countOutput counts a piece of output. The Term's lock is held.
func (o *output) countOutput(n int) { o.usage.fresh += n + pieceMemory }

// boundOutput has terminals give memory back if that is due after a piece of output. The Term's
// lock is held.
func (o *output) boundOutput() {
	if o.usage.fresh < recountAfter {
		return
	}
	m := &o.t.host.memory
	o.countMemory()
	total, bound := m.total.Load(), m.bound.Load()
	if total <= bound {
		return
	}
	select {
	case m.wake <- struct{}{}:
	default:
	}
	if total > bound+m.slack() {
		o.giveBack()
	}
}

// countMemory counts what t's output takes in memory, and returns it. The Term's lock is held.
func (o *output) countMemory() int {
	t := o.t
	n := 0
	if !o.usage.forgotten {
		n = t.ch.Memory() + t.term.Screen().HistoryMemory()
	}
	t.host.memory.total.Add(int64(n - o.usage.counted))
	o.usage.counted, o.usage.fresh = n, 0
	return n
}

// boundMemory is memory's goroutine.
func (h *Host) boundMemory() {
	defer close(h.memory.done)
	quiet := time.NewTimer(freeAfter)
	quiet.Stop()
	defer quiet.Stop()
	for {
		select {
		case <-h.memory.wake:
			if h.relieveMemory() {
				quiet.Reset(freeAfter)
			}
		case <-quiet.C:
			debug.FreeOSMemory()
		case <-h.memory.stop:
			return
		}
	}
}

// relieveMemory has terminals give memory back if they have too much. It reports whether any has.
func (h *Host) relieveMemory() (relieved bool) {
	type holding struct {
		t       *Terminal
		memory  int
		watched bool
	}
	m := &h.memory
	var list []holding
	for _, t := range h.all() {
		t.term.Lock()
		n := t.output.countMemory()
		t.term.Unlock()
		list = append(list, holding{t, n, t.ch.Watched()})
	}
	slices.SortFunc(list, func(a, b holding) int {
		if a.watched != b.watched {
			if a.watched {
				return 1
			}
			return -1
		}
		return cmp.Compare(b.memory, a.memory)
	})
	for _, l := range list {
		if m.total.Load() <= m.limit && !relieved || m.total.Load() <= m.limit-m.slack() {
			break
		}
		l.t.term.Lock()
		relieved = l.t.output.giveBack() || relieved
		l.t.term.Unlock()
	}
	m.bound.Store(max(m.limit, m.total.Load()+m.slack()))
	return relieved
}

// maySpill reports whether output may be written to files: it is kept on disk anyway.
func (h *Host) maySpill() bool { return h.logPlace().OnDisk() > 0 && h.folders != "" }

var errNoSpill = errors.New("host: what is printed is in memory only")

// giveBack has t give back memory, if it has enough, and reports whether it has done so. The
// Term's lock is held.
func (o *output) giveBack() bool {
	t := o.t
	if o.countMemory() < leastSpill {
		return false
	}
	t.ch.ShortenLog()
	if t.host.maySpill() {
		err := o.spill()
		if failed := err != nil; t.host.memory.failing.Swap(failed) != failed && failed {
			t.host.log.Warn("what terminals have printed stays in memory", "err", err)
		}
	}
	o.countMemory()
	return true
}

// spill moves t's content and scrollback into files. The Term's lock is held.
func (o *output) spill() error {
	t := o.t
	if o.spills == nil {
		o.spills = &spills{folders: t.host.folders, log: t.host.log,
			size: max(spillFileSize, 4*int64(t.origin.screen.ScrollbackBytes))}
	}
	if err := t.ch.Spill(o.spills.save); err != nil {
		return err
	}
	return t.term.Screen().SpillHistory(o.spills.save)
}

// flushSmall appends the output that was collected. It is called before anything is appended that
// has its place in the output.
func (o *output) flushSmall() {
	if len(o.small) > 0 {
		o.content.data(o.t.channel(), o.small)
		o.small = o.small[:0]
	}
}
