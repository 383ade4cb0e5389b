package ptypool

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"termhost/ptypool/proctag"
)

// ticksPerSecond is USER_HZ, the unit of starttime in /proc/PID/stat: 100 on every architecture
// that Go supports.
const ticksPerSecond = 100

// procID identifies a process: its process id will be used again, but not together with its start
// time.
type procID struct {
	pid   int
	start uint64 // clock ticks since boot
}

// process is one line of the process table: /proc/PID/stat, the marker of /proc/PID/environ, see
// proc(5), and the tag.
type process struct {
	pid     int
	parent  int
	session int
	start   uint64 // clock ticks since boot
	state   byte   // 'Z': zombie, 'X': dead, 'T': stopped
	marker  string // value of MarkerVariable; "": none, or we may not read it
	tag     proctag.Tag
}

func (p process) id() procID { return procID{p.pid, p.start} }

func (p process) alive() bool { return p.state != 'Z' && p.state != 'X' }

// signal sends sig to this process and never to a later one with the same process id. It is not an
// error if the process has ended meanwhile.
func (p process) signal(sig syscall.Signal) error {
	fd, err := unix.PidfdOpen(p.pid, 0)
	if err != nil {
		return ignoreGone(err)
	}
	defer unix.Close(fd)
	// The pidfd stands for one process, whatever gets its id later. If that is the process found in
	// the table, it is the one that is signalled.
	now, err := readProcess(p.pid, new(procReader), false)
	if err != nil || now.id() != p.id() {
		return nil
	}
	return ignoreGone(unix.PidfdSendSignal(fd, sig, nil, 0))
}

func ignoreGone(err error) error {
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	return err
}

// procTable is one scan of all processes.
type procTable struct {
	self     int
	procs    map[int]process
	sessions map[int][]int // process ids by process session
	markers  map[string][]int
	tags     map[proctag.Tag][]int
	children map[int][]int // process ids by parent
}

// scanProcs reads the process table. The result is not an atomic snapshot: a process that starts
// meanwhile may be missing.
func scanProcs() (*procTable, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, fmt.Errorf("ptypool: reading the process table: %w", err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("ptypool: reading the process table: %w", err)
	}
	t := &procTable{
		self:     os.Getpid(),
		procs:    make(map[int]process),
		sessions: make(map[int][]int),
		markers:  make(map[string][]int),
		tags:     make(map[proctag.Tag][]int),
		children: make(map[int][]int),
	}
	var r procReader
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		p, err := readProcess(pid, &r, true)
		if err != nil {
			continue // it has ended, or is hidden from us
		}
		t.procs[pid] = p
		t.sessions[p.session] = append(t.sessions[p.session], pid)
		t.children[p.parent] = append(t.children[p.parent], pid)
		if p.marker != "" {
			t.markers[p.marker] = append(t.markers[p.marker], pid)
		}
		if p.tag != 0 {
			t.tags[p.tag] = append(t.tags[p.tag], pid)
		}
	}
	if len(t.procs) == 0 {
		return nil, errors.New("ptypool: reading the process table: /proc shows no process")
	}
	return t, nil
}

// readProcess reads one process from /proc; marked: with its marker and its tag.
func readProcess(pid int, r *procReader, marked bool) (process, error) {
	dir := "/proc/" + strconv.Itoa(pid)
	stat, err := r.read(dir + "/stat")
	if err != nil {
		return process{}, err
	}
	p, err := parseStat(pid, stat)
	if err != nil || !marked || !p.alive() {
		return p, err
	}
	p.tag = proctag.Of(pid)
	if env, err := r.read(dir + "/environ"); err == nil { // else it is another user's
		p.marker = findMarker(env)
	}
	return p, nil
}

// parseStat reads the fields after the command, which is in parentheses and may contain any
// characters.
func parseStat(pid int, stat []byte) (process, error) {
	i := bytes.LastIndexByte(stat, ')')
	f := bytes.Fields(stat[i+1:])
	if i < 0 || len(f) < 20 {
		return process{}, fmt.Errorf("ptypool: /proc/%d/stat has an unknown form", pid)
	}
	p := process{pid: pid, state: f[0][0]}
	var errs [3]error
	p.parent, errs[0] = strconv.Atoi(string(f[1]))
	p.session, errs[1] = strconv.Atoi(string(f[3]))
	p.start, errs[2] = strconv.ParseUint(string(f[19]), 10, 64)
	return p, errors.Join(errs[:]...)
}

// findMarker returns the value of MarkerVariable in an environment block; if it occurs several
// times the last one counts, as in a shell.
func findMarker(env []byte) string {
	const prefix = MarkerVariable + "="
	for {
		i := bytes.LastIndex(env, []byte(prefix))
		if i < 0 {
			return ""
		}
		if i == 0 || env[i-1] == 0 {
			value, _, _ := bytes.Cut(env[i+len(prefix):], []byte{0})
			return string(value)
		}
		env = env[:i]
	}
}

// bootTicks returns the time since boot in the unit and clock of process.start.
func bootTicks() uint64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return 0 // then the process session alone proves nothing
	}
	return uint64(ts.Sec)*ticksPerSecond + uint64(ts.Nsec)/(1e9/ticksPerSecond)
}
