// Package ttymodes has the terminal modes that SSH clients send: RFC 4254, section 8. A new
// terminal begins with those of its user's own, as under sshd, so that Backspace, Ctrl-C and
// Ctrl-S mean what they mean to that user.
package ttymodes

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// The opcodes that are no mode: the end, and the first of those without a known argument.
const (
	opEnd     = 0
	opUnknown = 160
)

// disabled says that there is no such special character.
const disabled = 255

// Apply sets the modes in encoded on a terminal, by either side of its pty. As with OpenSSH, the
// opcodes that are not known here are ignored, and so is what follows one whose length nobody
// knows. The speeds are left alone: a pty has none.
func Apply(fd int, encoded string) error {
	if encoded == "" || encoded[0] == opEnd {
		return nil
	}
	tio, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return err
	}
	set(tio, encoded)
	return unix.IoctlSetTermios(fd, setTermios, tio)
}

func set(tio *unix.Termios, encoded string) {
	for len(encoded) > 0 && encoded[0] != opEnd && encoded[0] < opUnknown {
		if len(encoded) < 5 {
			return
		}
		op, arg := encoded[0], binary.BigEndian.Uint32([]byte(encoded[1:5]))
		encoded = encoded[5:]
		for _, c := range characters {
			if c.op == op {
				tio.Cc[c.index] = byte(arg)
				if arg == disabled {
					tio.Cc[c.index] = noCharacter
				}
			}
		}
		for _, f := range flags {
			field := f.field(tio)
			switch {
			case f.op != op:
			case arg != 0:
				*field |= f.bits
			default:
				*field &^= f.bits
			}
		}
	}
}

// Encode returns the modes of a terminal; "": it has none.
func Encode(fd int) string {
	tio, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return ""
	}
	var dst []byte
	for _, c := range characters {
		arg := uint32(tio.Cc[c.index])
		if arg == noCharacter {
			arg = disabled
		}
		dst = binary.BigEndian.AppendUint32(append(dst, c.op), arg)
	}
	for _, f := range flags {
		arg := uint32(0)
		if *f.field(tio)&f.bits != 0 {
			arg = 1
		}
		dst = binary.BigEndian.AppendUint32(append(dst, f.op), arg)
	}
	return string(append(dst, opEnd))
}

// character is the opcode of a special character, with its index in Cc.
type character struct {
	op    byte
	index int
}

// characters are those that this system has.
var characters = append([]character{
	{1, unix.VINTR}, {2, unix.VQUIT}, {3, unix.VERASE}, {4, unix.VKILL}, {5, unix.VEOF},
	{6, unix.VEOL}, {7, unix.VEOL2}, {8, unix.VSTART}, {9, unix.VSTOP}, {10, unix.VSUSP},
	{12, unix.VREPRINT}, {13, unix.VWERASE}, {14, unix.VLNEXT}, {18, unix.VDISCARD},
}, ownCharacters...)

// flag is the opcode of a flag, with its bits in one of the fields of termios(3).
type flag struct {
	op    byte
	field func(*unix.Termios) *flagWord
	bits  flagWord
}

// flags are those that this system has.
var flags = append([]flag{
	{30, input, unix.IGNPAR}, {31, input, unix.PARMRK}, {32, input, unix.INPCK},
	{33, input, unix.ISTRIP}, {34, input, unix.INLCR}, {35, input, unix.IGNCR},
	{36, input, unix.ICRNL}, {38, input, unix.IXON}, {39, input, unix.IXANY},
	{40, input, unix.IXOFF}, {41, input, unix.IMAXBEL},
	{50, local, unix.ISIG}, {51, local, unix.ICANON}, {53, local, unix.ECHO},
	{54, local, unix.ECHOE}, {55, local, unix.ECHOK}, {56, local, unix.ECHONL},
	{57, local, unix.NOFLSH}, {58, local, unix.TOSTOP}, {59, local, unix.IEXTEN},
	{60, local, unix.ECHOCTL}, {61, local, unix.ECHOKE}, {62, local, unix.PENDIN},
	{70, output, unix.OPOST}, {72, output, unix.ONLCR}, {73, output, unix.OCRNL},
	{74, output, unix.ONOCR}, {75, output, unix.ONLRET},
	{90, control, unix.CS7}, {91, control, unix.CS8}, {92, control, unix.PARENB},
	{93, control, unix.PARODD},
}, ownFlags...)

func input(t *unix.Termios) *flagWord   { return &t.Iflag }
func output(t *unix.Termios) *flagWord  { return &t.Oflag }
func control(t *unix.Termios) *flagWord { return &t.Cflag }
func local(t *unix.Termios) *flagWord   { return &t.Lflag }
