// Package files is the program behind the SSH subsystem "sftp", which scp, sftp, editors and sshfs
// speak. It runs as a process of its own, like sshd's sftp-server, so that what blocks in the
// system (a FIFO, a network drive) and what a transfer holds ends with that process.
package files

import (
	"errors"
	"io"

	"github.com/pkg/sftp"
	"golang.org/x/sys/unix"
)

// maxOpen bounds how many files one transfer may have open: clients open some tens at a time.
const maxOpen = 512

// Serve serves SFTP to the peer at the other end of in and out, with this process's rights, until
// in ends. Relative paths begin in its working directory. The library serves eight requests at a
// time and reads no further meanwhile, so what a client has asked for takes little memory.
func Serve(in io.Reader, out io.WriteCloser) error {
	limit := unix.Rlimit{Cur: maxOpen, Max: maxOpen}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	// Given a working directory, the library would make relative symbolic links absolute.
	s, err := sftp.NewServer(pipes{in, out})
	if err != nil {
		return err
	}
	if err := s.Serve(); !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// pipes are both directions as one.
type pipes struct {
	io.Reader
	io.WriteCloser
}
