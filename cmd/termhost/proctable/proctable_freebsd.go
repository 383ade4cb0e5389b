//go:build amd64 || arm64 || riscv64

package proctable

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// Where things are in struct kinfo_proc of sys/user.h, where pointers have 64 bits.
const (
	atSize, atPID, atParent, atGroup, atSession = 0, 72, 76, 80, 88
	atStart, atState, kinfoLen                  = 336, 388, 1088
)

// All returns the processes of this machine, as far as this user may see them.
func All() ([]Process, error) {
	for {
		list, err := unix.SysctlRaw("kern.proc.proc")
		if err == unix.ENOMEM {
			continue // there are more of them than a moment ago
		}
		return processesIn(list), err
	}
}

func look(pid int) (Process, bool) {
	list, _ := unix.SysctlRaw("kern.proc.pid", pid) // without any it fails
	found := processesIn(list)
	if len(found) != 1 {
		return Process{}, false
	}
	return found[0], true
}

func processesIn(list []byte) (found []Process) {
	order := binary.NativeEndian
	for len(list) >= kinfoLen {
		size := int(order.Uint32(list[atSize:]))
		if size < kinfoLen || size > len(list) {
			return nil // a layout that is not known
		}
		number := func(at int) int { return int(int32(order.Uint32(list[at:]))) }
		found = append(found, Process{PID: number(atPID), Parent: number(atParent),
			Group: number(atGroup), Session: number(atSession), Ended: list[atState] == zombie,
			Start: startOf(int64(order.Uint64(list[atStart:])),
				int64(order.Uint64(list[atStart+8:])))})
		list = list[size:]
	}
	return found
}

// HasVariable reports whether a process was executed with an environment variable, which is given
// as NAME=value. It is false if that is unknown.
func HasVariable(pid int, variable string) bool {
	env, err := unix.SysctlRaw("kern.proc.env", pid)
	return err == nil && holds(env, variable)
}
