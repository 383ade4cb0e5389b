package bench

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is what /proc tells of one.
type process struct {
	pid, parent int
	name        string
	seconds     float64 // of CPU time
	line        string  // the command line
}

// processes returns all processes, by their ids.
func processes() map[int]process {
	const tick = 100 // USER_HZ, the same on every Linux
	all := map[int]process{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is good
	for _, file := range stats {
		data, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		open, end := bytes.IndexByte(data, '('), bytes.LastIndexByte(data, ')')
		fields := strings.Fields(string(data[end+1:]))
		p := process{name: string(data[open+1 : end])}
		p.pid, _ = strconv.Atoi(strings.TrimSpace(string(data[:open])))
		p.parent, _ = strconv.Atoi(fields[1])
		for _, ticks := range fields[11:13] { // utime, stime
			n, _ := strconv.ParseFloat(ticks, 64)
			p.seconds += n / tick
		}
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline")) // "": it has ended
		p.line = string(line)
		all[p.pid] = p
	}
	return all
}

// servers returns the processes of a server without those of the programs that run in it: its first
// one and, of its descendants and of the processes with the folder in their command lines, those
// with one of the names. sshd serves each connection by other processes, and tmux's server has no
// parent.
func servers(pid int, dir string, names []string) (list []process) {
	all := processes()
	named := func(p process) bool {
		for _, name := range names {
			if strings.HasPrefix(p.name, name) {
				return true
			}
		}
		return false
	}
	for _, p := range all {
		within := strings.Contains(p.line, dir)
		for at := p.pid; at > 1 && !within; at = all[at].parent {
			within = at == pid
		}
		if p.pid == pid || within && named(p) && p.pid != os.Getpid() {
			list = append(list, p)
		}
	}
	return list
}

// kibibytes returns a figure of a file of /proc whose lines are "NAME: N kB"; 0: it is not there.
func kibibytes(file, name string) int {
	n := figure(file, name)
	if math.IsNaN(n) {
		return 0
	}
	return int(n)
}

// resident returns how much memory a process has in RAM, in KiB.
func (p process) resident() int {
	return kibibytes(fmt.Sprintf("/proc/%d/status", p.pid), "VmRSS")
}

// share returns how much of the machine's memory a process takes, in KiB: of what it shares with
// others it has its part. Where the system hides that (root sees it of every process), it is all
// that the process has in RAM, which is more.
func (p process) share() float64 {
	pss := figure(fmt.Sprintf("/proc/%d/smaps_rollup", p.pid), "Pss")
	if math.IsNaN(pss) {
		return float64(p.resident())
	}
	return pss
}

// ran returns for how long a process's threads that run now have run. It is exact, where seconds
// leaves out what is less than a tick.
func (p process) ran() (d time.Duration) {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", p.pid)) // it is good
	for _, file := range threads {
		data, _ := os.ReadFile(file) // "": it has ended
		first, _, _ := strings.Cut(string(data), " ")
		n, _ := strconv.ParseInt(first, 10, 64)
		d += time.Duration(n)
	}
	return d
}

// switches returns how often a process's threads that run now have given up a CPU.
func (p process) switches() (n float64) {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", p.pid)) // the pattern is good
	for _, file := range threads {
		n += figure(file, "voluntary_ctxt_switches") + figure(file, "nonvoluntary_ctxt_switches")
	}
	return n
}

// calls returns how often a process has called read, write and their kind. NaN: the system hides
// it.
func (p process) calls() float64 {
	file := fmt.Sprintf("/proc/%d/io", p.pid)
	return figure(file, "syscr") + figure(file, "syscw")
}

// figure returns a figure of a file of /proc whose lines are "NAME: N". 0: the process has ended;
// NaN: the system hides it.
func figure(file, name string) float64 {
	data, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ESRCH):
		return 0
	case err != nil:
		return math.NaN()
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			n, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			if err == nil {
				return n
			}
		}
	}
	return math.NaN()
}

// descriptors returns how many descriptors a process has open.
func (p process) descriptors() int {
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.pid))
	if err != nil {
		return 0
	}
	return len(entries)
}

// Private returns how much memory that it shares with no other, in KiB, the largest process takes
// that descends from pid and has a text in its command line.
func Private(pid int, text string) (most int) {
	all := processes()
	for _, p := range all {
		at := p.parent
		for at > 1 && at != pid {
			at = all[at].parent
		}
		if at == pid && strings.Contains(p.line, text) {
			file := fmt.Sprintf("/proc/%d/smaps_rollup", p.pid)
			most = max(most, kibibytes(file, "Private_Clean")+kibibytes(file, "Private_Dirty"))
		}
	}
	return most
}

// Share returns how much of the machine's memory a server's processes take, in KiB: pid and, of its
// descendants and of the processes with the folder in their command lines, those with one of the
// names.
func Share(pid int, dir string, names ...string) (kib float64) {
	for _, p := range servers(pid, dir, names) {
		kib += p.share()
	}
	return kib
}
