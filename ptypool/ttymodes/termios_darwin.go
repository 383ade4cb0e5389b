package ttymodes

import "golang.org/x/sys/unix"

const (
	getTermios, setTermios = unix.TIOCGETA, unix.TIOCSETA

	// noCharacter is _POSIX_VDISABLE: the value of a special character that there is not.
	noCharacter = 0xff
)

// flagWord is what the flags of termios(3) are in.
type flagWord = uint64

// Those that macOS has beside what all systems have.
var (
	ownCharacters = []character{{11, unix.VDSUSP}, {17, unix.VSTATUS}}
	ownFlags      = []flag{{42, input, unix.IUTF8}}
)
