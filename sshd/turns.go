package sshd

import (
	"slices"
	"sync"

	"termhost/authz/admit"
)

// turns has strangers wait for one another before the host computes for them: a key exchange is the
// dearest that somebody unknown may ask for. Sources take turns, so that many who come from one
// place wait for themselves. How many wait is bounded by the gate. Its methods may be called
// concurrently.
type turns struct {
	mu    sync.Mutex // nothing is locked under it
	free  int        // how many more may have a turn at once
	queue []admit.Source
	lines map[admit.Source][]chan struct{} // who waits, by the sources in queue
}

func newTurns(n int) *turns {
	return &turns{free: n, lines: map[admit.Source][]chan struct{}{}}
}

// take waits for a turn, which must be given back, and returns true; false: stop was closed first.
func (t *turns) take(source admit.Source, stop <-chan struct{}) bool {
	t.mu.Lock()
	if t.free > 0 {
		t.free--
		t.mu.Unlock()
		return true
	}
	if len(t.lines[source]) == 0 {
		t.queue = append(t.queue, source)
	}
	mine := make(chan struct{})
	t.lines[source] = append(t.lines[source], mine)
	t.mu.Unlock()
	select {
	case <-mine:
		return true
	case <-stop:
	}
	t.mu.Lock()
	gone := t.removeLocked(source, mine)
	t.mu.Unlock()
	if !gone { // it has come in the same moment
		t.giveBack()
	}
	return false
}

// removeLocked takes somebody out of the line of a source, and reports whether it was there.
func (t *turns) removeLocked(source admit.Source, mine chan struct{}) bool {
	line := t.lines[source]
	i := slices.Index(line, mine)
	if i < 0 {
		return false
	}
	if line = slices.Delete(line, i, i+1); len(line) > 0 {
		t.lines[source] = line
		return true
	}
	delete(t.lines, source)
	i = slices.Index(t.queue, source)
	t.queue = slices.Delete(t.queue, i, i+1)
	return true
}

// giveBack ends a turn. The next one is that of the source that has waited longest for one.
func (t *turns) giveBack() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.queue) == 0 {
		t.free++
		return
	}
	source := t.queue[0]
	t.queue = t.queue[1:]
	line := t.lines[source]
	close(line[0])
	if line = line[1:]; len(line) > 0 {
		t.lines[source] = line
		t.queue = append(t.queue, source)
	} else {
		delete(t.lines, source)
	}
}
