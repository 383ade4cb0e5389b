package vt

import (
	"bytes"
	"net/url"
	"strconv"
	"strings"
)

// trimString returns the body of a complete string sequence, without introducer and terminator.
func trimString(seq []byte) []byte {
	seq = seq[2:]
	if seq[len(seq)-1] == bel {
		return seq[:len(seq)-1]
	}
	return seq[:len(seq)-2]
}

// osc applies an operating system command. One that is passed on has no control characters, and
// ends with BEL or ESC \.
func (s *Screen) osc(seq []byte) verdict {
	body := trimString(seq)
	if printable(body) && seq[len(seq)-1] != 0x9c {
		return s.oscBody(seq, body)
	}
	clean := append([]byte("\x1b]"), withoutControls(body)...)
	if !s.shell.sameNonce(body, clean) {
		return drop
	}
	clean = append(clean, esc, '\\')
	v := s.oscBody(clean, trimString(clean))
	if v == keep {
		s.output.repl = clean
		return replace
	}
	return v
}

// oscBody applies the body of an operating system command. It removes those not listed: see the
// package comment.
func (s *Screen) oscBody(seq, body []byte) verdict {
	num, rest, _ := bytes.Cut(body, []byte{';'})
	n, err := strconv.Atoi(string(num))
	if err != nil || len(num) > 4 {
		return drop
	}
	o := &s.output
	switch n {
	case 0, 1, 2:
		return s.oscTitle(n, rest)
	case 4:
		return s.colors.oscPalette(o, seq, rest)
	case 104:
		s.colors.resetPalette(rest)
		return keep
	case 10, 11, 12:
		return s.colors.oscDynamic(o, n, seq, rest)
	case 110, 111, 112:
		s.colors.dynamic[n-110] = 0
		return keep
	case 7:
		return oscCwd(o, rest)
	case 8:
		return s.oscHyperlink(rest)
	case 9:
		return s.oscNotify9(seq, rest)
	case 22:
		if bytes.IndexByte(rest, '?') >= 0 {
			return drop
		}
		s.pointerUsed = true
		return keep
	case 777:
		oscNotify777(o, seq, rest)
	case 99:
		s.note.osc(o, rest)
	case 52:
		s.oscClipboard(seq, rest)
	case 133:
		kind, params, _ := strings.Cut(string(rest), ";")
		s.passMark(kind, params)
		return s.overProgress(s.shell.finalTerm(o, &s.model, string(rest)))
	case 633:
		return s.overProgress(s.shell.vscode(o, &s.model, string(rest), s.passMark))
	}
	return drop
}

// oscTitle sets the title (0 and 2) or the icon name (1, passed on only).
func (s *Screen) oscTitle(n int, text []byte) verdict {
	title := CleanTitle(string(text))
	if n != 1 {
		s.titles.change(title)
		s.output.event().Title(title)
	}
	if title == string(text) {
		return keep
	}
	s.output.repl = appendTitle(s.output.repl[:0], n, title)
	return replace
}

// oscHyperlink is OSC 8: params ; URI. The text that follows is linked until the next.
func (s *Screen) oscHyperlink(rest []byte) verdict {
	params, uri, ok := bytes.Cut(rest, []byte{';'})
	if !ok {
		return drop
	}
	if len(uri) > maxURI {
		uri = nil
	}
	l := hyperlink{uri: string(uri)}
	for p := range bytes.SplitSeq(params, []byte{':'}) {
		if id, found := bytes.CutPrefix(p, []byte("id=")); found && len(id) <= maxHyperlinkID {
			l.id = string(id)
		}
	}
	s.model.setHyperlink(l)
	if len(rest) > 1 && len(uri) == 0 {
		s.output.repl = append(s.output.repl[:0], "\x1b]8;;\x1b\\"...)
		return replace
	}
	return keep
}

// setHyperlink links the following text; an empty URI ends the link.
func (m *model) setHyperlink(l hyperlink) {
	id := uint32(0)
	if l.uri != "" {
		id = m.hyperlinkID(l)
	}
	st := m.pen
	st.hyperlink = id
	m.setPen(st)
}

// oscCwd is OSC 7, a file:// URI.
func oscCwd(o *output, uri []byte) verdict {
	if !bytes.HasPrefix(uri, []byte("file://")) || len(uri) > maxURI {
		return drop
	}
	o.event().Cwd(escapeURI(string(uri)))
	return keep
}

// escapeURI percent-encodes bytes that a URI cannot contain: shells send paths unencoded.
func escapeURI(s string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if c := s[i]; c <= 0x20 || c >= del || strings.IndexByte("\"<>\\^`{|}", c) >= 0 {
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// fileURI makes a file:// URI of an absolute path. It returns a URI unchanged, and "" for anything
// else.
func fileURI(path string) string {
	switch {
	case len(path) > maxURI:
		return ""
	case strings.HasPrefix(path, "file://"):
		return escapeURI(path)
	case strings.HasPrefix(path, "/"):
		return (&url.URL{Scheme: "file", Path: path}).String()
	}
	return ""
}

// withoutControls returns p without control characters; p itself if it has none.
func withoutControls(p []byte) []byte {
	if printable(p) {
		return p
	}
	clean := make([]byte, 0, len(p))
	for i, b := range p {
		if !controlAt(p, i) && (i == 0 || b&0xc0 != 0x80 || !controlAt(p, i-1)) {
			clean = append(clean, b)
		}
	}
	return clean
}

// printable reports whether p has no control characters.
func printable(p []byte) bool {
	for i := range p {
		if controlAt(p, i) {
			return false
		}
	}
	return true
}

// controlAt reports whether a control character, C0, DEL or C1, begins at p[i].
func controlAt(p []byte, i int) bool {
	b := p[i]
	return b < 0x20 || b == del || b == 0xc2 && i+1 < len(p) && p[i+1] >= 0x80 && p[i+1] < 0xa0
}
