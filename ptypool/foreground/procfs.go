package foreground

import (
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// procPath returns the path of what /proc has of a process.
func procPath(pid int, name string) string { return "/proc/" + strconv.Itoa(pid) + "/" + name }

// taskPath returns the path of what /proc has of a thread.
func taskPath(pid, thread int, name string) string {
	return procPath(pid, "task/"+strconv.Itoa(thread)+"/"+name)
}

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

// holds reports whether it still says so.
func (f fact) holds() bool {
	text, err := readFile(f.file)
	return err == nil && string(text) == f.text
}
