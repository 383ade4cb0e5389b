package viewer

import (
	"context"
	"io"
	"sync"
	"time"
	"unicode/utf8"

	"termhost/ptypool/keyboard"
)

// lentInput is what the peer types, which top lends to the terminals that it shows, one after the
// other. What one of them has not read is there for the next.
type lentInput struct {
	in     io.Reader
	chunks chan []byte   // closed at the end of the input
	done   chan struct{} // closed with top

	mu    sync.Mutex // a leaf
	rest  []byte     // of a chunk, not handled yet
	bytes uint64     // read from chunks
}

func newLentInput(in io.Reader) *lentInput {
	return &lentInput{in: in, chunks: make(chan []byte), done: make(chan struct{})}
}

// run reads what is typed until the input or top ends.
func (l *lentInput) run() {
	defer close(l.chunks)
	for {
		buf := make([]byte, readBytes)
		n, err := l.in.Read(buf)
		if n > 0 {
			select {
			case l.chunks <- buf[:n]:
			case <-l.done:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (l *lentInput) close() { close(l.done) }

// unread keeps what is not handled of the last chunk for the next reader.
func (l *lentInput) unread(p []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rest = append(p, l.rest...)
}

// keep keeps what was typed after that for the next reader.
func (l *lentInput) keep(p []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rest = append(l.rest, p...)
}

// got counts a chunk that top has received, and is given back what it is to handle.
func (l *lentInput) got(p []byte) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.bytes += uint64(len(p))
	return p
}

// drop forgets what nobody has handled: it was typed at a terminal that is not shown any more.
func (l *lentInput) drop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rest = nil
}

// given returns how many bytes have been handled.
func (l *lentInput) given() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bytes - uint64(len(l.rest))
}

// lend returns a reader of the input until ctx is done.
func (l *lentInput) lend(ctx context.Context) io.Reader { return &lentReader{l, ctx} }

// lentReader reads the input for as long as it is lent. It must not be used concurrently.
type lentReader struct {
	*lentInput
	ctx context.Context
}

// Read implements io.Reader. It ends when the input is not lent any more.
func (r *lentReader) Read(p []byte) (int, error) {
	if n := r.kept(p); n > 0 {
		return n, nil
	}
	select {
	case chunk, ok := <-r.chunks:
		if !ok {
			return 0, io.EOF
		}
		r.got(chunk)
		r.unread(chunk)
		if r.ctx.Err() != nil {
			return 0, io.EOF
		}
		return r.kept(p), nil
	case <-r.ctx.Done():
		return 0, io.EOF
	}
}

// kept reads from the rest.
func (r *lentReader) kept(p []byte) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ctx.Err() != nil {
		return 0
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n
}

// lentIO is a peer whose input is lent.
type lentIO struct {
	IO
	in io.Reader
}

// Stdin returns the input while it is lent.
func (p lentIO) Stdin() io.Reader { return p.in }

// topKeys makes keys of what is typed at top.
type topKeys struct {
	t       *top
	answers keyboard.Answers
	filter  keyboard.Filter
	pasting bool      // in a paste, which is no key
	cut     []byte    // the beginning of a character
	rest    []byte    // what was typed behind the key that leaves the list
	hold    time.Time // when release is due; zero: nothing is held
}

func (k *topKeys) init(t *top) {
	k.t = t
	k.answers.Now = time.Now
	k.answers.Asked, k.answers.Found = t.s.questions().asked, t.s.questions().answered
	k.answers.Focus = func() bool { return false }
	k.filter.NoAlt = func() bool { return true } // Escape is a key of its own
}

// take handles keys, and returns those behind a key that shows a terminal.
func (k *topKeys) take(p []byte) (rest []byte) {
	k.feed(k.answers.Take(p))
	return k.rest
}

// release handles what was held back because it might have been the beginning of an answer.
func (k *topKeys) release() {
	if !k.hold.IsZero() && !time.Now().Before(k.hold) {
		k.feed(k.answers.Release())
	}
}

func (k *topKeys) feed(p []byte) {
	k.rest, k.hold = nil, time.Time{}
	if len(p) > 0 {
		k.filter.Feed(p, k)
	}
	if wait := k.answers.Wait(); wait > 0 {
		k.hold = time.Now().Add(wait)
	}
}

// Typed implements [keyboard.Handler].
func (k *topKeys) Typed(p []byte) {
	was := k.pasting
	k.pasting = k.filter.Pasting()
	if k.leaves() {
		k.rest = append(k.rest, p...)
		return
	}
	report, release := keyboard.IsReport(p)
	if was || k.pasting || report || release {
		return
	}
	p = append(k.cut, p...)
	k.cut = nil
	for len(p) > 0 && !k.leaves() {
		key, n := keyboard.Read(p)
		if n == 0 {
			if len(p) < utf8.UTFMax {
				k.cut = p
			}
			return
		}
		k.t.key(key)
		p = p[n:]
	}
	k.rest = append(k.rest, p...)
}

// leaves reports whether what follows is not for the list.
func (k *topKeys) leaves() bool { return k.t.quit || k.t.enter != nil }

// Prefixed implements [keyboard.Handler]; there is no prefix key here.
func (k *topKeys) Prefixed() {}

// Commanded implements [keyboard.Handler].
func (k *topKeys) Commanded(rune, []byte, []byte) {}
