package store

import (
	"slices"

	"termhost/ahp"
)

// relog returns a restored log with the serverSeqs that its entries had, and cut as they were. What
// the trail does not have is left out at the beginning; what follows it, which nobody has seen,
// keeps its new serverSeqs. last is the last one that the trail has. relog returns false if the
// trail does not fit the log.
func (t *Trail) relog(old *log, uri string, limit int) (now log, last uint64, ok bool) {
	marks := t.marks()
	r := relogger{entries: contiguous(old), end: old.position}
	if len(marks) == 0 || len(r.entries) == 0 || marks[len(marks)-1].end > old.position {
		return log{}, 0, false
	}
	last = marks[len(marks)-1].seq
	first := 0 // the last mark before which nothing is needed
	for first < len(marks)-1 && marks[first].end < r.entries[0].position {
		first++
	}
	if marks[first].end < r.entries[0].position {
		return log{}, 0, false
	}
	now = log{position: marks[first].end, dropped: marks[first].seq}
	add := func(e *Entry) { now.append(e, limit, func(int64, *Entry) {}) }
	for _, m := range marks[first+1:] {
		if m.end == now.position {
			continue
		}
		e := r.take(now.position, m.end)
		if e == nil || sumOf(e) != m.sum {
			return log{}, 0, false
		}
		e.seq, e.channel = m.seq, uri
		add(e)
	}
	for now.position < old.position {
		e := r.take(now.position, r.until(now.position))
		if e == nil {
			return log{}, 0, false
		}
		add(e)
	}
	return now, last, true
}

// contiguous returns the entries at the log's end between which no position is missing.
func contiguous(l *log) []*Entry {
	next, from := l.position, len(l.entries)
	for from > 0 {
		e := l.entries[from-1]
		if e.position+e.places() != next {
			break
		}
		next = e.position
		from--
	}
	return l.entries[from:]
}

// relogger cuts entries anew.
type relogger struct {
	entries []*Entry // those that are left, the first of which may be needed in part
	end     int64
}

// until returns the position behind the entry at pos.
func (r *relogger) until(pos int64) int64 {
	for _, e := range r.entries {
		if end := e.position + e.places(); end > pos {
			return end
		}
	}
	return r.end
}

// take returns an entry of its own for the positions from pos to end; nil: they are not those of
// one action.
func (r *relogger) take(pos, end int64) *Entry {
	for len(r.entries) > 0 && r.entries[0].position+r.entries[0].places() <= pos {
		r.entries = r.entries[1:]
	}
	if len(r.entries) == 0 {
		return nil
	}
	e := r.entries[0]
	if _, ok := e.action.(ahp.TerminalData); !ok {
		if e.position != pos || end != pos+e.places() {
			return nil
		}
		return &Entry{seq: e.seq, channel: e.channel, action: e.action, origin: e.origin,
			owner: e.owner, audience: e.audience}
	}
	var data []byte
	for _, part := range r.entries {
		if part.position >= end {
			break
		}
		d, ok := part.action.(ahp.TerminalData)
		if !ok {
			return nil
		}
		p := d.Data[max(pos-part.position, 0):min(end-part.position, int64(len(d.Data)))]
		if data == nil {
			data = slices.Clip(p)
		} else {
			data = append(data, p...)
		}
	}
	if int64(len(data)) != end-pos {
		return nil
	}
	return &Entry{seq: e.seq, channel: e.channel, action: ahp.TerminalData{Data: slices.Clip(data)},
		owner: e.owner, audience: e.audience}
}
