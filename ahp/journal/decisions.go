package journal

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"sync"

	"termhost/ahp"
	"termhost/ptypool/keeper"
)

// Decided is what people have decided about a terminal. The next host must know it, or a guard
// would be gone.
type Decided struct {
	Guarded    bool       `json:"guarded,omitempty"`
	GuardedWhy string     `json:"guardedWhy,omitempty"` // see [Description]
	Name       string     `json:"name"`
	Former     []string   `json:"former,omitempty"`
	Labels     ahp.Labels `json:"labels,omitempty"`
	Holder     Holder     `json:"holder"`
	Loans      *Loans     `json:"loans,omitempty"`
	Asks       int64      `json:"asks,omitempty"` // the number of the host's last ask
	// Described: the description has been on disk, so without it somebody has damaged the journal.
	Described bool `json:"described,omitempty"`
}

// Decisions keeps a terminal's Decided in memory that the keeper holds for the next host. So it
// survives the host at once, whether or not the disk has room, and whether or not the keeper
// answers.
//
// The memory has two slots, which are written in turn, so that a host that is killed while it
// writes leaves the one before. A slot begins with its turn (uint64), the length of the JSON and
// the CRC-32C of all else (uint32 each, little endian); the JSON follows.
//
// All methods may be called concurrently, and on a nil Decisions, which keeps nothing.
type Decisions struct {
	mu     sync.Mutex     // no other lock is taken while it is held
	shared *keeper.Shared // nil: it is closed
	turn   uint64         // of the slot that was written last; 0: none was
}

const (
	// slotSize, in bytes, has room for a chain of more than ten loans with the longest claims.
	// Pages that are not written take no memory.
	slotSize      = 128 << 10
	slotHeader    = 16
	decisionsSize = 2 * slotSize
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Errors of Decisions.
var (
	// ErrUndecided says that neither of the two slots is intact.
	ErrUndecided = errors.New("journal: the decisions that the keeper holds are damaged")
	// ErrNoDecisions says that there is no memory for decisions, or that they do not fit.
	ErrNoDecisions = errors.New("journal: the keeper does not hold the decisions")
)

// NewDecisions makes the memory, which nothing has been written to.
func NewDecisions() (*Decisions, error) {
	shared, err := keeper.NewShared("decisions", decisionsSize)
	if err != nil {
		return nil, err
	}
	return &Decisions{shared: shared}, nil
}

// OpenDecisions maps the memory that an earlier host has made, and returns what is in it. f belongs
// to the Decisions from then on, even if that fails. With ErrUndecided it returns the Decisions all
// the same.
func OpenDecisions(f *os.File) (ds *Decisions, d Decided, err error) {
	shared, err := keeper.MapShared(f, decisionsSize)
	if err != nil {
		return nil, d, err
	}
	ds, err = &Decisions{shared: shared}, ErrUndecided
	for k := range uint64(2) {
		turn, text := ds.read(k)
		if turn <= ds.turn {
			continue
		}
		var is Decided
		if json.Unmarshal(text, &is) == nil {
			ds.turn, d, err = turn, is, nil
		}
	}
	return ds, d, err
}

// slot returns the memory of slot k.
func (ds *Decisions) slot(k uint64) []byte { return ds.shared.Mem[k*slotSize:][:slotSize] }

// read returns the turn and the JSON of slot k; turn 0: it is empty or damaged.
func (ds *Decisions) read(k uint64) (turn uint64, text []byte) {
	s := ds.slot(k)
	turn = binary.LittleEndian.Uint64(s)
	n := binary.LittleEndian.Uint32(s[8:])
	if n > slotSize-slotHeader || turn%2 != k {
		return 0, nil
	}
	text = s[slotHeader:][:n]
	if binary.LittleEndian.Uint32(s[12:]) != slotSum(s[:12], text) {
		return 0, nil
	}
	return turn, text
}

func slotSum(header, text []byte) uint32 {
	return crc32.Update(crc32.Checksum(header, castagnoli), castagnoli, text)
}

// Write replaces what the next host reads. It fails with ErrNoDecisions.
func (ds *Decisions) Write(d Decided) error {
	if ds == nil {
		return ErrNoDecisions
	}
	text := encode(d)
	ds.mu.Lock()
	defer ds.mu.Unlock()
	if ds.shared == nil || len(text) > slotSize-slotHeader {
		return fmt.Errorf("%w: %d bytes", ErrNoDecisions, len(text))
	}
	ds.turn++
	s := ds.slot(ds.turn % 2)
	copy(s[slotHeader:], text)
	binary.LittleEndian.PutUint64(s, ds.turn)
	binary.LittleEndian.PutUint32(s[8:], uint32(len(text)))
	binary.LittleEndian.PutUint32(s[12:], slotSum(s[:12], text))
	return nil
}

// File returns the file for the keeper, which still belongs to the Decisions; nil: there is none.
func (ds *Decisions) File() *os.File {
	if ds == nil {
		return nil
	}
	return ds.shared.File
}

// Close unmaps the memory. The keeper still holds it.
func (ds *Decisions) Close() {
	if ds == nil {
		return
	}
	ds.mu.Lock()
	defer ds.mu.Unlock()
	if ds.shared != nil {
		_ = ds.shared.Close() // the memory is released even if that fails
		ds.shared = nil
	}
}

// The reasons why a terminal is guarded whose guard is not known.
const (
	guardedUndecided   = "what people had decided about it is damaged"
	guardedUndescribed = "its description could not be read"
	guardedUnlogged    = "its log is damaged"
)

// recall takes the decisions that the keeper holds in the file f; nil: it holds none, because a
// host of an earlier version has started the program. unread is why the description on disk could
// not be read; nil: it could, and decided is its Outline.Decided. A terminal is guarded if its
// guard cannot be read, and if somebody has damaged what says so.
func (r *Remains) recall(f *os.File, unread error, decided bool) {
	d, is, why := &r.Description, Decided{}, ""
	if f == nil {
		switch {
		case unread != nil:
			why = guardedUndescribed
		case r.Damaged:
			why = guardedUnlogged // and so may be the claims in it
		}
		r.guard(why)
		return
	}
	var err error
	if r.Decisions, is, err = OpenDecisions(f); err != nil {
		r.guard(guardedUndecided)
		return
	}
	r.Asks = is.Asks
	newest := decided || unread != nil
	d.Guarded, d.GuardedWhy = is.Guarded || d.Guarded && !newest, is.GuardedWhy
	if newest {
		d.Name, d.Former, d.Labels = is.Name, is.Former, is.Labels
	}
	if d.Outline.Decided || r.Damaged {
		d.Outline.Holder, d.Outline.Loans = is.Holder, is.Loans
	}
	if unread != nil && is.Described {
		r.guard(guardedUndescribed)
	}
}

// guard guards the terminal, if it takes keys and why is not empty.
func (r *Remains) guard(why string) {
	if d := &r.Description; why != "" && d.IsPty && !d.Client {
		d.Guarded, d.GuardedWhy = true, why
	}
}
