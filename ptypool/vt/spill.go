package vt

import (
	"encoding/binary"
	"io"
)

// spilledBlock is the place of a block of scrollback that is not in memory: its bytes, followed by
// the ends of its lines, four bytes each.
type spilledBlock struct {
	from  io.ReaderAt
	at    int64
	size  int // of buf
	lines int
	ended int // how many of the lines do not continue in the next one
}

const endBytes = 4 // of an end in a spilled block

// SpillHistory moves scrollback out of memory. save stores p, which is valid only during the call,
// and returns a reader and the offset from which p can be read as long as the reader is referenced.
// The Screen reads it back when it is needed. If save fails, SpillHistory returns its error, and
// the rest stays in memory.
func (s *Screen) SpillHistory(save func(p []byte) (from io.ReaderAt, at int64, err error)) error {
	return s.model.history.spill(save)
}

// HistoryMemory returns how much memory the scrollback takes, in bytes.
func (s *Screen) HistoryMemory() int {
	n := 0
	for i := range s.model.history.blocks {
		b := &s.model.history.blocks[i]
		n += cap(b.buf) + endBytes*cap(b.ends)
	}
	return n
}

// spill spills all blocks except the newest one, to which lines may be added.
func (h *history) spill(save func(p []byte) (from io.ReaderAt, at int64, err error)) error {
	h.spare = block{}
	var scratch []byte
	for i := range max(len(h.blocks)-1, 0) {
		b := &h.blocks[i]
		if b.spilled != nil {
			continue
		}
		scratch = append(scratch[:0], b.buf...)
		for _, end := range b.ends {
			scratch = binary.LittleEndian.AppendUint32(scratch, end)
		}
		from, at, err := save(scratch)
		if err != nil {
			return err
		}
		*b = block{spilled: &spilledBlock{from, at, len(b.buf), len(b.ends), b.ended(0)}}
	}
	return nil
}

// lines returns how many lines the block has.
func (b *block) lines() int {
	if b.spilled != nil {
		return b.spilled.lines
	}
	return len(b.ends)
}

// read returns the block with its lines in memory. Lines that cannot be read are blank.
func (b *block) read() block {
	s := b.spilled
	if s == nil {
		return *b
	}
	buf := make([]byte, s.size+endBytes*s.lines)
	ends := make([]uint32, s.lines)
	if _, err := s.from.ReadAt(buf, s.at); err != nil {
		for i := range ends {
			buf[i], ends[i] = lineEnds, uint32(i+1)
		}
		return block{buf: buf[:s.lines:s.lines], ends: ends}
	}
	for i := range ends {
		ends[i] = binary.LittleEndian.Uint32(buf[s.size+endBytes*i:])
	}
	return block{buf: buf[:s.size:s.size], ends: ends}
}

// block brings the lines of a block back into memory and returns it.
func (h *history) block(i int) *block {
	b := &h.blocks[i]
	if s := b.spilled; s != nil {
		*b = b.read()
		h.bytes += len(b.buf) - s.size // they differ only if it could not be read
	}
	return b
}
