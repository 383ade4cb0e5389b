package vt

import (
	"bytes"
	"encoding/base64"
)

// copied is what the program has copied last with OSC 52, in base64 and at most maxOSC bytes; empty
// if nothing was. There is one copy for all selections, as in tmux: terminals without a primary
// selection keep only one, too.
type copied string

// oscClipboard is OSC 52 (xterm ctlseqs): Pc, the selections, and Pd, the copy or "?". A write goes
// to Sink.Clipboard. A read is answered at once, with what the program itself has copied last and
// never with a viewer's clipboard, which any output could read then. The answer is base64 alone,
// whatever was copied, so that it types no line at a shell.
func (s *Screen) oscClipboard(seq, rest []byte) {
	selections, data, ok := bytes.Cut(rest, []byte{';'})
	switch {
	case !ok:
	case string(data) == "?":
		s.replyCopied(selections, seq)
	case bytes.IndexByte(data, '?') < 0:
		s.copied = copied(base64.StdEncoding.EncodeToString(decodeBase64(data)))
		s.output.event().Clipboard(seq)
	}
}

// replyCopied answers a read of the selections, with the terminator it came with.
func (s *Screen) replyCopied(selections, query []byte) {
	if len(bytes.Trim(selections, "cpqs01234567")) > 0 {
		return
	}
	end := "\x1b\\"
	if query[len(query)-1] == bel {
		end = "\a"
	}
	o := &s.output
	o.repl = append(append(o.repl[:0], "\x1b]52;"...), selections...)
	o.repl = append(append(append(o.repl, ';'), s.copied...), end...)
	o.event().Reply(o.repl)
}

// AppendCopied appends a sequence that brings what was copied last into a new Screen. Discard the
// events of feeding it.
func (s *Screen) AppendCopied(dst []byte) []byte {
	if s.copied == "" {
		return dst
	}
	return append(append(append(dst, "\x1b]52;c;"...), s.copied...), '\a')
}
