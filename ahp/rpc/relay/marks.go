package relay

import (
	"cmp"
	"slices"
	"sync"
)

// maxMarks bounds what is remembered for a client of one host: 16 KiB.
const maxMarks = 1024

// mark says which of its numbers a door has given to what an owner has numbered otherwise.
type mark struct{ door, owner uint64 }

// Memory is what a door remembers of a client from one of its connections to the next. Its methods
// may be called concurrently.
type Memory struct {
	mu    sync.Mutex // a leaf
	marks map[string][]mark
}

// add remembers a mark, before its number is sent to the client.
func (m *Memory) add(host string, door, owner uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.marks == nil {
		m.marks = map[string][]mark{}
	}
	list := m.marks[host]
	if n := len(list); n > 0 {
		owner = max(owner, list[n-1].owner) // all before it is seen as well
	}
	if len(list) == maxMarks {
		list = append(list[:0], list[maxMarks/2:]...)
	}
	m.marks[host] = append(list, mark{door, owner})
}

// seen returns up to which of an owner's numbers a client has seen everything that has seen
// everything up to a door's number; 0: nobody knows.
func (m *Memory) seen(host string, door uint64) uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := m.marks[host]
	n, exact := slices.BinarySearchFunc(list, door,
		func(k mark, door uint64) int { return cmp.Compare(k.door, door) })
	if exact {
		n++
	}
	if n == 0 {
		return 0
	}
	return list[n-1].owner
}
