package viewer

import (
	"io"
	"sync"
)

// batchBytes is how much output goes into one write: two full packets of SSH.
const batchBytes = 64 << 10

// Buffers are shared by viewers, which borrow one while they have output, so that an idle one holds
// none. The zero value is ready; it may be used concurrently.
type Buffers struct{ pool sync.Pool } // of *[]byte of batchBytes

// batch joins pieces of output into large writes.
type batch struct {
	w    io.Writer
	from *Buffers
	buf  *[]byte // nil: not needed so far
	one  []byte  // the only piece so far, not copied
}

// batch returns a batch that writes to w. It must be released.
func (b *Buffers) batch(w io.Writer) *batch { return &batch{w: w, from: b} }

// add adds a piece, which must not change until flush.
func (b *batch) add(p []byte) error {
	switch {
	case len(p) == 0:
		return nil
	case b.one == nil && b.empty():
		b.one = p
		return nil
	}
	if b.buf == nil {
		b.buf = b.from.borrow()
	}
	if b.one != nil {
		one := b.one
		b.one = nil
		if err := b.join(one); err != nil {
			return err
		}
	}
	return b.join(p)
}

// join copies p behind what is in the buffer, or writes it if it is large.
func (b *batch) join(p []byte) error {
	if len(*b.buf)+len(p) > batchBytes {
		if err := b.flush(); err != nil {
			return err
		}
	}
	if len(p) >= batchBytes {
		_, err := b.w.Write(p)
		return err
	}
	*b.buf = append(*b.buf, p...)
	return nil
}

func (b *batch) empty() bool { return b.buf == nil || len(*b.buf) == 0 }

// flush writes what has been added.
func (b *batch) flush() error {
	p := b.one
	if !b.empty() {
		p = *b.buf
	}
	if len(p) == 0 {
		return nil
	}
	_, err := b.w.Write(p)
	b.reset()
	return err
}

// reset drops what has not been written.
func (b *batch) reset() {
	b.one = nil
	if b.buf != nil {
		*b.buf = (*b.buf)[:0]
	}
}

// release gives the buffer back.
func (b *batch) release() {
	if b.buf != nil {
		b.reset()
		b.from.pool.Put(b.buf)
		b.buf = nil
	}
}

func (b *Buffers) borrow() *[]byte {
	if buf, ok := b.pool.Get().(*[]byte); ok {
		return buf
	}
	buf := make([]byte, 0, batchBytes)
	return &buf
}
