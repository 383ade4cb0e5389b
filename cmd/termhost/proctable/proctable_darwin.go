package proctable

import "golang.org/x/sys/unix"

// All returns the processes of this machine, as far as this user may see them.
func All() ([]Process, error) {
	list, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, err
	}
	all := make([]Process, 0, len(list))
	for i := range list {
		all = append(all, processOf(&list[i]))
	}
	return all, nil
}

func look(pid int) (Process, bool) {
	list, err := unix.SysctlKinfoProcSlice("kern.proc.pid", pid)
	if err != nil || len(list) != 1 {
		return Process{}, false
	}
	return processOf(&list[0]), true
}

func processOf(k *unix.KinfoProc) Process {
	pid := int(k.Proc.P_pid)
	session, err := unix.Getsid(pid)
	if err != nil {
		session = 0 // it has ended
	}
	start := k.Proc.P_starttime
	return Process{PID: pid, Parent: int(k.Eproc.Ppid), Group: int(k.Eproc.Pgid),
		Session: session, Start: startOf(start.Sec, int64(start.Usec)),
		Ended: k.Proc.P_stat == zombie}
}

// HasVariable reports whether a process was executed with an environment variable, which is given
// as NAME=value. It is false if that is unknown, as of the programs that System Integrity
// Protection protects.
func HasVariable(pid int, variable string) bool {
	args, err := unix.SysctlRaw("kern.procargs2", pid) // the environment is behind the arguments
	return err == nil && holds(args, variable)
}
