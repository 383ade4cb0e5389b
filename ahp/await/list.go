package await

import (
	"bytes"
	"time"
)

// NewList returns the list of a terminal on which nobody waits yet.
func NewList(t Terminal, all *Lookers) *List {
	return &List{t: t, all: all, waits: map[*Wait]struct{}{}, lookers: map[lookerKey]*looker{}}
}

// Join begins a wait: what comes from now on counts. It returns a [*admit.QuotaError] if the peer's
// account waits for too many lines already. The wait must be left.
func (l *List) Join(f For, p Peer) (*Wait, error) {
	w := &Wait{is: f, by: p.Principal, list: l, result: make(chan Result, 1)}
	var shown [][]byte
	if f.Match != nil {
		if err := l.all.begin(p.Principal); err != nil {
			return nil, err
		}
		shown = l.t.Retained()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	w.joined = l.come
	l.waits[w] = struct{}{}
	if f.Match != nil {
		if !f.Fresh {
			w.retained = shown
		}
		l.lookFor(w, p, shown)
	}
	return w, nil
}

// lookFor has a looker look for w's line, for the first time or for one more. shown is the output
// that is retained.
func (l *List) lookFor(w *Wait, p Peer, shown [][]byte) {
	key := lookerKey{p.Principal.Account(), p.Budget}
	k := l.lookers[key]
	if k == nil {
		k = newLooker(l, key, p, shown)
		l.lookers[key] = k
		l.all.running.Go(k.run)
	}
	k.addLocked(w)
}

// Leave ends the part of w, and reports whether its list has no other wait.
func (w *Wait) Leave() (last bool) {
	l := w.list
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.waits, w)
	if w.is.Match != nil {
		w.looker.removeLocked(w)
		l.all.end(w.by)
	}
	return len(l.waits) == 0
}

// Result has the result once the wait has ended. It needs no lock.
func (w *Wait) Result() <-chan Result { return w.result }

// Behind returns a channel that is closed when more output has been looked at; nil: all has been.
// It needs no lock.
func (w *Wait) Behind() <-chan struct{} {
	k := w.looker
	if k == nil {
		return nil
	}
	l := w.list
	l.mu.Lock()
	defer l.mu.Unlock()
	if k.over || w.over || k.seen == l.come && w.retained == nil {
		return nil
	}
	if k.moved == nil {
		k.moved = make(chan struct{})
	}
	return k.moved
}

// LastOutput returns when the last output came, or the last command ended, since somebody waits on
// the terminal; zero: none has. It needs no lock.
func (w *Wait) LastOutput() time.Time {
	l := w.list
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.at
}

// endLocked ends the wait, unless it has ended.
func (w *Wait) endLocked(r Result) {
	if !w.over {
		w.over = true
		w.result <- r
	}
}

// Output comes with what the terminal shows. p is not kept.
func (l *List) Output(p []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.come += int64(len(p))
	l.at = time.Now()
	if len(l.lookers) > 0 {
		p = bytes.Clone(p)
	}
	for _, k := range l.lookers {
		k.putLocked(outputPiece{data: p, end: l.come})
	}
	for w := range l.waits {
		if w.is.Output {
			w.endLocked(Result{Ended: Ended{Reason: Output}})
		}
	}
}

// Finished comes when a command has ended. code is its exit code; nil: it is not known.
func (l *List) Finished(code *int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at = time.Now()
	l.endsLocked(Ended{Reason: Command, ExitCode: code})
}

// Exited comes last, when the terminal has exited with code, and for a wait that begins later.
func (l *List) Exited(code int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.endsLocked(Ended{Reason: Exit, ExitCode: &code})
}

// endsLocked ends the waits for an event, those for lines when all that came before it has been
// looked at.
func (l *List) endsLocked(how Ended) {
	l.come++
	for w := range l.waits {
		if w.is.Match == nil && w.endsBy(&how) {
			w.endLocked(Result{Ended: how})
		}
	}
	for _, k := range l.lookers {
		k.putLocked(outputPiece{event: &how, end: l.come})
	}
}

// endsBy reports whether w is for an event.
func (w *Wait) endsBy(how *Ended) bool { return w.is.Command || how.Reason == Exit }
