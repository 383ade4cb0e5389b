package store

// log is a bounded run of entries. An entry has a position: one more than that
// of the entry before it in the same channel.
type log struct {
	entries []*Entry
	base    int64  // the position of entries[0]
	dropped uint64 // the serverSeq of the newest entry no longer here; at first, of the channel's birth
	bytes   int    // what the entries weigh
	encoded int    // what their encodings take
	total   int64  // what all entries there ever were weighed

	// Only entries at positions [encodedFrom, end) may have encodings.
	encodedFrom int64
}

// encodedShare is the part of a full log that encodings may take, as a divisor.
// They can be made again; an entry that is gone costs its readers a
// resynchronisation. So three quarters of the bound are for entries alone.
const encodedShare = 4

func (l *log) end() int64 { return l.base + int64(len(l.entries)) }

func (l *log) at(pos int64) *Entry { return l.entries[pos-l.base] }

// append adds an entry; see trim.
func (l *log) append(e *Entry, limit int, lost func(pos int64, e *Entry)) {
	e.weight = e.weigh()
	e.before = l.total
	l.total += int64(e.weight)
	l.bytes += e.weight
	l.entries = append(l.entries, e)
	l.trim(limit, lost)
}

// trim keeps the log within its bound, but for its newest entry. It calls lost for
// the entries that it drops.
func (l *log) trim(limit int, lost func(pos int64, e *Entry)) {
	if l.bytes+l.encoded <= limit {
		return
	}
	for l.encoded > limit/encodedShare && l.encodedFrom < l.end() {
		l.dropEncoded(l.encodedFrom + 1)
	}
	n := 0
	for n < len(l.entries)-1 && l.bytes+l.encoded > limit {
		l.forget(l.entries[n])
		lost(l.base+int64(n), l.entries[n])
		n++
	}
	l.drop(n)
}

// dropAll makes the log empty.
func (l *log) dropAll() {
	for _, e := range l.entries {
		l.forget(e)
	}
	l.drop(len(l.entries))
}

// forget takes an entry that is to be dropped out of the accounts.
func (l *log) forget(e *Entry) {
	l.bytes -= e.weight
	l.encoded -= e.counted
	e.counted = 0
}

func (l *log) drop(n int) {
	if n == 0 {
		return
	}
	l.dropped = l.entries[n-1].seq
	clear(l.entries[:n])
	l.entries = l.entries[n:]
	l.base += int64(n)
	l.encodedFrom = max(l.encodedFrom, l.base)
}

// behind returns what the entries from pos on weigh; those that are gone do not
// count.
func (l *log) behind(pos int64) int64 {
	pos = max(pos, l.base)
	if pos >= l.end() {
		return 0
	}
	return l.total - l.at(pos).before
}

// share has the encoding of the entry at pos, which its reader is about to
// make, kept for others.
func (l *log) share(pos int64) {
	if e := l.at(pos); e.counted == 0 && pos >= l.encodedFrom {
		e.counted = e.roughEncodedSize()
		l.encoded += e.counted
		e.shared.Store(true)
	}
}

// recount puts what the encodings in [from, to) really take in the place of
// what was expected.
func (l *log) recount(from, to int64) {
	for pos := max(from, l.encodedFrom); pos < to; pos++ {
		e := l.at(pos)
		if e.counted == 0 {
			continue
		}
		if n := e.keptBytes(); n > 0 {
			l.encoded += n - e.counted
			e.counted = n
		}
	}
}

// dropEncoded drops the encodings of entries before pos.
func (l *log) dropEncoded(pos int64) {
	for ; l.encodedFrom < pos; l.encodedFrom++ {
		if e := l.at(l.encodedFrom); e.counted > 0 {
			l.encoded -= e.counted
			e.counted = 0
			e.dropEncoded()
		}
	}
}
