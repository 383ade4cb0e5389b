package roster

import (
	"fmt"

	"golang.org/x/sys/unix"

	"termhost/ptypool/statefile"
)

// lock keeps other processes from changing the folder's files meanwhile: a command and the host
// that runs may both do.
func (f Folder) lock() (unlock func(), err error) {
	folder, err := statefile.OpenFolder(string(f))
	if err != nil {
		return nil, fmt.Errorf("fleet: %w", err)
	}
	if err := unix.Flock(int(folder.Fd()), unix.LOCK_EX); err != nil {
		folder.Close()
		return nil, fmt.Errorf("fleet: cannot lock %s: %w", f, err)
	}
	return func() { folder.Close() }, nil
}
