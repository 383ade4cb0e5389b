package foreground

import (
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// procPath returns the path of what /proc has of a process.
func procPath(pid int, name string) string { return "/proc/" + strconv.Itoa(pid) + "/" + name }

// taskPath returns the path of what /proc has of a thread as a part of its process.
func taskPath(pid, thread int, name string) string {
	return procPath(pid, "task/"+strconv.Itoa(thread)+"/"+name)
}

// threadPath returns the path of what /proc has of a thread by itself: syscall, wchan, schedstat. A
// thread is found there like a process, although it is not listed: proc(5), "/proc/tid". To look up
// the path below task, the kernel takes longer.
func threadPath(thread int, name string) string { return procPath(thread, name) }

// readFile returns what a file of /proc says, in half of the system calls of os.ReadFile, which
// tries to have the file polled. The error is a unix.Errno.
func readFile(path string) (text []byte, err error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	text = make([]byte, 0, 512) // most say less
	for {
		text = slices.Grow(text, 1)
		n, err := unix.Read(fd, text[len(text):cap(text)])
		if n <= 0 {
			return text, err
		}
		text = text[:len(text)+n]
	}
}

// fact is what a file of /proc said.
type fact struct{ file, text string }

// holds reports whether it still says so. The file must be one that is read at once.
func (f fact) holds() bool {
	fd, err := unix.Open(f.file, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	text := make([]byte, len(f.text)+1) // so that more is seen
	n, err := unix.Read(fd, text)
	return err == nil && string(text[:n]) == f.text
}
