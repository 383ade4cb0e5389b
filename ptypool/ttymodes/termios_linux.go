package ttymodes

import "golang.org/x/sys/unix"

const (
	getTermios, setTermios = unix.TCGETS, unix.TCSETS

	// noCharacter is _POSIX_VDISABLE: the value of a special character that there is not.
	noCharacter = 0
)

// flagWord is what the flags of termios(3) are in.
type flagWord = uint32

// Those that only Linux has.
var (
	ownCharacters = []character{{16, unix.VSWTC}}
	ownFlags      = []flag{
		{37, input, unix.IUCLC}, {42, input, unix.IUTF8}, {52, local, unix.XCASE},
		{71, output, unix.OLCUC},
	}
)
