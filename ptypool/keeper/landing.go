package keeper

import (
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"termhost/ptypool/nonce"
)

const (
	// Halves is how many batches of output a Landing holds: one is logged while the next is read.
	Halves = 2
	// HalfSize, in bytes, is the most output in one batch.
	HalfSize = 64 << 10
	// readSize, in bytes, is the most that is read at once: a pty never holds more, and a small
	// read touches little memory. After a read that has filled it, as only a pipe's can, the next
	// one takes all the room there is.
	readSize = 8 << 10
	// landingHeader is a page: the data begins on one.
	landingHeader = 4 << 10
	landingSize   = landingHeader + Halves*HalfSize
)

// Landing is a buffer into which a host reads a terminal's output before it logs it. The keeper
// maps the same memory, so what read(2) has delivered is not lost when the host is killed, even
// during that call.
//
// The length of such a read is unknown. So free space is filled with bytes that no UTF-8 text
// contains, a different one at each place (see [poison]), and bytes that differ from them are
// output. Binary output loses its last byte if that happens to equal the filler: about once in 256
// times that a host is killed during a read.
//
// The output of a shell with a nonce is sealed in place as soon as it has been read. The Sealer's
// state and the length of the sealed output are in one word. Output that a killed host has read but
// not sealed is sealed when it is salvaged. A mark that the host was storing at that very moment
// does not count as genuine then.
//
// Positions are those of the log. A half has none until its output is about to be logged, because
// another output of the same program may be logged first. Reading into it is over then, so the
// other one gets what is read while it is being logged. See [Batch] for how a host uses it.
type Landing struct {
	shared *Shared // nil: it is closed

	// reading is held during a read, and by who waits for the end of one. It guards filled and
	// sealer. It comes before mu.
	reading sync.Mutex
	filled  [Halves]bool  // the last read has filled the memory that it was given
	sealer  *nonce.Sealer // nil: nothing is sealed

	mu    sync.Mutex  // guards the fields below
	apart bool        // see Apart
	open  int         // the half that the next batch may be read into; none: a free one
	users [Halves]int // of batches in the half: see Batch
}

const none = -1 // no half

const (
	free     = -1 // the position of an empty half
	unplaced = -2 // the position of a half into which output may still be read
)

// NewLanding makes an empty Landing.
func NewLanding() (*Landing, error) {
	m, err := NewShared("landing", landingSize)
	if err != nil {
		return nil, err
	}
	l := &Landing{shared: m, open: none}
	for k := range Halves {
		atomic.StoreInt64(l.base(k), free)
	}
	return l, nil
}

// MapLanding maps a Landing that another process has made. f belongs to the Landing from then on,
// even if MapLanding fails.
func MapLanding(f *os.File) (*Landing, error) {
	m, err := MapShared(f, landingSize)
	if err != nil {
		return nil, err
	}
	return &Landing{shared: m, open: none}, nil
}

// base, length, extent and turn are the words of half k in the header: the position of its first
// byte, how many bytes are known to have been read (see filling), up to where a read may have
// delivered more, and the number of the batch.
func (l *Landing) base(k int) *int64   { return l.word(4 * k) }
func (l *Landing) length(k int) *int64 { return l.word(4*k + 1) }
func (l *Landing) extent(k int) *int64 { return l.word(4*k + 2) }
func (l *Landing) turn(k int) *int64   { return l.word(4*k + 3) }

// filling is a length, and the Sealer's state after it.
type filling int64

const fillBits = 32 // of the length; the state is above

func (l *Landing) setFill(k int, n int, st nonce.State) {
	atomic.StoreInt64(l.length(k), int64(n)|int64(st)<<fillBits)
}

func (l *Landing) fill(k int) filling { return filling(atomic.LoadInt64(l.length(k))) }

// size returns the length. It is bounded, because another process may have written anything.
func (f filling) size() int64 { return within(int64(f) & (1<<fillBits - 1)) }

func (f filling) state() nonce.State { return nonce.State(f >> fillBits) }

// Seal has further output sealed for the shell with that secret, continuing from the last process's
// state; "": output is not sealed.
func (l *Landing) Seal(secret string) {
	l.sealer = nonce.NewSealer(secret, l.fill(l.order()[1]).state())
}

// Leave stores the Sealer's state of a process that has read without the Landing, which must be
// empty.
func (l *Landing) Leave(st nonce.State) { l.setFill(l.order()[1], 0, st) }

// order returns the halves, the one with the older batch first.
func (l *Landing) order() [Halves]int {
	if atomic.LoadInt64(l.turn(1)) < atomic.LoadInt64(l.turn(0)) {
		return [Halves]int{1, 0}
	}
	return [Halves]int{0, 1}
}

