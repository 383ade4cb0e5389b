package acpproxy

import (
	"crypto/rand"
	"os"
	"slices"
	"syscall"
	"time"

	"termhost/cmd/termhost/proctable"
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
// executed with its environment, and the descendants of both. So it includes a launcher's child in
// a process session of its own, also when the launcher has been killed. It misses a process that
// was left behind by its parents and that has cleared its environment.
type family struct {
	group int    // the process group, whose leader has not been reaped; 0: it is not known yet
	mark  string // familyVariable with its value, as the environment has it
}

func newFamily() family { return family{mark: familyVariable + "=" + rand.Text()} }

// members returns the living processes of the family.
func (f family) members() (found []proctable.Process) {
	all, _ := proctable.All() // without it nobody is found
	children, taken := map[int][]proctable.Process{}, map[int]bool{}
	take := func(p proctable.Process) {
		if !taken[p.PID] && p.PID != os.Getpid() {
			taken[p.PID] = true
			found = append(found, p)
		}
	}
	for _, p := range all {
		children[p.Parent] = append(children[p.Parent], p)
		if p.Group == f.group || proctable.HasVariable(p.PID, f.mark) {
			take(p)
		}
	}
	for i := 0; i < len(found); i++ {
		for _, child := range children[found[i].PID] {
			take(child)
		}
	}
	return slices.DeleteFunc(found, func(p proctable.Process) bool { return p.Ended })
}

// signal sends sig to each member, and returns how many there are.
func (f family) signal(sig syscall.Signal) int {
	members := f.members()
	for _, p := range members {
		_ = p.Signal(sig) // it may end meanwhile
	}
	return len(members)
}

// end hangs up the remaining family, and after the grace kills the rest.
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
