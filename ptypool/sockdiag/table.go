package sockdiag

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"strconv"
	"strings"
)

// readTable looks for a socket in the system's tables. One that an IPv4 address belongs to may be
// in that of IPv6. It fails with ErrNone.
func readTable(own, other netip.AddrPort) (Socket, error) {
	failed := ErrNone
	for _, table := range []struct {
		path string
		as16 bool
	}{{"/proc/self/net/tcp", false}, {"/proc/self/net/tcp6", true}} {
		if !table.as16 && !own.Addr().Unmap().Is4() {
			continue
		}
		f, err := os.Open(table.path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // a kernel without IPv6
		}
		if err == nil {
			var s Socket
			s, err = findIn(f, hexAddr(own, table.as16), hexAddr(other, table.as16))
			f.Close()
			if err == nil {
				return s, nil
			}
		}
		if !errors.Is(err, ErrNone) {
			failed = fmt.Errorf("sockdiag: %w", err)
		}
	}
	return Socket{}, failed
}

// findIn looks for a socket in a table of proc(5), whose columns are the number, the address, the
// other end's, the state, the queues, timers, retransmissions, the user id, the timeout and the
// inode.
func findIn(r io.Reader, own, other string) (Socket, error) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) < 10 || f[1] != own || f[2] != other || f[9] == "0" {
			continue
		}
		uid, err := strconv.Atoi(f[7])
		inode, ierr := strconv.ParseUint(f[9], 10, 64)
		return Socket{Inode: inode, UID: uid}, errors.Join(err, ierr)
	}
	if err := lines.Err(); err != nil {
		return Socket{}, err
	}
	return Socket{}, ErrNone
}
