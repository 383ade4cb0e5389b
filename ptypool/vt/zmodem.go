package vt

import (
	"encoding/binary"
	"encoding/hex"
)

// zmodem finds the header with which a program begins a Zmodem transfer: ZRQINIT of a sender, or
// ZRINIT of a receiver, in hexadecimal ("The ZMODEM Inter Application File Transfer Protocol",
// Chuck Forsberg, 1988, section 7.3.3): two asterisks, CAN, "B", and in seven pairs of digits the
// type, four bytes and the CRC of these five. No other text is taken for one.
type zmodem struct {
	head [zmodemHead]byte // of it: what follows CAN
	n    int
	on   bool // CAN was the last byte before head
}

const zmodemHead = 1 + 2*7

// begin begins a header: its CAN has come.
func (z *zmodem) begin() { z.n, z.on = 0, true }

// feed takes what follows directly, and reports whether the header is complete.
func (z *zmodem) feed(p []byte) (complete bool) {
	z.on = len(p) == 0 || z.n > 0 || p[0] == 'B'
	z.n += copy(z.head[z.n:], p)
	if !z.on || z.n < len(z.head) {
		return false
	}
	z.on = false
	var bytes [7]byte
	if _, err := hex.Decode(bytes[:], z.head[1:]); err != nil || bytes[0] > 1 {
		return false
	}
	return crc16(bytes[:5]) == binary.BigEndian.Uint16(bytes[5:])
}

// crc16 is the CRC of Zmodem's hexadecimal headers: x^16 + x^12 + x^5 + 1, of ITU-T V.41.
func crc16(p []byte) (crc uint16) {
	for _, b := range p {
		crc ^= uint16(b) << 8
		for range 8 {
			carry := crc >> 15
			crc = crc<<1 ^ carry*0x1021
		}
	}
	return crc
}
