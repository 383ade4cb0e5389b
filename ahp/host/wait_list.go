package host

import (
	"bytes"
	"time"
)

// join has p answered from now on. The Term's lock is held.
func (w *waiting) join(p *PendingWait) error {
	t := w.t
	c := p.a.conn
	if p.Match != nil {
		if err := c.host.lookers.begin(c.principal); err != nil {
			return err
		}
	}
	if w.waitlist == nil {
		w.waitlist = &waitlist{t: t, waits: map[*PendingWait]struct{}{},
			lookers: map[lookerKey]*looker{}}
	}
	l := w.waitlist
	l.mu.Lock()
	defer l.mu.Unlock()
	p.list, p.joined = l, l.come
	l.waits[p] = struct{}{}
	if p.Match != nil {
		l.lookFor(p)
	}
	if t.life.exited {
		l.exitedLocked(t.life.exit.Load().Code)
	}
	return nil
}

// lookFor has a looker look for p's line, for the first time or for one more.
func (l *waitlist) lookFor(p *PendingWait) {
	c := p.a.conn
	key := lookerKey{c.principal.Account(), c.pace}
	k := l.lookers[key]
	if k == nil {
		k = newLooker(l, key, c)
		l.lookers[key] = k
		c.host.lookers.running.Go(k.run)
	}
	k.addLocked(p)
}

// leave ends the part of p. The Term's lock is not held.
func (l *waitlist) leave(p *PendingWait) {
	t := l.t
	t.term.Lock()
	defer t.term.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.waits, p)
	if p.Match != nil {
		p.looker.removeLocked(p)
		t.host.lookers.end(p.a.conn.principal)
	}
	if len(l.waits) == 0 {
		t.waiting.waitlist = nil
	}
}

// output comes with what the terminal shows. The Term's lock is held, and p is not kept.
func (l *waitlist) output(p []byte) {
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
	for p := range l.waits {
		if p.Output {
			p.endLocked(ended{how: Waited{Reason: WaitOutput}})
		}
	}
}

// finished comes when a command has ended. The Term's lock is held.
func (l *waitlist) finished(code *int) {
	how := Waited{Reason: WaitCommand, ExitCode: code}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.come++
	l.at = time.Now()
	for p := range l.waits {
		if p.Command && p.Match == nil {
			p.endLocked(ended{how: how})
		}
	}
	for _, k := range l.lookers {
		k.putLocked(outputPiece{event: &how, end: l.come})
	}
}

// exited comes last, when the terminal has. The Term's lock is held.
func (l *waitlist) exited(code int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.exitedLocked(code)
}

func (l *waitlist) exitedLocked(code int) {
	how := Waited{Reason: WaitExit, ExitCode: &code}
	l.come++
	for p := range l.waits {
		if p.Match == nil {
			p.endLocked(ended{how: how})
		}
	}
	for _, k := range l.lookers {
		k.putLocked(outputPiece{event: &how, end: l.come})
	}
}

// quiet returns since when there was no output; zero: since before the list was.
func (l *waitlist) quiet() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.at
}
