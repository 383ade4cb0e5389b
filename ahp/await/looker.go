package await

import (
	"context"
	"errors"
	"math"
	"runtime/debug"
	"slices"
	"strings"

	"termhost/ahp/history"
)

// looker looks for lines in a terminal's output for the waits of one account, on a goroutine that
// ends with the last of them. It looks at every line when that has ended, and at one that has not
// when nothing more has come.
type looker struct {
	list *List
	key  lookerKey
	ctx  context.Context
	end  context.CancelFunc
	wake chan struct{} // 1 deep: there is something to do

	// Guarded by list.mu.
	queue    []outputPiece
	seen     int64         // of list.come, what has been looked at
	moved    chan struct{} // closed when seen grows; nil: nobody asks
	patterns []*watched
	over     bool // the last wait has left

	// Used by the goroutine only.
	work   Work
	lines  lineText
	unseen bool // more of the line that has not ended came after that was looked at
	block  history.Block
}

// outputPiece is output, or something that has its place in it.
type outputPiece struct {
	data  []byte // shared: it must not be modified
	event *Ended // how a wait for it ends; nil: it is output
	end   int64  // of List.come
}

// watched is a pattern with the waits for it. Its waits are guarded by list.mu.
type watched struct {
	pattern *history.Pattern
	ctx     context.Context // ends when nobody waits for it any more
	end     context.CancelFunc
	waits   []*Wait
}

// pieceCost is what a piece takes besides its data, in bytes.
const pieceCost = 64

func (o *outputPiece) cost() int { return len(o.data) + pieceCost }

// lookPiece is about how much output is looked at before the next pattern's turn, in bytes. Of a
// line of maxLine that has not ended, no part is dropped before it has been looked at.
const lookPiece = maxLine / 2

// newLooker returns a looker for p that begins with what comes behind shown.
func newLooker(l *List, key lookerKey, p Peer, shown [][]byte) *looker {
	k := &looker{list: l, key: key, seen: l.come, wake: make(chan struct{}, 1)}
	k.ctx, k.end = context.WithCancel(context.Background())
	k.work = p.Work(k.ctx)
	for _, piece := range tail(shown) {
		k.lines.add(piece)
	}
	k.lines.next()
	return k
}

// addLocked adds the pattern of p.
func (k *looker) addLocked(p *Wait) {
	expr := p.is.Match.String()
	i := slices.IndexFunc(k.patterns, func(w *watched) bool { return w.pattern.String() == expr })
	if i < 0 {
		w := &watched{pattern: p.is.Match}
		w.ctx, w.end = context.WithCancel(k.ctx)
		i, k.patterns = len(k.patterns), append(k.patterns, w)
	}
	k.patterns[i].waits = append(k.patterns[i].waits, p)
	p.looker = k
	k.wakeUp()
}

// removeLocked removes the pattern of p, unless others wait for it.
func (k *looker) removeLocked(p *Wait) {
	for i, w := range k.patterns {
		if n := slices.Index(w.waits, p); n >= 0 {
			if w.waits = slices.Delete(w.waits, n, n+1); len(w.waits) == 0 {
				w.end()
				k.patterns = slices.Delete(k.patterns, i, i+1)
			}
			break
		}
	}
	if len(k.patterns) == 0 {
		k.stopLocked()
	}
}

// stopLocked ends the looker, which nobody needs any more.
func (k *looker) stopLocked() {
	if k.over {
		return
	}
	k.over = true
	delete(k.list.lookers, k.key)
	k.forgetLocked()
	k.end()
	k.wakeUp()
}

// forgetLocked drops what has not been looked at.
func (k *looker) forgetLocked() {
	for i := range k.queue {
		k.list.all.put(k.key.account, -k.queue[i].cost())
	}
	k.queue = nil
}

func (k *looker) wakeUp() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// putLocked has something looked at. When there is too much already, the waits end with that.
func (k *looker) putLocked(o outputPiece) {
	if k.over {
		return
	}
	if !k.list.all.put(k.key.account, o.cost()) {
		k.failLocked(&BehindError{k.list.t.Name()})
		return
	}
	k.queue = append(k.queue, o)
	k.wakeUp()
}

// failLocked ends all waits.
func (k *looker) failLocked(err error) {
	for _, w := range k.patterns {
		for _, p := range w.waits {
			p.endLocked(Result{Err: err})
		}
	}
	k.stopLocked()
}

var errLooker = errors.New("the host has failed to look for the line; its log says more")

// lookJob is the goroutine's next job: to look at new output, or for one wait at the retained
// output.
type lookJob struct {
	data     [][]byte
	end      int64  // of List.come, behind it
	event    *Ended // comes behind data; nil: none
	last     bool   // a line that has not ended is looked at, too
	patterns []*watched
	retained *Wait // nil: it is output
}

// run is the looker's goroutine.
func (k *looker) run() {
	defer func() {
		if recover() != nil {
			k.list.t.Failed(debug.Stack())
			k.list.mu.Lock()
			defer k.list.mu.Unlock()
			k.failLocked(errLooker)
		}
	}()
	defer k.work.Rest()
	for {
		job, more := k.next()
		if !more {
			return
		}
		if job.retained != nil {
			k.lookAtRetained(job.retained, job.patterns[0])
			continue
		}
		k.look(&job)
	}
}

// next waits for something to do. It returns false when the looker is over.
func (k *looker) next() (job lookJob, more bool) {
	for {
		if job, ready, over := k.take(); ready || over {
			return job, !over
		}
		k.work.Rest()
		<-k.wake
	}
}

