package share

import (
	"fmt"
	"slices"
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
// dropped from its oldest end, and watchers are told. What changes the terminal's
// state, and is no output, comes to the host all the same, as what is left of it:
// see skip. All methods may be called concurrently.
type journal struct {
	wake chan struct{} // 1 deep: there may be something to send

	mu     sync.Mutex // a leaf
	pieces []*piece   // the first of them are on their way
	flying int        // how many
	fly    int        // what they count, in bytes
	bytes  int        // of all
	lost   int        // bytes of output dropped in front of the pieces to be sent
	skip   []*piece   // what is left of the state that was dropped with it
	doubt  []*piece   // dropped ones that may have arrived, all of them before skip
	redraw bool       // watchers do not have the screen: it is due behind the last piece

	begun *ahp.TerminalCommandExecuted // what runs as far as the host has acknowledged; nil: nothing
}

// piece is one action of the journal.
type piece struct {
	action ahp.Action
	size   int
	tried  bool  // it was, or is being, sent: it changes no more
	seq    int64 // the clientSeq it was sent with; 0: not known
	lost   int   // how much output it says is missing, in bytes; 0: it is no such mark
}

// output returns how much output it is, or stands for, in bytes.
func (p *piece) output() int {
	if p.lost > 0 {
		return p.lost
	}
	out, _ := p.action.(ahp.TerminalOutput)
	return len(out.Data)
}

// has reports whether a host that has taken everything up to a clientSeq has the
// piece.
func (p *piece) has(accepted int64) bool { return p.seq != 0 && p.seq <= accepted }

// forget says that the piece has not arrived. It is sent with another clientSeq,
// higher than those that come before it.
func (p *piece) forget() { p.tried, p.seq = false, 0 }

// skipped returns what remains of state that was dropped, in order, once p is
// dropped behind it: the newest size, the end of a command that the host may have,
// and the beginning of the one that runs.
func skipped(state []*piece, p *piece) []*piece {
	same := func(*piece) bool { return false }
	switch a := p.action.(type) {
	case ahp.TerminalOutput:
		return state
	case ahp.TerminalResized:
		same = func(q *piece) bool { _, ok := q.action.(ahp.TerminalResized); return ok }
	case ahp.TerminalCommandFinished:
		same = func(q *piece) bool {
			begun, ok := q.action.(ahp.TerminalCommandExecuted)
			return ok && begun.CommandID == a.CommandID
		}
		if slices.ContainsFunc(state, same) { // nobody knows of it
			return slices.DeleteFunc(state, same)
		}
	}
	return append(slices.DeleteFunc(state, same), p)
}

// skippedAll is skipped for more than one.
func skippedAll(state, dropped []*piece) []*piece {
	for _, p := range dropped {
		state = skipped(state, p)
	}
	return state
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
	n := 0
	if begun, ok := a.(ahp.TerminalCommandExecuted); ok {
		n = len(begun.CommandLine)
	}
	j.appendLocked(a, n)
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
		j.dropLocked(j.flying)
		j.lost += p.output()
		j.redraw = true
		if p.tried {
			j.doubt = append(j.doubt, p)
		} else {
			j.skip = skipped(j.skip, p)
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
	if j.fly >= windowBytes {
		return nil, false
	}
	if j.fillLocked(); len(j.pieces) == j.flying {
		return nil, j.redraw
	}
	p = j.pieces[j.flying]
	p.tried = true
	j.flying++
	j.fly += p.size
	return p, false
}

// fillLocked puts what stands for what was dropped behind what is on its way.
func (j *journal) fillLocked() {
	if j.lost > 0 {
		mark := &piece{action: ahp.TerminalOutput{Data: []byte(gapMark(j.lost))}, size: actionBytes, lost: j.lost}
		j.skip = slices.Insert(j.skip, 0, mark)
	}
	for _, p := range j.skip {
		j.bytes += p.size
	}
	j.pieces = slices.Insert(j.pieces, j.flying, j.skip...)
	j.skip, j.lost = nil, 0
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

// due reports whether watchers do not have the screen.
func (j *journal) due() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.redraw
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
			j.arrivedLocked(p)
			j.notify()
			return
		}
	}
}

// dropLocked takes out a piece.
func (j *journal) dropLocked(i int) {
	p := j.pieces[i]
	j.pieces = slices.Delete(j.pieces, i, i+1)
	j.bytes -= p.size
	if i < j.flying {
		j.flying--
		j.fly -= p.size
	}
}

// arrivedLocked notes what the host has by a piece.
func (j *journal) arrivedLocked(p *piece) {
	switch a := p.action.(type) {
	case ahp.TerminalCommandExecuted:
		j.begun = &a
	case ahp.TerminalCommandFinished:
		j.begun = nil
	}
}

// cut says that the connection was lost: nothing is on its way any more, and what
// was may have arrived.
func (j *journal) cut() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.cutLocked()
}

// cutLocked leaves nothing on its way. What was dropped was dropped behind that.
func (j *journal) cutLocked() {
	if j.flying > 0 {
		j.fillLocked()
		j.flying, j.fly = 0, 0
	}
}

// resume says up to which clientSeq the host has got everything: that is not sent
// again.
func (j *journal) resume(accepted int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.cutLocked()
	var skip []*piece
	for _, p := range j.doubt {
		if p.has(accepted) {
			j.arrivedLocked(p)
			j.lost -= p.output()
		} else {
			p.forget()
			skip = skipped(skip, p)
		}
	}
	for len(j.pieces) > 0 && j.pieces[0].has(accepted) {
		j.arrivedLocked(j.pieces[0])
		j.dropLocked(0)
	}
	for _, p := range j.pieces {
		p.forget()
	}
	j.skip = skippedAll(skip, j.skip)
	j.doubt = nil
	j.notify()
}

// anew says that the host has nothing of what was shared: a new terminal begins
// with the command that ran at the old one and what the journal still holds, and
// then the screen.
func (j *journal) anew() {
	j.resume(0)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.redraw = true
	if j.begun == nil {
		return
	}
	begun := &piece{action: *j.begun, size: actionBytes + len(j.begun.CommandLine)}
	j.skip = skippedAll([]*piece{begun}, j.skip)
	j.begun = nil
}

// empty reports whether the host has acknowledged everything.
func (j *journal) empty() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.pieces) == 0
}
