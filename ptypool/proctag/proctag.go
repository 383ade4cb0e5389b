// Package proctag tags processes so that they and all their descendants can be recognised, whatever
// they do to their environment, process session and parents.
//
// The tag is a value of the resource limit RLIMIT_RTTIME (getrlimit(2)): the CPU time that a
// process with a real-time policy may use without sleeping, in microseconds. The values used allow
// thousands of years, so the limit has no effect. It survives fork(2) and execve(2), other
// processes of the user can read it, and without privileges a hard limit can be lowered but not
// raised. A process that lowers it is no longer recognised. A cgroup would be the kernel's own
// means, but must be delegated; a subreaper (PR_SET_CHILD_SUBREAPER) would learn only that some
// terminal has left a process, not which.
package proctag

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Tag identifies processes; 0: none.
type Tag uint64

// A tag is, from the top: one bit that tells the nesting, 16 bits of the realm, and the rest of the
// marker. A host inside another one's terminal may only use values below that terminal's tag, and
// so a lower bit.
const (
	topBit    = 62
	lowestBit = 56 // in microseconds, more than 2,000 years
	realmBits = 16
)

// own are this process's limits when it began.
var own = sync.OnceValue(func() unix.Rlimit {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_RTTIME, &l) != nil {
		return unix.Rlimit{} // nothing can be tagged
	}
	return l
})

// topOf returns the bit with which the tags begin that a process with these limits can give; ok is
// false if it can give none.
func topOf(l unix.Rlimit) (bit int, ok bool) {
	if l.Max >= 1<<(topBit+1) { // RLIM_INFINITY, as a rule
		return topBit, true
	}
	bit = bits.Len64(l.Max) - 2
	return bit, bit >= lowestBit
}

// New returns the tag for a marker, which is a realm, a hyphen and a name without one; 0 for "".
// Tags of one realm can be recognised: see [Tag.In].
func New(marker string) Tag {
	bit, ok := topOf(own())
	if !ok || marker == "" {
		return 0
	}
	realm := marker[:max(strings.LastIndexByte(marker, '-'), 0)]
	low := bit - realmBits
	return Tag(1)<<bit | Tag(hash(realm)>>(64-realmBits))<<low | Tag(hash(marker)>>(64-low))
}

// In reports whether a tag may be one of the realm. Another realm's is taken for one of it once in
// 65,536 times.
func (t Tag) In(realm string) bool {
	bit, ok := topOf(own())
	low := bit - realmBits
	return ok && t != 0 && t>>low == New(realm+"-")>>low
}

func hash(s string) uint64 {
	sum := sha256.Sum256([]byte(s))
	return binary.BigEndian.Uint64(sum[:])
}

// Of returns the tag of a process; 0: it has none, or this process may not read it.
func Of(pid int) Tag {
	bit, ok := topOf(own())
	var l unix.Rlimit
	if !ok || unix.Prlimit(pid, unix.RLIMIT_RTTIME, nil, &l) != nil {
		return 0
	}
	for _, value := range []uint64{l.Max, l.Cur} {
		if value>>bit == 1 {
			return Tag(value)
		}
	}
	return 0
}

// Untouched reports whether a process has the limits of this one, and so does not descend from a
// process that was tagged here. It costs one system call. It is false if that is unknown.
func Untouched(pid int) bool {
	_, able := topOf(own())
	var l unix.Rlimit
	return able && unix.Prlimit(pid, unix.RLIMIT_RTTIME, nil, &l) == nil && l == own()
}

// forking is held while this process has a soft limit that is a child's.
var forking sync.Mutex

// ForkExec is syscall.ForkExec of a process that has the tag, and no other, from its first moment
// on; 0 is none. What is started in another way at the same moment may get the tag as a soft limit;
// what must not is started inside [Untagged].
func ForkExec(path string, argv []string, attr *syscall.ProcAttr, tag Tag) (pid int, err error) {
	if tag == 0 {
		Untagged(func() { pid, err = syscall.ForkExec(path, argv, attr) })
		return pid, err
	}
	before := own()
	forking.Lock()
	// A child inherits its limits; there is no way to set them between fork and exec. This
	// process's own hard limit must stay, so the child begins with a soft one.
	_ = unix.Setrlimit(unix.RLIMIT_RTTIME, &unix.Rlimit{Cur: uint64(tag), Max: before.Max})
	pid, err = syscall.ForkExec(path, argv, attr)
	_ = unix.Setrlimit(unix.RLIMIT_RTTIME, &before)
	forking.Unlock()
	if err == nil {
		_ = unix.Prlimit(pid, unix.RLIMIT_RTTIME,
			&unix.Rlimit{Cur: uint64(tag), Max: uint64(tag)}, nil) // it may have ended already
	}
	return pid, err
}

// Untagged runs start, which starts processes, while they cannot get a tag.
func Untagged(start func()) {
	forking.Lock()
	defer forking.Unlock()
	start()
}
