package store

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"hash/fnv"

	"termhost/ahp"
)

// Trail records which serverSeqs a terminal's entries had, and up to which serverSeq each client
// knows the terminal's state. It lives in memory that outlives the process, so that the next one
// can give a log that it restores its old serverSeqs: see [Channel.Adopt]. A client that reconnects
// then gets what it has missed, and nothing twice.
//
// The latest entries and clients are kept. A nil Trail records nothing. The memory is used under
// the store's lock only, from [Channel.Record] or [Channel.Adopt] on until [Channel.Remove], or
// until the channel records no more.
type Trail struct{ mem []byte }

// TrailSize is the size of a Trail's memory, in bytes.
const TrailSize = 16 << 10

// The memory consists of little-endian words of 8 bytes: a header, pairs of a clientId's hash and a
// serverSeq, and pairs of an entry's serverSeq and a word that has the position behind it in its
// lower endBits and the entry's sum above them.
const (
	trailMagic   = 0x32_6c_69_61_72_74_68_74 // "thtrail2"
	wordMagic    = 0
	wordBorn     = 1 // the serverSeq at which the channel was added
	wordCount    = 2 // how many entries were recorded, of which the last trailEntries are there
	firstClient  = 8
	trailClients = 32
	firstEntry   = firstClient + 2*trailClients
	trailEntries = (TrailSize/8 - firstEntry) / 2
	endBits      = 40
)

// NewTrail returns the Trail in mem, of [TrailSize] bytes: zeros, or what an earlier process has
// recorded there.
func NewTrail(mem []byte) (*Trail, error) {
	if len(mem) != TrailSize {
		return nil, errors.New("store: the trail has another size")
	}
	t := &Trail{mem}
	if m := t.word(wordMagic); m != 0 && m != trailMagic {
		return nil, errors.New("store: this is no trail")
	}
	return t, nil
}

func (t *Trail) word(i int) uint64 { return binary.LittleEndian.Uint64(t.mem[8*i:]) }

func (t *Trail) setWord(i int, v uint64) { binary.LittleEndian.PutUint64(t.mem[8*i:], v) }

// begin makes an empty Trail of a channel.
func (t *Trail) begin(born uint64) {
	clear(t.mem)
	t.setWord(wordMagic, trailMagic)
	t.setWord(wordBorn, born)
}

// Forget has the Trail forget what was recorded, which fits no log any more. No channel may use it.
func (t *Trail) Forget() {
	if t != nil {
		clear(t.mem)
	}
}

// mark is where the log was behind an entry.
type mark struct {
	seq uint64
	end int64  // the position of the next entry
	sum uint32 // of what the entry is: see sumOf
}

func markOf(e *Entry) mark { return mark{e.seq, e.position + e.places(), sumOf(e)} }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sumOf returns a checksum of 24 bits of an entry's output, or else of its action's type.
func sumOf(e *Entry) uint32 {
	if d, ok := e.action.(ahp.TerminalData); ok {
		return crc32.Checksum(d.Data, castagnoli) >> 8
	}
	return crc32.Checksum([]byte(e.action.Type()), castagnoli) >> 8
}

// add records an entry.
func (t *Trail) add(m mark) {
	n := t.word(wordCount)
	i := firstEntry + 2*int(n%trailEntries)
	t.setWord(i, m.seq)
	t.setWord(i+1, uint64(m.sum)<<endBits|uint64(m.end))
	t.setWord(wordCount, n+1)
}

// End returns the position behind the last entry that is recorded; 0: there is none.
func (t *Trail) End() int64 {
	if t == nil {
		return 0
	}
	if marks := t.marks(); len(marks) > 0 {
		return marks[len(marks)-1].end
	}
	return 0
}

// marks returns what is recorded, in the order of serverSeqs. Before the first entry there is the
// channel's beginning, unless that is forgotten.
func (t *Trail) marks() []mark {
	n := t.word(wordCount)
	list := make([]mark, 0, trailEntries+1)
	if n <= trailEntries {
		list = append(list, mark{seq: t.word(wordBorn)})
	}
	oldest := n - min(n, trailEntries)
	for k := oldest; k < n; k++ {
		i := firstEntry + 2*int(k%trailEntries)
		at := t.word(i + 1)
		m := mark{t.word(i), int64(at & (1<<endBits - 1)), uint32(at >> endBits)}
		if len(list) > 0 {
			if last := list[len(list)-1]; m.seq <= last.seq || m.end < last.end {
				if k != oldest+1 {
					return nil // nothing that Trail writes
				}
				list = list[:0] // the process ended while it wrote a new one over the oldest
			}
		}
		list = append(list, m)
	}
	return list
}

// synced records that a client that has seen seq, or more, knows the state; 0: none does.
func (t *Trail) synced(client string, seq uint64) {
	if t == nil || client == "" {
		return
	}
	key, slot := clientKey(client), -1
	for i := firstClient; i < firstEntry; i += 2 {
		if t.word(i) == key {
			slot = i
			break
		}
		if slot < 0 || t.word(i+1) < t.word(slot+1) {
			slot = i // the one that was recorded longest ago, or a free one
		}
	}
	if seq == 0 && t.word(slot) != key {
		return
	}
	t.setWord(slot, 0) // nobody's, while it changes
	t.setWord(slot+1, seq)
	if seq != 0 {
		t.setWord(slot, key)
	}
}

// syncedOf returns what was recorded of a client.
func (t *Trail) syncedOf(client string) (seq uint64, ok bool) {
	if t == nil || client == "" {
		return 0, false
	}
	key := clientKey(client)
	for i := firstClient; i < firstEntry; i += 2 {
		if t.word(i) == key {
			return t.word(i + 1), true
		}
	}
	return 0, false
}

// clientKey returns a clientId's hash, which is never 0.
func clientKey(client string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(client))
	return h.Sum64() | 1
}
