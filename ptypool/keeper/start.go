package keeper

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"termhost/ptypool/cgroup"
	"termhost/ptypool/proctag"
	"termhost/ptypool/ttymodes"
)

// maxProgram, in bytes, bounds an encoded Program: more than the system's limit for arguments and
// environment (execve(2): 6 MiB).
const maxProgram = 16 << 20

// readProgram reads the Program in the file that came with a request.
func readProgram(fd int) (p Program, err error) {
	data, err := io.ReadAll(io.NewSectionReader(fdReaderAt(fd), 0, maxProgram))
	if err == nil {
		err = json.Unmarshal(data, &p)
	}
	if err == nil && (p.ID == "" || len(p.Argv) == 0) {
		err = errors.New("it has no id or no arguments")
	}
	if err != nil {
		return p, fmt.Errorf("keeper: reading what to start: %w", err)
	}
	return p, nil
}

// fdReaderAt reads a file by its descriptor.
type fdReaderAt int

func (fd fdReaderAt) ReadAt(p []byte, off int64) (int, error) {
	n, err := unix.Pread(int(fd), p, off)
	if err == nil && n < len(p) {
		err = io.EOF
	}
	return max(n, 0), err
}

// start runs p in a process session of its own, and in a control group of its own below groups,
// unless that is nil. files are its pidfd, and our ends of its pty or pipes. waitfd is another
// pidfd.
func start(p Program, groups *cgroup.Tree) (pid, waitfd int, files []file, err error) {
	var theirs []int
	defer func() {
		for _, fd := range theirs {
			unix.Close(fd)
		}
		if err != nil {
			closeFiles(files)
		}
	}()
	pidfd := -1
	sys := &syscall.SysProcAttr{Setsid: true, PidFD: &pidfd}
	env := p.Env
	if p.Pipes {
		files, theirs, err = openPipes()
	} else {
		var tty string
		files, theirs, tty, err = openPTY(&p)
		sys.Setctty = true // of descriptor 0
		if p.TTYVar != "" {
			env = append(env, p.TTYVar+"="+tty)
		}
	}
	if err != nil {
		return 0, -1, files, err
	}
	granted, err := p.Grant.Open()
	if err != nil {
		return 0, -1, files, err
	}
	attr := &syscall.ProcAttr{Dir: p.Dir, Env: env, Sys: sys}
	for i := range 3 { // a pty has one descriptor for all three
		attr.Files = append(attr.Files, uintptr(theirs[i%len(theirs)]))
	}
	if granted >= 0 {
		attr.Files = append(attr.Files, uintptr(granted)) // nonce.FD
		defer unix.Close(granted)
	}
	if group := groups.Make(p.ID); group != nil {
		sys.UseCgroupFD, sys.CgroupFD = true, int(group.Fd())
		defer group.Close()
	}
	tag := proctag.New(p.Marker)
	pid, err = proctag.ForkExec(p.Path, p.Argv, attr, tag)
	if err != nil && sys.UseCgroupFD { // Linux before 5.7, or a limit of the groups
		sys.UseCgroupFD = false
		pid, err = proctag.ForkExec(p.Path, p.Argv, attr, tag)
	}
	p.Grant.Give(pid)
	if err != nil {
		return 0, -1, files, err
	}
	if pidfd < 0 {
		err = errors.New("keeper: the system has no pidfd (Linux 5.4 has)")
	} else {
		files = append(files, file{fdPid, pidfd})
		waitfd, err = dup(pidfd)
	}
	if err != nil {
		_ = unix.Kill(-pid, unix.SIGKILL)
		_, _ = syscall.Wait4(pid, nil, 0, nil)
		return 0, -1, files, err
	}
	return pid, waitfd, files, nil
}

// openPTY returns the master and the other side of a new pty, whose device is name. Both are in
// blocking mode: see file.
func openPTY(p *Program) (ours []file, theirs []int, name string, err error) {
	const flags = unix.O_RDWR | unix.O_NOCTTY | unix.O_CLOEXEC
	master, err := unix.Open("/dev/ptmx", flags, 0)
	if err != nil {
		return nil, nil, "", err
	}
	ours = []file{{fdMaster, master}}
	if err := unix.IoctlSetPointerInt(master, unix.TIOCSPTLCK, 0); err != nil {
		return ours, nil, "", err
	}
	n, err := unix.IoctlGetInt(master, unix.TIOCGPTN)
	if err != nil {
		return ours, nil, "", err
	}
	size := unix.Winsize{Col: uint16(p.Cols), Row: uint16(p.Rows),
		Xpixel: uint16(p.Width), Ypixel: uint16(p.Height)}
	if err := unix.IoctlSetWinsize(master, unix.TIOCSWINSZ, &size); err != nil {
		return ours, nil, "", err
	}
	if err := ttymodes.Apply(master, string(p.Modes)); err != nil {
		return ours, nil, "", err
	}
	name = "/dev/pts/" + strconv.Itoa(n)
	tty, err := unix.Open(name, flags, 0)
	if err != nil {
		return ours, nil, "", err
	}
	OwnTTY(tty)
	return ours, []int{tty}, name, nil
}

// openPipes returns the ends of three pipes for a program's standard input, output and error
// output.
func openPipes() (ours []file, theirs []int, err error) {
	for _, name := range []string{fdStdin, fdStdout, fdStderr} {
		var ends [2]int // to read from, to write to
		if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
			return ours, theirs, err
		}
		if name == fdStdin {
			ours, theirs = append(ours, file{name, ends[1]}), append(theirs, ends[0])
		} else {
			ours, theirs = append(ours, file{name, ends[0]}), append(theirs, ends[1])
		}
	}
	return ours, theirs, nil
}

// bootTicks returns the time since boot, in the unit and clock of /proc/PID/stat.
func bootTicks() uint64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return 0
	}
	const perSecond = 100 // USER_HZ, on every architecture that Go supports
	return uint64(ts.Sec)*perSecond + uint64(ts.Nsec)/(1e9/perSecond)
}

// BootID returns an id that changes with each start of the machine; "": unknown.
func BootID() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil || len(id) < 36 {
		return ""
	}
	return string(id[:36])
}
