package fleet

import (
	"hash/fnv"
	"slices"
	"time"
)

// nameSet says which names are in a set, and of few others that they are: a Bloom filter. A host
// tells it with each heartbeat, so that others know where a NAME may be without asking. Of a set of
// 100 names it is wrong about one name in 400, of 400 about one in 11. Empty, it has none.
type nameSet []byte

const (
	// nameSetBytes is the size of a nameSet: what a heartbeat has room for beside MaxLabels.
	nameSetBytes = 256
	// nameHashes is how many bits there are for a name.
	nameHashes = 3
)

// newNameSet returns the set of names.
func newNameSet(names []string) nameSet {
	if len(names) == 0 {
		return nil
	}
	s := make(nameSet, nameSetBytes)
	for _, name := range names {
		for _, bit := range nameBits(name) {
			s[bit/8] |= 1 << (bit % 8)
		}
	}
	return s
}

// has reports whether a name may be in the set.
func (s nameSet) has(name string) bool {
	if len(s) != nameSetBytes { // another version's
		return false
	}
	for _, bit := range nameBits(name) {
		if s[bit/8]&(1<<(bit%8)) == 0 {
			return false
		}
	}
	return true
}

// nameBits returns the bits of a name.
func nameBits(name string) (bits [nameHashes]uint64) {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // it never fails
	sum := h.Sum64()
	for i := range bits {
		bits[i] = sum >> (16 * i) % (8 * nameSetBytes)
	}
	return bits
}

// settles is how long a host may take to announce a NAME that it has got through this one: an
// announcement of before may still be on its way.
const settles = time.Second

// MayName notes that a host may get a NAME now by what somebody does through this host. Until it
// has announced its names, WithName does not rely on those that it has announced before.
func (f *Fleet) MayName(host string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p := f.peers[host]; p != nil {
		p.unsure = time.Now()
	}
}

// mayHave reports whether the host may have a terminal of that NAME.
func (p *peer) mayHave(name string) bool {
	return p.sign.Names.has(name) || !p.unsure.IsZero() && p.heard.Sub(p.unsure) < settles
}

// WithName returns the other hosts that can be reached and may have a terminal of that NAME, by
// name. One that has just made it for another host may be missing, and one that has none be there.
func (f *Fleet) WithName(name string) (hosts []string) {
	f.mu.Lock()
	var may []string
	for host, p := range f.peers {
		if p.mayHave(name) {
			may = append(may, host)
		}
	}
	f.mu.Unlock()
	for _, host := range may {
		if f.Reachable(host) == nil {
			hosts = append(hosts, host)
		}
	}
	slices.Sort(hosts)
	return hosts
}
