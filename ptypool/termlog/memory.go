package termlog

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// InMemory makes an empty log of at most size bytes in memory without a name (memfd_create(2)),
// which is freed when the last process that holds the files has ended.
func InMemory(size int64) (*Log, error) {
	files := make([]*os.File, 0, Segments)
	for i := range Segments {
		fd, err := unix.MemfdCreate(fmt.Sprintf("termhost log.%d", i), unix.MFD_CLOEXEC)
		if err != nil {
			closeAll(files)
			return nil, err
		}
		files = append(files, os.NewFile(uintptr(fd), "memory"))
	}
	return New(files, size)
}
