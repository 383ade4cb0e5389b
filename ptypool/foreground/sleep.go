package foreground

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"math/bits"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// wait is how a process waits for its terminal.
type wait int

const (
	nothing wait = iota // it does not wait
	unsure              // it may sleep in a read of the terminal: the kernel does not tell
	polling             // it sleeps in a poll that includes the terminal
	reading             // it sleeps in a read of the terminal
	unknown             // this process may not inspect it
)

// waitsFor returns how the process waits for its terminal, by whichever of its threads.
func (p *process) waitsFor() wait {
	if p.state != 'S' && p.state != 'D' && p.state != 'R' {
		return nothing
	}
	best := nothing
	for _, thread := range p.tasks {
		how, by := p.threadWaits(thread)
		if how > best {
			best, p.reader = how, by
		}
	}
	return best
}

// Reader is a thread that was found waiting for its terminal. The zero value waits for nothing.
type Reader struct{ said fact } // what told so

// Waits reports whether the thread still waits in the same way. It reads one file of /proc.
func (r Reader) Waits() bool { return r.said.holds() }

// threadWaits returns how a thread waits for the terminal, and a Reader with the evidence.
func (p *process) threadWaits(thread int) (how wait, by Reader) {
	said := fact{file: threadPath(thread, "syscall")}
	text, err := readFile(said.file)
	if errors.Is(err, fs.ErrPermission) {
		said.file = threadPath(thread, "wchan")
		where, err := readFile(said.file)
		said.text = string(where)
		how = p.sleepsIn(said.text, err)
		if (how == unknown || how == unsure) && !sleeps(thread) {
			how = nothing
		}
		return how, Reader{said}
	}
	if err != nil {
		return nothing, Reader{said}
	}
	said.text = string(text)
	return p.waitsIn(said.text), Reader{said}
}

// sleeps reports whether a thread sleeps, and does not end. To the kernel one that ends is root's
// when its memory has gone, so that an ordinary user may not inspect it, whatever it has run.
func sleeps(thread int) bool {
	stat, err := readFile(threadPath(thread, "stat"))
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if err != nil || len(fields) < 7 {
		return false
	}
	const exiting = 0x4 // PF_EXITING
	flags, err := strconv.ParseUint(fields[6], 10, 32)
	return err == nil && flags&exiting == 0 && (fields[0] == "S" || fields[0] == "D")
}

// waitsIn returns how a thread waits for the terminal, by its system call.
func (p *process) waitsIn(text string) wait {
	var err error
	var call [7]uint64 // the number, and the arguments
	fields := strings.Fields(text)
	if len(fields) < len(call) {
		return nothing // it is running, or has been stopped
	}
	for i := range call {
		if call[i], err = strconv.ParseUint(fields[i], 0, 64); err != nil {
			return nothing // -1: it is in no system call
		}
	}
	number, args := call[0], call[1:]
	switch {
	case slices.Contains(readCalls, number):
		return p.ifTerminal(int(args[0]), reading)
	case slices.Contains(pollCalls, number):
		return p.polls(args[0], args[1])
	case slices.Contains(selectCalls, number):
		return p.selects(args[0], args[1])
	case slices.Contains(epollCalls, number):
		return p.epolls(int(args[0]))
	}
	return nothing
}

func (p *process) ifTerminal(fd int, how wait) wait {
	if p.isTerminal(fd) {
		return how
	}
	return nothing
}

// maxDescriptors is how many descriptors of a poll are inspected. The terminal is one of the first.
const maxDescriptors = 1024

// polls inspects the pollfds of a poll(2): n at address.
func (p *process) polls(address, n uint64) wait {
	const size = 8 // of a struct pollfd: int fd, short events, short revents
	list := p.memory(address, int(min(n, maxDescriptors))*size)
	for ; len(list) >= size; list = list[size:] {
		fd := int32(binary.NativeEndian.Uint32(list))
		events := binary.NativeEndian.Uint16(list[4:])
		if fd >= 0 && events&unix.POLLIN != 0 && p.isTerminal(int(fd)) {
			return polling
		}
	}
	return nothing
}

// selects inspects the set of descriptors below n that a select(2) waits to read: an array of
// 64-bit words at address.
func (p *process) selects(n, address uint64) wait {
	const size = 8 // of a word
	set := p.memory(address, int(min(n, maxDescriptors)+63)/64*size)
	for first := 0; len(set) >= size; first, set = first+64, set[size:] {
		word := binary.NativeEndian.Uint64(set)
		for ; word != 0; word &= word - 1 {
			if p.isTerminal(first + bits.TrailingZeros64(word)) {
				return polling
			}
		}
	}
	return nothing
}

// epolls inspects an epoll instance: see proc_pid_fdinfo(5).
func (p *process) epolls(epoll int) wait {
	f, err := os.Open(procPath(p.pid, "fdinfo/"+strconv.Itoa(epoll)))
	if err != nil {
		return nothing
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text()) // tfd: 5 events: 19 data: ...
		if len(fields) < 4 || fields[0] != "tfd:" {
			continue
		}
		fd, err := strconv.Atoi(fields[1])
		events, err2 := strconv.ParseUint(fields[3], 16, 32)
		if err == nil && err2 == nil && events&unix.EPOLLIN != 0 && p.isTerminal(fd) {
			return polling
		}
	}
	return nothing
}

// memory returns n bytes of the process's memory, fewer if there are no more.
func (p *process) memory(address uint64, n int) []byte {
	if address == 0 || n == 0 {
		return nil
	}
	buf := make([]byte, n)
	f, err := os.Open(procPath(p.pid, "mem"))
	if err != nil {
		return nil
	}
	defer f.Close()
	got, _ := f.ReadAt(buf, int64(address))
	return buf[:got]
}

// sleepsIn returns how a thread waits for the terminal, by the kernel function in which it sleeps;
// err says if that is unknown. The function does not tell the descriptor, so the process must have
// no other one of the kind open.
func (p *process) sleepsIn(where string, err error) wait {
	files := p.files()
	if err != nil || files == nil {
		return unknown
	}
	hasTerminal, hasOther := false, false
	for fd, file := range files {
		hasTerminal = hasTerminal || p.isTerminal(fd)
		hasOther = hasOther || strings.HasPrefix(file, "socket:") ||
			strings.Contains(file, "inotify")
	}
	in := func(names ...string) bool {
		return slices.ContainsFunc(names, func(name string) bool {
			return strings.HasPrefix(where, name)
		})
	}
	switch {
	case !hasTerminal:
		return nothing
	case in("n_tty_read"), in("wait_woken") && !hasOther:
		return reading
	case in("wait_woken", "0"): // "0": the kernel does not tell
		return unsure
	case in("do_poll", "do_sys_poll", "poll_schedule", "do_select", "core_sys_select"):
		return p.ifTerminal(0, polling)
	case in("ep_poll", "do_epoll_wait"):
		for fd, file := range files {
			if strings.Contains(file, "eventpoll") && p.epolls(fd) == polling {
				return polling
			}
		}
	}
	return nothing
}

// files returns the process's descriptors with their names in /proc/PID/fd; nil: this process may
// not read them.
func (p *process) files() map[int]string {
	dir, err := os.Open(procPath(p.pid, "fd"))
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(maxDescriptors)
	files := make(map[int]string, len(names))
	for _, name := range names {
		fd, err := strconv.Atoi(name)
		file, linkErr := os.Readlink(procPath(p.pid, "fd/"+name))
		if err == nil && linkErr == nil {
			files[fd] = file
		}
	}
	return files
}
