package sshd

import (
	"io"
	"sync"
)

// gatherer joins pieces of output into large writes. Its buffer is borrowed
// while there is output, so that an idle viewer holds none.
type gatherer struct {
	w    io.Writer
	pool *sync.Pool
	buf  *[]byte // nil: not needed so far
	one  []byte  // the only piece so far, not copied
}

// gather returns a gatherer that writes to w. It must be released.
func (s *Server) gather(w io.Writer) *gatherer { return &gatherer{w: w, pool: &s.buffers} }

// add adds a piece, which must not change until flush.
func (g *gatherer) add(p []byte) error {
	switch {
	case len(p) == 0:
		return nil
	case g.one == nil && g.empty():
		g.one = p
		return nil
	}
	if g.buf == nil {
		g.buf = borrow(g.pool)
	}
	if g.one != nil {
		one := g.one
		g.one = nil
		if err := g.join(one); err != nil {
			return err
		}
	}
	return g.join(p)
}

func (g *gatherer) join(p []byte) error {
	if len(*g.buf)+len(p) > gatherBytes {
		if err := g.flush(); err != nil {
			return err
		}
	}
	if len(p) >= gatherBytes {
		_, err := g.w.Write(p)
		return err
	}
	*g.buf = append(*g.buf, p...)
	return nil
}

func (g *gatherer) empty() bool { return g.buf == nil || len(*g.buf) == 0 }

// flush writes what has been added.
func (g *gatherer) flush() error {
	p := g.one
	if !g.empty() {
		p = *g.buf
	}
	if len(p) == 0 {
		return nil
	}
	_, err := g.w.Write(p)
	g.reset()
	return err
}

// reset drops what has not been written.
func (g *gatherer) reset() {
	g.one = nil
	if g.buf != nil {
		*g.buf = (*g.buf)[:0]
	}
}

// release gives the buffer back.
func (g *gatherer) release() {
	if g.buf != nil {
		g.reset()
		g.pool.Put(g.buf)
		g.buf = nil
	}
}

func borrow(pool *sync.Pool) *[]byte {
	if b, ok := pool.Get().(*[]byte); ok {
		return b
	}
	b := make([]byte, 0, gatherBytes)
	return &b
}