func (l *Landing) word(i int) *int64 {
	return (*int64)(unsafe.Pointer(&l.shared.Mem[8*i])) // a page is aligned for it
}

func (l *Landing) half(k int) []byte {
	return l.shared.Mem[landingHeader+k*HalfSize:][:HalfSize]
}

// begin takes a free half and returns its number, or none if both are taken.
func (l *Landing) begin() int {
	for k := range Halves {
		if atomic.LoadInt64(l.base(k)) != free {
			continue
		}
		l.filled[k] = false
		l.setFill(k, 0, l.sealer.State())
		atomic.StoreInt64(l.extent(k), 0)
		atomic.StoreInt64(l.turn(k), atomic.LoadInt64(l.turn(1-k))+1)
		atomic.StoreInt64(l.base(k), unplaced)
		return k
	}
	return none
}

// place records that half k, whose reading is over, is about to be logged from position pos on.
func (l *Landing) place(k int, pos int64) { atomic.StoreInt64(l.base(k), pos) }

// read calls read with free memory of half k, which begin has taken; read returns how much of it it
// has written. It returns all of the half's output so far, of which n bytes are new; n is 0 if the
// half is full.
func (l *Landing) read(k int, read func(p []byte) (int, error)) (all []byte, n int, err error) {
	half := l.half(k)
	at := int(l.fill(k).size())
	size := readSize
	if l.filled[k] {
		size = HalfSize
	}
	space := half[at:min(at+size, len(half))]
	if len(space) == 0 {
		return half, 0, nil
	}
	setPoison(space, at)
	atomic.StoreInt64(l.extent(k), int64(at+len(space)))
	n, err = read(space)
	l.sealer.Seal(space[:n])
	l.setFill(k, at+n, l.sealer.State())
	l.filled[k] = n == len(space)
	return half[:at+n], n, err
}

// free releases half k, whose output is in the log and no longer used.
func (l *Landing) free(k int) { atomic.StoreInt64(l.base(k), free) }

// Salvage returns, oldest first, the output that a host has read and that is not in the log, which
// ends at position end, and frees all halves. The host must have ended. missing, in bytes, is how
// much came before that and was not logged, because the log could not be written. The result
// belongs to the caller. It is sealed if Seal was called; see Sealed.
func (l *Landing) Salvage(end int64) (missing int64, left []byte) {
	for _, k := range l.order() {
		base, fill := atomic.LoadInt64(l.base(k)), l.fill(k)
		length := fill.size()
		l.sealer.SetState(fill.state())
		l.free(k)
		switch {
		case base == free:
		case base == unplaced:
			half := l.half(k)[:length+l.unsaid(k, length)]
			l.sealer.Seal(half[length:])
			left = append(left, half...)
		default: // reading was over: it is in the log wholly, in part or not at all
			skip := end - base
			if skip < 0 && len(left) == 0 {
				missing, skip = -skip, 0
			}
			if skip >= 0 && skip < length {
				left = append(left, l.half(k)[skip:length]...)
			}
		}
	}
	return missing, left
}

// Sealed returns the Sealer's state after what has been read or salvaged.
func (l *Landing) Sealed() nonce.State { return l.sealer.State() }

// within bounds a count that another process has written to the size of a half.
func within(n int64) int64 { return max(0, min(n, HalfSize)) }

// Empty reports whether there is nothing to salvage.
func (l *Landing) Empty() bool {
	return atomic.LoadInt64(l.base(0)) == free && atomic.LoadInt64(l.base(1)) == free
}

// unsaid returns how many bytes an interrupted read has delivered into half k after its first at
// bytes.
func (l *Landing) unsaid(k int, at int64) int64 {
	half := l.half(k)
	for i := within(atomic.LoadInt64(l.extent(k))) - 1; i >= at; i-- {
		if half[i] != poison[i%int64(len(poison))] {
			return i + 1 - at
		}
	}
	return 0
}

// poison fills free space, repeated from the beginning of each half: the bytes that never occur in
// UTF-8 (RFC 3629 section 1).
const poison = "\xc0\xc1\xf5\xf6\xf7\xf8\xf9\xfa\xfb\xfc\xfd\xfe\xff"

// poisoned is enough poison for every read, wherever in a half that begins.
var poisoned = strings.Repeat(poison, HalfSize/len(poison)+2)

// setPoison fills p, which begins at offset at of a half.
func setPoison(p []byte, at int) { copy(p, poisoned[at%len(poison):]) }

// File returns the file to pass to another process. It still belongs to the Landing.
func (l *Landing) File() *os.File { return l.shared.File }

// Close unmaps the memory, which must not be in use.
func (l *Landing) Close() error {
	if l.shared == nil {
		return nil
	}
	err := l.shared.Close()
	l.shared = nil
	return err
}
