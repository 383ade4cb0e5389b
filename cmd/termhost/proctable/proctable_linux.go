package proctable

import (
	"bytes"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// All returns the processes of this machine, as far as this user may see them.
func All() ([]Process, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var all []Process
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if p, ok := look(pid); ok {
				all = append(all, p)
			}
		}
	}
	return all, nil
}

// look reads /proc/PID/stat; see proc_pid_stat(5).
func look(pid int) (p Process, ok bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return p, false
	}
	// The program's name, in parentheses, may have anything in it.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 {
		return p, false
	}
	state := fields[0][0]
	p = Process{PID: pid, Ended: state == 'Z' || state == 'X'}
	for i, to := range []*int{&p.Parent, &p.Group, &p.Session} {
		if *to, err = strconv.Atoi(string(fields[1+i])); err != nil {
			return p, false
		}
	}
	p.Start, err = strconv.ParseUint(string(fields[19]), 10, 64)
	return p, err == nil
}

// HasVariable reports whether a process was executed with an environment variable, which is given
// as NAME=value. It is false if that is unknown.
func HasVariable(pid int, variable string) bool {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false // it is another user's, or has ended
	}
	return holds(env, variable)
}

// Signal sends a signal to this process, and never to a later one with the same number. It fails if
// the process has ended, or belongs to another user.
func (p Process) Signal(sig syscall.Signal) error {
	fd, err := unix.PidfdOpen(p.PID, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	// While the pidfd is open, no other process gets this number.
	if now, ok := look(p.PID); !ok || now.Start != p.Start {
		return unix.ESRCH
	}
	return unix.PidfdSendSignal(fd, sig, nil, 0)
}

// AwaitEnd waits until a child of this process has ended, and does not reap it: no other process
// gets its number, and no other process session.
func AwaitEnd(child int) {
	for unix.Waitid(unix.P_PID, child, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}
