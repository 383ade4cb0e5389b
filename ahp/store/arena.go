package store

import "bytes"

// arena copies output into chunks of memory. A chunk is filled from the front and no byte is
// written twice, so readers of the filled part need no lock.
type arena struct {
	chunk []byte
	next  int // the size of the last chunk, in bytes
}

const (
	// firstChunk is the size of a terminal's first chunk, in bytes: enough for what an
	// idle shell prints.
	firstChunk = 1 << 10
	// maxChunk is the largest size of a chunk, in bytes: the most that one read of a pty returns.
	maxChunk = 64 << 10
	// chunksPerContent is how many chunks make up a full content. It is trimmed by about
	// one chunk at a time, and so stays close to its bound.
	chunksPerContent = 16
)

// chunkBytes returns the size that chunks grow to, in bytes.
func (s *Store) chunkBytes() int {
	return min(max(s.contentBytes/chunksPerContent, firstChunk), maxChunk)
}

// copy returns a copy of p that is never written again. Nothing may be appended to it: its capacity
// extends into other memory. limit is the size that chunks grow to.
func (a *arena) copy(p []byte, limit int) []byte {
	if cap(a.chunk)-len(a.chunk) < len(p) {
		if len(p) > limit/4 { // a new chunk for it would waste too much of the old one
			return bytes.Clone(p)
		}
		a.next = min(max(a.next*2, firstChunk, len(p)), limit)
		a.chunk = make([]byte, 0, a.next)
	}
	n := len(a.chunk)
	a.chunk = append(a.chunk, p...)
	return a.chunk[n:]
}
