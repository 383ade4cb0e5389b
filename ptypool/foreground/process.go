package foreground

import (
	"bytes"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	// maxProcesses is how many processes of a terminal are inspected: far more than people run in
	// the foreground, and few enough to take only milliseconds.
	maxProcesses = 256
	// maxThreads is how many threads of a process are inspected. The one that reads the terminal is
	// mostly the first.
	maxThreads = 64
)

// process is a process of the terminal, as /proc has it: see proc_pid_stat(5).
type process struct {
	pid   int
	name  string // of its program, at most 15 bytes
	group int    // its process group
	tty   uint64 // the device of its controlling terminal
	state byte

	reader Reader // how it was found to wait for the terminal; set by waitsFor

	tasks []int // its threads, as many as are looked at
}

// members returns the living processes of the foreground, and notes all that it has seen.
func members(t Terminal, n *notes) []*process {
	var found []*process
	seen := map[int]bool{}
	pending := []int{t.Leader, t.Group} // the second has no parent here if that has ended
	for len(pending) > 0 && len(seen) < maxProcesses {
		pid := pending[0]
		pending = pending[1:]
		if pid <= 0 || seen[pid] {
			continue
		}
		seen[pid] = true
		n.thread(pid)
		p := readProcess(pid)
		if p == nil {
			continue
		}
		for _, thread := range p.tasks {
			if thread != pid {
				n.thread(thread)
			}
		}
		if p.group == t.Group && p.state != 'Z' && p.state != 'T' {
			found = append(found, p)
		}
		for _, thread := range p.tasks {
			pending = append(pending, children(pid, thread)...)
		}
	}
	return found
}

// readProcess returns nil if there is no such process.
func readProcess(pid int) *process {
	stat, err := readFile(procPath(pid, "stat"))
	if err != nil {
		return nil
	}
	// The name is in parentheses, and may itself hold anything.
	begin, end := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	fields := strings.Fields(string(stat[end+1:]))
	if begin < 0 || end < begin || len(fields) < 18 {
		return nil
	}
	p := &process{pid: pid, name: string(stat[begin+1 : end]), state: fields[0][0]}
	p.group, _ = strconv.Atoi(fields[2])
	tty, _ := strconv.ParseUint(fields[4], 10, 32)
	// The kernel's old form of a device number: new_encode_dev().
	p.tty = unix.Mkdev(uint32(tty>>8&0xfff), uint32(tty&0xff|tty>>12&0xfff00))
	if p.tasks = []int{pid}; fields[17] != "1" {
		p.tasks = threads(pid)
	}
	return p
}

// Name returns the name of the program of a process, at most 15 bytes of any kind; "": there is no
// such process.
func Name(pid int) string {
	if p := readProcess(pid); p != nil {
		return p.name
	}
	return ""
}

// threads returns the ids of a process's threads, as many as are looked at.
func threads(pid int) []int {
	dir, err := os.Open(procPath(pid, "task"))
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(maxThreads)
	threads := make([]int, 0, len(names))
	for _, name := range names {
		if id, err := strconv.Atoi(name); err == nil {
			threads = append(threads, id)
		}
	}
	return threads
}

// children returns the processes that a thread has started and that still run.
func children(pid, thread int) (pids []int) {
	list, _ := readFile(taskPath(pid, thread, "children"))
	for field := range strings.FieldsSeq(string(list)) {
		if pid, err := strconv.Atoi(field); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// isTerminal reports whether a descriptor of the process is its terminal. It is false if this
// process may not know.
func (p *process) isTerminal(fd int) bool {
	var st unix.Stat_t
	if unix.Stat(procPath(p.pid, "fd/"+strconv.Itoa(fd)), &st) != nil {
		return false
	}
	return st.Mode&unix.S_IFMT == unix.S_IFCHR && (st.Rdev == p.tty || st.Rdev == devTTY)
}

// devTTY is /dev/tty, the controlling terminal of the process that opens it: tty(4).
var devTTY = unix.Mkdev(5, 0)

// writesTerminal reports whether the standard output is the terminal.
func (p *process) writesTerminal() bool { return p.isTerminal(1) }

// isPager reports whether the program shows text page by page.
func (p *process) isPager() bool {
	return slices.Contains([]string{"less", "more", "most", "pg", "man"}, p.name)
}

// lineEditors are the shells that edit lines at their prompt.
var lineEditors = []string{
	"bash", "zsh", "fish", "ksh", "ksh93", "mksh", "tcsh", "csh", "yash", "nu", "xonsh", "elvish",
	"pwsh", "rbash",
}

// isShell reports whether the program is a shell that takes its commands from the terminal.
func (p *process) isShell() bool {
	if !p.isPlain() && !slices.Contains(lineEditors, p.name) {
		return false
	}
	line, err := readFile(procPath(p.pid, "cmdline"))
	args := strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")
	return err == nil && isInteractive(args)
}

// isPlain reports whether the program is a shell that may have no line editor.
func (p *process) isPlain() bool {
	return slices.Contains([]string{"sh", "dash", "ash", "posh", "busybox"}, p.name)
}

// isInteractive reports whether a shell with these arguments takes commands from its terminal.
func isInteractive(args []string) bool {
	takesValue := []string{
		"--rcfile", "--init-file", "-o", "+o", "-O", "+O", "-C", "--init-command",
	}
	if path.Base(args[0]) == "busybox" {
		args = args[1:] // the applet's name
	}
	for i := 1; i < len(args); i++ {
		switch a := args[i]; {
		case slices.Contains(takesValue, a):
			i++
		case strings.HasPrefix(a, "--command"):
			return false
		case strings.HasPrefix(a, "--"):
		case strings.HasPrefix(a, "-"), strings.HasPrefix(a, "+"):
			if strings.Contains(a, "i") {
				return true
			}
			if strings.Contains(a, "c") {
				return slices.Contains(args[i:], "-i")
			}
		default:
			return false // a script
		}
	}
	return true
}
