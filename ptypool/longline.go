package ptypool

import (
	"bytes"
	"slices"
)

// While the kernel edits lines (ICANON of termios(3)) it keeps maxLine bytes of a line that has not
// ended yet, drops what follows, and reports that all was written. A line that was cut may be a
// command that nobody has typed. So the length of the unfinished line is counted, whoever types it,
// and what would not fit is refused whole.
//
// A program that edits lines itself has no such bound, but it may start another: input behind the
// first line counts as edited by the kernel, unless its reader is known.
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
	strip bool    // ISTRIP: each character counts without its eighth bit
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
		if k.strip {
			c &= 0x7f
		}
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

// Whole returns why the terminal would not pass p on whole, as one input by InputShown, behind all
// that has been typed: ErrInterrupted, if something stands before an interrupt that drops
// it; or ErrLineTooLong, if it would cut a line, or might once another program reads. What is held
// counts as typed.
func (t *Term) Whole(p []byte) error {
	if t.in.to == nil {
		return nil
	}
	t.held.mu.Lock()
	defer t.held.mu.Unlock()
	line, signals, err := t.held.in.lineFor()
	from, end := signals.last(p)
	switch {
	case err != nil:
		return nil // it has ended, and whoever types is told so
	case from > 0:
		return ErrInterrupted
	}
	return t.held.lineFits(line, p[end:], end > 0)
}

// lineFits returns ErrLineTooLong if the terminal, which reads as line says, would cut a line of p.
// flushed: all that was typed before is dropped first. mu is held.
func (h *heldQueue) lineFits(line Line, p []byte, flushed bool) error {
	h.in.mu.Lock()
	keys, before := h.in.to.LineKeys(), h.in.line
	h.in.mu.Unlock()
	switch {
	case !keys.edits:
		return h.laterLinesFit(line, p, flushed)
	case flushed:
		before = unfinished{}
	default:
		before, _ = keys.add(before, h.buf)
	}
	if _, fits := keys.add(before, p); !fits {
		return ErrLineTooLong
	}
	return nil
}

// laterLinesFit is lineFits while the program edits lines itself. Nobody knows how the next one
// will have the terminal edit them: of what has both, \n alone may end lines, and ^V may quote or
// not. Nothing makes a line shorter.
func (h *heldQueue) laterLinesFit(line Line, p []byte, flushed bool) error {
	if !flushed {
		p = slices.Concat(h.buf, p)
	}
	if h.gate == nil || len(p) <= maxLine {
		return nil
	}
	rest := p[h.gate.ReadsOn(line, p):]
	ends := [5]byte{'\n', 4: '\r'}
	if bytes.IndexByte(rest, '\n') >= 0 {
		ends[4] = 0
	}
	for _, quote := range []byte{0, 'V' & 0x1f} {
		keys := lineKeys{edits: true, ends: ends, quote: quote}
		if _, fits := keys.add(unfinished{}, rest); !fits {
			return ErrLineTooLong
		}
	}
	return nil
}
