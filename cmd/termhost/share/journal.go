package share

import (
	"fmt"
	"sync"
	"unicode/utf8"

	"termhost/ahp"
)

const (
	// journalBytes is how much of what is shared is kept for a host that has not
	// acknowledged it: what is sent again after a lost connection.
	journalBytes = 1 << 20
	// windowBytes is how much may be on its way: a second's worth over a slow
	// line, so that most of the journal can still be dropped.
	windowBytes = 512 << 10
	// pieceBytes is how much output goes into one action; escaped, it fits into
	// any frame.
	pieceBytes = 32 << 10
	// actionBytes is what any action counts besides its output.
	actionBytes = 128
)

// journal is what is to be sent to the host and what was sent and is not
// acknowledged, in order. It never makes the shell wait: what does not fit is
// dropped from its oldest end, and watchers are told. All methods may be called
// concurrently.
type journal struct {
	wake chan struct{} // 1 deep: there may be something to send

	mu     sync.Mutex // a leaf
	pieces []*piece   // the first of them are on their way
	flying int        // how many
	fly    int        // what they count, in bytes
	bytes  int        // of all
	lost   int        // bytes of output dropped in front of the pieces to be sent
	doubt  []*piece   // dropped ones that may have arrived
	redraw bool       // watchers do not have the screen: it is due behind the last piece
}

// piece is one action of the journal.
type piece struct {
	action ahp.Action
	size   int
	tried  bool  // it was, or is being, sent: it changes no more
	seq    int64 // the clientSeq it was sent with; 0: not known
}

func newJournal() *journal { return &journal{wake: make(chan struct{}, 1)} }

// output appends what the terminal printed. p is not kept.
func (j *journal) output(p []byte) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for len(p) > 0 {
		n := wholeRunes(p, pieceBytes)
		if last := j.lastLocked(); last != nil {
			if out := last.action.(ahp.TerminalOutput); len(out.Data)+n <= pieceBytes {
				last.action = ahp.TerminalOutput{Data: append(out.Data, p[:n]...)}
				last.size += n
				j.bytes += n
				p = p[n:]
				continue
			}
		}
		j.appendLocked(ahp.TerminalOutput{Data: append([]byte(nil), p[:n]...)}, n)
		p = p[n:]
	}
	j.boundLocked()
	j.notify()
}

// wholeRunes returns how much of p, at most limit bytes, ends where a rune does: an
// action is text, in which half a rune is none.
func wholeRunes(p []byte, limit int) int {
	if len(p) <= limit {
		return len(p)
	}
	for n := limit; n > limit-utf8.UTFMax; n-- {
		if utf8.RuneStart(p[n]) {
			return n
		}
	}
	return limit // no text anyway
}

// lastLocked returns the last piece if output can still be added to it.
func (j *journal) lastLocked() *piece {
	if len(j.pieces) == j.flying {
		return nil
	}
	last := j.pieces[len(j.pieces)-1]
	if _, ok := last.action.(ahp.TerminalOutput); !ok || last.tried {
		return nil
	}
	return last
}

// add appends an action that is not output.
func (j *journal) add(a ahp.Action) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.appendLocked(a, 0)
	j.boundLocked()
	j.notify()
}

func (j *journal) appendLocked(a ahp.Action, n int) {
	p := &piece{action: a, size: actionBytes + n}
	j.pieces = append(j.pieces, p)
	j.bytes += p.size
}

// boundLocked drops the oldest of what is not on its way, but not the newest.
func (j *journal) boundLocked() {
	for j.bytes > journalBytes && len(j.pieces) > j.flying+1 {
		p := j.pieces[j.flying]
		j.pieces = append(j.pieces[:j.flying], j.pieces[j.flying+1:]...)
		j.bytes -= p.size
		j.lost += p.size - actionBytes
		j.redraw = true
		if p.tried {
			j.doubt = append(j.doubt, p)
		}
	}
}

func (j *journal) notify() {
	select {
	case j.wake <- struct{}{}:
	default:
	}
}

// next returns what is to be sent now, which then is on its way; nil: nothing, or
// too much is on its way already. drained says that nothing is left to be sent
// and that the screen is due.
func (j *journal) next() (p *piece, drained bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.fly >= windowBytes:
		return nil, false
	case j.lost > 0:
		p = &piece{action: ahp.TerminalOutput{Data: []byte(gapMark(j.lost))}, size: actionBytes}
		j.lost = 0
		j.pieces = append(j.pieces[:j.flying], append([]*piece{p}, j.pieces[j.flying:]...)...)
		j.bytes += p.size
	case len(j.pieces) == j.flying:
		return nil, j.redraw
	default:
		p = j.pieces[j.flying]
	}
	p.tried = true
	j.flying++
	j.fly += p.size
	return p, false
}

// sent says with which clientSeq a piece was sent.
func (j *journal) sent(p *piece, seq int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	p.seq = seq
}

// gapMark is what watchers see where output is missing.
func gapMark(n int) string {
	return fmt.Sprintf("\x1b[0m\r\n[termhost: %s of output are missing here]\r\n", roundBytes(n))
}

// roundBytes writes a size for people.
func roundBytes(n int) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}

// drawn says that the screen has been appended.
func (j *journal) drawn() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.redraw = false
}

// settled takes out a piece that the host has acknowledged or refused.
func (j *journal) settled(p *piece) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for i, q := range j.pieces[:j.flying] {
		if q == p {
			j.dropLocked(i)
			j.notify()
			return
		}
	}
}

func (j *journal) dropLocked(i int) {
	p := j.pieces[i]
	j.pieces = append(j.pieces[:i], j.pieces[i+1:]...)
	j.bytes -= p.size
	if i < j.flying {
		j.flying--
		j.fly -= p.size
	}
}

// cut says that the connection was lost: nothing is on its way any more, and what
// was may have arrived.
func (j *journal) cut() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.flying, j.fly = 0, 0
}

// resume says up to which clientSeq the host has got everything: that is not sent
// again.
func (j *journal) resume(accepted int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.flying, j.fly = 0, 0
	for len(j.pieces) > 0 && j.pieces[0].seq != 0 && j.pieces[0].seq <= accepted {
		j.dropLocked(0)
	}
	for _, p := range j.pieces {
		p.seq = 0 // it is sent with another one, higher than those to come before it
	}
	for _, p := range j.doubt {
		if p.seq != 0 && p.seq <= accepted {
			j.lost -= p.size - actionBytes
		}
	}
	j.doubt = nil
	j.notify()
}

// anew says that the host has nothing of what was shared: a new terminal begins
// with what the journal still holds, and then the screen.
func (j *journal) anew() {
	j.resume(0)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.redraw = true
}

// empty reports whether the host has acknowledged everything.
func (j *journal) empty() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.pieces) == 0
}