// take takes what is to be done out of the queue, as far as there is something.
func (k *looker) take() (job lookJob, ready, over bool) {
	k.list.mu.Lock()
	defer k.list.mu.Unlock()
	if k.over {
		return job, false, true
	}
	for _, w := range k.patterns {
		for _, p := range w.waits {
			if p.retained != nil && !p.over {
				return lookJob{retained: p, patterns: []*watched{w}}, true, false
			}
		}
	}
	if len(k.queue) == 0 {
		return job, false, false
	}
	return k.takeOutputLocked(), true, false
}

// takeOutputLocked takes about lookPiece of the queue, not beyond an event, nor beyond where a wait
// has begun: what is taken counts for a wait entirely, or not at all.
func (k *looker) takeOutputLocked() lookJob {
	job := lookJob{end: k.seen}
	begins := k.beginsLocked()
	n, size, cost := 0, 0, 0
	for n < len(k.queue) && size < lookPiece && job.event == nil && k.queue[n].end <= begins {
		o := &k.queue[n]
		if job.end, job.event = o.end, o.event; o.event == nil {
			job.data = append(job.data, o.data)
		}
		size += len(o.data)
		cost += o.cost()
		*o = outputPiece{}
		n++
	}
	k.list.all.put(k.key.account, -cost)
	if k.queue = k.queue[n:]; len(k.queue) == 0 {
		k.queue = nil
	}
	job.last = k.queue == nil || job.end == begins || job.event != nil
	for _, w := range k.patterns {
		if slices.ContainsFunc(w.waits, func(p *Wait) bool {
			return !p.over && p.joined < job.end
		}) {
			job.patterns = append(job.patterns, w)
		}
	}
	return job
}

// beginsLocked returns where the next wait begins behind what has been looked at.
func (k *looker) beginsLocked() int64 {
	next := int64(math.MaxInt64)
	for _, w := range k.patterns {
		for _, p := range w.waits {
			if p.joined > k.seen {
				next = min(next, p.joined)
			}
		}
	}
	return next
}

// look looks at output.
func (k *looker) look(job *lookJob) {
	for _, p := range job.data {
		if k.step(k.ctx) != nil {
			return
		}
		k.lines.add(p)
	}
	k.unseen = k.unseen || len(job.data) > 0
	rest := k.lines.rest()
	part := k.unseen && len(rest) > 0 && (job.last || len(rest) > lookPiece)
	k.unseen = k.unseen && !part
	for _, text := range [][]byte{k.lines.lines(), rest} {
		k.block.Set(text)
		for _, w := range job.patterns {
			if how, ok := k.find(w, &k.block); ok {
				k.found(w, job.end, how)
			}
		}
		if !part {
			break
		}
	}
	k.lines.next()
	k.looked(job)
}

// step is called before a piece of work that ends with ctx.
func (k *looker) step(ctx context.Context) error {
	k.work.Until(ctx)
	return k.work.Step()
}

// find returns how a wait for a pattern ends that looks at a block.
func (k *looker) find(w *watched, b *history.Block) (how Ended, ok bool) {
	k.work.Until(w.ctx)
	start, line, err := w.pattern.Next(k.work, b, 0)
	if err != nil || start == b.Len() {
		return how, false
	}
	match, err := w.pattern.Match(k.work, line)
	if err != nil {
		return how, false
	}
	return Ended{Reason: Match,
		Line:  strings.ToValidUTF8(string(line[max(0, len(line)-maxLine):]), "\ufffd"),
		Match: strings.ToValidUTF8(string(match), "\ufffd")}, true
}

// found ends the waits for a pattern that began before end.
func (k *looker) found(w *watched, end int64, how Ended) {
	k.list.mu.Lock()
	defer k.list.mu.Unlock()
	for _, p := range w.waits {
		if p.joined < end {
			p.endLocked(Result{Ended: how})
		}
	}
}

// looked notes that a job has been done: what comes behind its output has its turn.
func (k *looker) looked(job *lookJob) {
	k.list.mu.Lock()
	defer k.list.mu.Unlock()
	if job.event != nil {
		for _, w := range k.patterns {
			for _, p := range w.waits {
				if p.joined < job.end && p.endsBy(job.event) {
					p.endLocked(Result{Ended: *job.event})
				}
			}
		}
	}
	k.seen = job.end
	k.moveLocked()
}

// moveLocked tells those who wait for it that more has been looked at.
func (k *looker) moveLocked() {
	if k.moved != nil {
		close(k.moved)
		k.moved = nil
	}
}

// lookAtRetained looks for p's line in what was retained when the wait began.
func (k *looker) lookAtRetained(p *Wait, w *watched) {
	how, found := k.inRetained(p, w)
	k.list.mu.Lock()
	defer k.list.mu.Unlock()
	p.retained = nil
	switch {
	case found:
		p.endLocked(Result{Ended: how})
	case p.is.Last != nil:
		p.endLocked(Result{Ended: *p.is.Last})
	}
	k.moveLocked()
}

func (k *looker) inRetained(p *Wait, w *watched) (how Ended, found bool) {
	var lines lineText
	for i, data := range p.retained {
		if k.step(w.ctx) != nil {
			return how, false
		}
		lines.add(data)
		k.block.Set(lines.lines())
		how, found = k.find(w, &k.block)
		if rest := lines.rest(); !found && (i == len(p.retained)-1 || len(rest) > lookPiece) {
			k.block.Set(rest)
			how, found = k.find(w, &k.block)
		}
		if found {
			return how, true
		}
		lines.next()
	}
	return how, false
}
