// Package keyboard knows how keys are named, how a terminal sends them, and how a program reads
// them.
//
// Three things are done with a key, and all are here:
//
//   - a person names it on a command line (Parse);
//   - a program reads it, in the form that it has asked for (Key.Append, with the Modes that
//     the program's screen is in);
//   - a viewer's terminal sends it, with the mouse, the focus and the answers to queries in
//     between (Filter finds the prefix key among all that, HasKeys tells keys from the rest).
//
// The encodings are xterm's (invisible-island.net/xterm/ctlseqs) and those of kitty's keyboard
// protocol (sw.kovidgoyal.net/kitty/keyboard-protocol).
//
// The package does no I/O. Nothing in it but Answers has a clock.
package keyboard

import "unicode"

// Interrupt is what ctrl-C sends: a terminal line's usual VINTR (termios(3)).
const Interrupt = 0x03

// Key is one press of a key.
type Key struct {
	// Code is the character that the key types, or one of the constants below. An upper-case letter
	// is the key of the lower-case one with Shift.
	Code rune
	Mods Mods
}

// Mods is a set of modifiers; its value is xterm's modifier parameter less 1.
type Mods uint8

// The modifiers.
const (
	Shift Mods = 1 << iota
	Alt
	Ctrl
)

// The keys that type no character. The keypad's digits are KP0 to KP9, the function keys F1 to F24.
const (
	Enter rune = unicode.MaxRune + 1 + iota
	Tab
	Escape
	Backspace
	Up
	Down
	Right
	Left
	Home
	End
	Insert
	Delete
	PageUp
	PageDown
	KPDecimal
	KPDivide
	KPMultiply
	KPSubtract
	KPAdd
	KPEnter
	KPEqual
	KP0
	KP9 = KP0 + 9
	F1  = KP9 + 1
	F12 = F1 + 11
	F24 = F1 + 23
)

const (
	esc = 0x1b
	del = 0x7f
)
