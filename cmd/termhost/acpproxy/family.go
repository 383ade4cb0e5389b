package acpproxy

import (
	"bytes"
	"crypto/rand"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// familyVariable is set in an agent's environment, to a value that no other agent has.
	familyVariable = "TERMHOST_ACP_AGENT"
	// familyGrace is how long what an agent leaves behind may take to end after SIGHUP, before
	// SIGKILL: as long as the commands of a terminal that is released.
	familyGrace = 2 * time.Second
	familyPoll  = 20 * time.Millisecond
)

// family is an agent with what it has started: the processes of its process group, those that were
// executed with its environment, and what descends from any of them. So it has what a launcher
// starts in a process session of its own, also when the launcher has been killed. It misses a
// process that was left behind by its parents and that has cleared its environment.
type family struct {
	group int    // the process group, whose leader has not been reaped; 0: it is not known yet
	mark  string // familyVariable with its value, as the environment has it
}

func newFamily() family { return family{mark: familyVariable + "=" + rand.Text()} }

// relative is a process of a family. Its number may be used again, its number with its start time
// not.
type relative struct {
	pid    int
	parent int
	group  int
	start  string // clock ticks since boot
	ended  bool   // it is a zombie
}

// members returns the living processes of the family.
func (f family) members() (found []relative) {
	names, err := readNames("/proc")
	if err != nil {
		return nil
	}
	children, taken := map[int][]relative{}, map[int]bool{}
	take := func(p relative) {
		if !taken[p.pid] && p.pid != os.Getpid() {
			taken[p.pid] = true
			found = append(found, p)
		}
	}
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		p, ok := readRelative(pid)
		if !ok {
			continue
		}
		children[p.parent] = append(children[p.parent], p)
		if p.group == f.group || f.marks(pid) {
			take(p)
		}
	}
	for i := 0; i < len(found); i++ {
		for _, child := range children[found[i].pid] {
			take(child)
		}
	}
	living := found[:0]
	for _, p := range found {
		if !p.ended {
			living = append(living, p)
		}
	}
	return living
}

// marks reports whether a process was executed with the agent's environment.
func (f family) marks(pid int) bool {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false // it is another user's, or has ended
	}
	for variable := range bytes.SplitSeq(env, []byte{0}) {
		if string(variable) == f.mark {
			return true
		}
	}
	return false
}

// signal sends sig to each member, and returns how many there are.
func (f family) signal(sig syscall.Signal) int {
	members := f.members()
	for _, p := range members {
		p.signal(sig)
	}
	return len(members)
}

// end hangs up what is left of the family, and kills what is still there after the grace.
func (f family) end() {
	if f.signal(syscall.SIGHUP) == 0 {
		return
	}
	f.signal(syscall.SIGCONT) // what is stopped cannot be hung up
	for begun := time.Now(); time.Since(begun) < familyGrace; time.Sleep(familyPoll) {
		if len(f.members()) == 0 {
			return
		}
	}
	f.signal(syscall.SIGKILL)
	f.signal(syscall.SIGKILL) // what was made during the first round
}

// signal sends sig to this process, and never to a later one with the same number.
func (p relative) signal(sig syscall.Signal) {
	fd, err := unix.PidfdOpen(p.pid, 0)
	if err != nil {
		return // it has ended
	}
	defer unix.Close(fd)
	if now, ok := readRelative(p.pid); ok && now.start == p.start {
		_ = unix.PidfdSendSignal(fd, sig, nil, 0) // it may end meanwhile
	}
}

// readRelative reads /proc/PID/stat; see proc_pid_stat(5).
func readRelative(pid int) (p relative, ok bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return p, false
	}
	// The program's name, in parentheses, may have anything in it.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 {
		return p, false
	}
	parent, err1 := strconv.Atoi(string(fields[1]))
	group, err2 := strconv.Atoi(string(fields[2]))
	state := fields[0][0]
	return relative{pid, parent, group, string(fields[19]), state == 'Z' || state == 'X'},
		err1 == nil && err2 == nil
}

func readNames(dir string) ([]string, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.Readdirnames(-1)
}
