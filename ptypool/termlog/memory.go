package termlog

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// InMemory makes an empty log of at most size bytes in memory that has no name (memfd_create(2)):
// it is gone when the last process that holds the files is.
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
