package ptypool

import "slices"

// While the kernel edits lines (ICANON of termios(3)) it keeps maxLine bytes of a line that has not
// ended yet, drops what follows, and reports that all was written. A line that was cut may be a
// command that nobody has typed. So the length of the unfinished line is counted, whoever types it,
// and what would not fit is refused whole.
//
// A program that edits lines itself has no such bound, but it may start another: what follows the
// first line counts as what the kernel will edit, unless it is known who reads it.
//
// A word that is erased with VWERASE, and input that the program itself flushes (TCIFLUSH), still
// count. Not counted are the beginning of a line that was typed before this process took the
// terminal over, and input that a program which edits lines itself has not read when it ends: the
// kernel has that already.

// maxLine is how many bytes of a line the kernel keeps, without its end: N_TTY_BUF_SIZE less one in
// drivers/tty/n_tty.c; termios(3), Canonical and noncanonical mode.
const maxLine = 4095

// lineKeys are the characters that change the unfinished line. The zero value, with which there is
// none, is that of a terminal that does not edit lines.
type lineKeys struct {
	edits bool    // ICANON
	ends  [5]byte // what ends a line: \n, VEOF, VEOL, VEOL2, and \r where it becomes \n; 0: none
	erase byte    // VERASE; 0: none
	kill  byte    // VKILL; 0: none
	quote byte    // VLNEXT, which has the next character stand for itself; 0: none
}

// unfinished is the line that has not ended yet.
type unfinished struct {
	bytes  int
	quoted bool // the next character stands for itself
}

// add returns the unfinished line after p has been typed. fits is false if the kernel would drop
// some of p.
func (k lineKeys) add(line unfinished, p []byte) (after unfinished, fits bool) {
	if !k.edits {
		return unfinished{}, true
	}
	for _, c := range p {
		switch {
		case line.quoted || c == 0:
			line.quoted = false
			line.bytes++
		case c == k.ends[0], c == k.ends[1], c == k.ends[2], c == k.ends[3], c == k.ends[4],
			c == k.kill:
			line.bytes = 0
		case c == k.erase:
			line.bytes = max(0, line.bytes-1)
		case c == k.quote:
			line.quoted = true
		default:
			line.bytes++
		}
		if line.bytes > maxLine {
			return line, false
		}
	}
	return line, true
}

// LineFits returns ErrLineTooLong if the terminal would cut a line of p, behind all that has been
// typed, or might once another program reads. What is held counts as typed.
func (t *Term) LineFits(p []byte) error {
	if t.in.to == nil {
		return nil
	}
	t.held.mu.Lock()
	defer t.held.mu.Unlock()
	return t.held.lineFits(p, false)
}

// lineFits is LineFits with mu held. flushed: all that was typed before is dropped first.
func (h *heldQueue) lineFits(p []byte, flushed bool) error {
	h.in.mu.Lock()
	defer h.in.mu.Unlock()
	keys := h.in.to.LineKeys()
	if !keys.edits {
		return h.laterLinesFit(p, flushed)
	}
	var line unfinished
	if !flushed {
		line, _ = keys.add(h.in.line, h.buf)
	}
	if _, fits := keys.add(line, p); !fits {
		return ErrLineTooLong
	}
	return nil
}

// laterLinesFit is lineFits while the program edits lines itself.
func (h *heldQueue) laterLinesFit(p []byte, flushed bool) error {
	if !flushed {
		p = slices.Concat(h.buf, p)
	}
	if h.gate == nil || len(p) <= maxLine {
		return nil
	}
	if _, fits := nextProgram.add(unfinished{}, p[h.gate.ReadsOn(p):]); !fits {
		return ErrLineTooLong
	}
	return nil
}

// nextProgram has the characters of a terminal in which lines become no shorter than in any other
// that edits them: nobody knows how the next program sets it.
var nextProgram = lineKeys{edits: true, ends: [5]byte{'\n', 4: '\r'}, quote: 0x16}
