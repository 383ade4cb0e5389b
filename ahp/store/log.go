package store

import (
	"cmp"
	"slices"
)

// log is the newest entries of a channel, bounded in bytes.
//
// An entry has an index, which is how many entries of the channel came before it. Indexes are for
// cursors, and change with each process. Positions do not: see [Entry.Position].
type log struct {
	entries  []*Entry
	base     int64 // the index of entries[0]
	position int64 // of the next entry

	// dropped is the serverSeq of the newest entry that was dropped, or at first that
	// at which the channel was added.
	dropped uint64

	bytes   int   // weight of the entries
	encoded int   // bytes of their encodings
	total   int64 // weight of all entries there ever were

	// Only entries at indexes [encodedFrom, end) may have encodings.
	encodedFrom int64
}

// encodedShare: encodings may take 1/encodedShare of a log's bound. An encoding can be made again,
// while a lost entry costs its readers a resynchronisation.
const encodedShare = 4

func (l *log) end() int64 { return l.base + int64(len(l.entries)) }

func (l *log) at(index int64) *Entry { return l.entries[index-l.base] }

// after returns the entries with a serverSeq above seq.
func (l *log) after(seq uint64) []*Entry {
	first, _ := slices.BinarySearchFunc(l.entries, seq+1,
		func(e *Entry, seq uint64) int { return cmp.Compare(e.seq, seq) })
	return l.entries[first:]
}

// append adds an entry and trims the log.
func (l *log) append(e *Entry, limit int, lost func(index int64, e *Entry)) {
	e.position = l.position
	l.position += e.places()
	e.weight = e.weigh()
	e.before = l.total
	l.total += int64(e.weight)
	l.bytes += e.weight
	l.entries = append(l.entries, e)
	l.trim(limit, lost)
}

// trim drops encodings and then entries until the log is within its bound, or only the
// newest entry is left. It calls lost for the entries that it drops.
func (l *log) trim(limit int, lost func(index int64, e *Entry)) {
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

// forget subtracts an entry that is about to be dropped from the sums.
func (l *log) forget(e *Entry) {
	l.bytes -= e.weight
	l.encoded -= e.counted
	e.counted = 0
}

// drop drops the n oldest entries, which have been forgotten.
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

// behind returns the weight of the entries from an index on, without dropped ones.
func (l *log) behind(index int64) int64 {
	index = max(index, l.base)
	if index >= l.end() {
		return 0
	}
	return l.total - l.at(index).before
}

// share has an entry keep the encoding that a reader is about to make, for other readers.
func (l *log) share(index int64) {
	if e := l.at(index); e.counted == 0 && index >= l.encodedFrom {
		e.counted = e.roughEncodedSize()
		l.encoded += e.counted
		e.shared.Store(true)
	}
}

// recount replaces the expected sizes of the encodings at indexes [from, to) by the real ones.
func (l *log) recount(from, to int64) {
	for i := max(from, l.encodedFrom); i < to; i++ {
		e := l.at(i)
		if e.counted == 0 {
			continue
		}
		if n := e.keptBytes(); n > 0 {
			l.encoded += n - e.counted
			e.counted = n
		}
	}
}

// dropEncoded drops the encodings of the entries before an index.
func (l *log) dropEncoded(index int64) {
	for ; l.encodedFrom < index; l.encodedFrom++ {
		if e := l.at(l.encodedFrom); e.counted > 0 {
			l.encoded -= e.counted
			e.counted = 0
			e.dropEncoded()
		}
	}
}
