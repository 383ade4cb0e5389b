package store

import "bytes"

// arena hands out memory for output: chunks that are filled from the front and
// never written twice, so that readers of the front need no lock.
type arena struct {
	chunk []byte
	next  int // the size of the next chunk
}

const (
	// firstChunk is the size of a terminal's first chunk in bytes: what an idle
	// shell prints fits.
	firstChunk = 1 << 10
	// maxChunk is the most that chunks grow to, in bytes: what one read of a
	// pty gives at most.
	maxChunk = 64 << 10
	// chunksPerContent says how many chunks make up a full content, so that
	// trimming it stays within some percent of its bound.
	chunksPerContent = 16
)

// chunkBytes is the size chunks grow to.
func (s *Store) chunkBytes() int {
	return min(max(s.contentBytes/chunksPerContent, firstChunk), maxChunk)
}

// copy returns a copy of p that is never written again. Its capacity reaches
// into memory that is not the caller's: nothing may be appended to it. limit is
// the size that chunks grow to.
func (a *arena) copy(p []byte, limit int) []byte {
	if cap(a.chunk)-len(a.chunk) < len(p) {
		if len(p) > limit/4 { // it would waste too much of a chunk
			return bytes.Clone(p)
		}
		a.next = min(max(a.next*2, firstChunk, len(p)), limit)
		a.chunk = make([]byte, 0, a.next)
	}
	n := len(a.chunk)
	a.chunk = append(a.chunk, p...)
	return a.chunk[n:]
}
