package keeper

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Shared is memory without a name that processes share through its file (memfd_create(2)). It is
// freed when the last of them has closed it. Its size never changes, so a process that has mapped
// it never gets SIGBUS because of a shorter file.
type Shared struct {
	File *os.File
	Mem  []byte
}

// sharedSeals are those of a Shared.
const sharedSeals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL

// NewShared makes size bytes of zeros.
func NewShared(name string, size int) (*Shared, error) {
	fd, err := unix.MemfdCreate("termhost "+name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("keeper: memory for a %s: %w", name, err)
	}
	f := os.NewFile(uintptr(fd), name)
	if err := f.Truncate(int64(size)); err != nil {
		f.Close()
		return nil, err
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, sharedSeals); err != nil {
		f.Close()
		return nil, err
	}
	return MapShared(f, size)
}

// MapShared maps a Shared that another process has made. f belongs to the Shared from then on, even
// if MapShared fails.
func MapShared(f *os.File, size int) (*Shared, error) {
	st, err := f.Stat()
	if err == nil && st.Size() != int64(size) {
		err = fmt.Errorf("keeper: a %s of %d bytes, want %d", f.Name(), st.Size(), size)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	mem, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("keeper: mapping a %s: %w", f.Name(), err)
	}
	return &Shared{File: f, Mem: mem}, nil
}

// Close unmaps the memory, which must not be in use, and closes the file.
func (s *Shared) Close() error {
	err := unix.Munmap(s.Mem)
	if closed := s.File.Close(); err == nil {
		err = closed
	}
	return err
}

// isShared reports whether fd is the file of a Shared.
func isShared(fd int) bool {
	seals, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0)
	return err == nil && seals&sharedSeals == sharedSeals
}
