package vt

import "termhost/ptypool/vt/width"

// Sane brings a terminal in any state into the one that a shell expects: the main screen; all modes
// for keys, mouse and paste off; those that most terminals begin with and the host sets on (1007:
// the wheel scrolls full-screen programs; 2027: grapheme clusters); default style and charsets; the
// cursor visible on a new last line (xterm ctlseqs; kitty keyboard protocol). It is for callers
// that do not know the state; if it is known, use [Screen.AppendRestore].
//
// Each screen has its own keyboard flags, so they are reset on both. Mode 1049 restores the saved
// cursor, and so does CSI u in a terminal without kitty's protocol, so ESC 7 saves it first.
const Sane = saneMost + "\x1b[999;1H\r\n"

// SaneHere is [Sane], but the cursor stays where the main screen has it, and nothing scrolls: it is
// for callers that enter the alternate screen next.
const SaneHere = saneMost + "\x1b8\x1b[0m\x1b(B\x1b)B\x0f"

const saneMost = "\x18\x1b7" + saneKeys + "\x1b[?1049l" + saneKeys +
	"\x1b[?1;5;6;9;12;45;66;67;1000;1002;1003;1004;1005;1006;1015;1016;2004;2026;2031l" +
	"\x1b[?1007;2027h\x1b>\x1b[4;20l\x1b[?7;25h" +
	"\x1b]8;;\x1b\\\x1b[0m\x1b[0\"q\x1b[0 q\x1b(B\x1b)B\x0f\x1b[r"

// SaneMain is [Sane] for a terminal that shows its main screen: it does not move the cursor.
const SaneMain = "\x18\x1b7" + saneKeys +
	"\x1b[?1;5;9;12;45;66;67;1000;1002;1003;1004;1005;1006;1015;1016;2004;2026;2031l\x1b>" +
	"\x1b[4;20l\x1b[?7;25h\x1b]8;;\x1b\\\x1b[0\"q\x1b[r\x1b8\x1b[0m\x1b[0 q\x1b(B\x1b)B\x0f"

// AppendStill appends a sequence that shows text on the last one of a terminal's rows, over what is
// there, and has the terminal send keys as a shell expects them. All else stays as it is, in
// whatever state it is: nobody draws there at present. The text must have no control characters; of
// what does not fit into cols columns the end is left out.
func AppendStill(dst []byte, cols, rows int, text string) []byte {
	w := writer{dst: dst}
	w.str("\x18\x1b[?2026l\x1b7" + saneKeys + "\x1b[?1;6;9;66;67;" +
		"1000;1002;1003;1004;1005;1006;1015;1016;2004;2031l\x1b>" +
		"\x1b]8;;\x1b\\\x1b(B\x0f")
	w.csi("H", rows)
	// A full last row would scroll in some terminals.
	w.str("\x1b[2K\x1b[7m" + width.Cut(text, cols-1, "…") + "\x1b[0m\x1b8")
	return w.dst
}

// AppendBlank appends a sequence that makes a terminal's main screen of so many rows blank, in
// whatever state it is, with the cursor at its beginning, and otherwise as [Sane]. Nothing gets
// into the scrollback.
func AppendBlank(dst []byte, rows int) []byte {
	w := writer{dst: dst}
	w.str(SaneHere)
	for y := range rows { // some terminals keep what is erased as a whole
		w.csi("H", y+1)
		w.str("\x1b[K")
	}
	w.str("\x1b[H")
	return w.dst
}

// saneKeys turns off the keyboard protocols: kitty's, with its whole stack, and modifyOtherKeys.
const saneKeys = "\x1b[<99u\x1b[=0u\x1b[>4;0m\x1b[0m"
