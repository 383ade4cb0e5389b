package vt

import (
	"bytes"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"
)

// trimString returns what is between the introducer and the terminator of
// a complete string sequence.
func trimString(seq []byte) []byte {
	seq = seq[2:]
	if seq[len(seq)-1] == bel {
		return seq[:len(seq)-1]
	}
	return seq[:len(seq)-2]
}

// osc applies an operating system command. What is passed on is free of control
// characters and ends with BEL or ESC \.
func (t *Terminal) osc(seq []byte) verdict {
	body := trimString(seq)
	if printable(body) && seq[len(seq)-1] != 0x9c {
		return t.oscBody(seq, body)
	}
	clean := []byte("\x1b]")
	for i, b := range body {
		if !controlAt(body, i) && (i == 0 || b&0xc0 != 0x80 || !controlAt(body, i-1)) {
			clean = append(clean, b)
		}
	}
	clean = append(clean, esc, '\\')
	v := t.oscBody(clean, trimString(clean))
	if v == keep {
		t.repl = clean
		return replace
	}
	return v
}

// oscBody applies the body of an operating system command. Those not listed are
// removed; see the package comment.
func (t *Terminal) oscBody(seq, body []byte) verdict {
	num, rest, _ := bytes.Cut(body, []byte{';'})
	n, err := strconv.Atoi(string(num))
	if err != nil || len(num) > 4 {
		return drop
	}
	switch n {
	case 0, 1, 2:
		return t.oscTitle(n, seq, rest)
	case 4:
		return t.oscPalette(seq, rest)
	case 104:
		t.resetPalette(rest)
		return keep
	case 10, 11, 12:
		return t.oscDynamic(n, seq, rest)
	case 110, 111, 112:
		t.colors.dynamic[n-110] = 0
		return keep
	case 7:
		return t.oscCwd(rest)
	case 8:
		return t.oscLink(rest)
	case 9:
		return t.oscNotify(rest)
	case 22, 777:
		if bytes.IndexByte(rest, '?') >= 0 && n == 22 {
			return drop
		}
		return keep
	case 52:
		t.oscClipboard(seq, rest)
	case 133:
		t.finalTerm(string(rest))
	case 633:
		t.vscode(string(rest))
	}
	return drop
}

// oscTitle sets the title (0 and 2) or the icon name (1, passed on only).
func (t *Terminal) oscTitle(n int, seq, text []byte) verdict {
	title := CleanTitle(string(text))
	if n != 1 {
		t.setTitle(title)
	}
	if title == string(text) {
		return keep
	}
	t.repl = appendTitle(t.repl[:0], n, title)
	return replace
}

func appendTitle(dst []byte, n int, title string) []byte {
	dst = append(dst, esc, ']')
	dst = strconv.AppendInt(dst, int64(n), 10)
	dst = append(dst, ';')
	dst = append(dst, title...)
	return append(dst, esc, '\\')
}

// setTitle records a title and tells the sink.
func (t *Terminal) setTitle(title string) {
	t.title, t.titled = title, true
	t.event().Title(title)
}

// CleanTitle returns s without control characters (C0, DEL, C1) and invalid
// UTF-8, cut to MaxTitle bytes at a rune boundary. It is safe to write to any
// terminal.
func CleanTitle(s string) string {
	clean := true
	for i := 0; i < len(s) && clean; i++ {
		clean = s[i] >= 0x20 && s[i] < del
	}
	if clean && len(s) <= MaxTitle {
		return s
	}
	var b strings.Builder
	for i, n := 0, 0; i < len(s); i += n {
		var r rune
		r, n = utf8.DecodeRuneInString(s[i:])
		if r < 0x20 || r >= del && r < 0xa0 || r == utf8.RuneError && n == 1 {
			continue
		}
		if b.Len()+n > MaxTitle {
			break
		}
		b.WriteString(s[i : i+n])
	}
	return b.String()
}

// oscCwd is OSC 7, a file:// URI.
func (t *Terminal) oscCwd(uri []byte) verdict {
	if !bytes.HasPrefix(uri, []byte("file://")) || len(uri) > maxURI {
		return drop
	}
	t.event().Cwd(escapeURI(string(uri)))
	return keep
}

// escapeURI percent-encodes the bytes that a URI cannot have; shells send paths
// as they are.
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

// fileURI makes a file:// URI of an absolute path; it leaves a URI as it is and
// returns "" for anything else.
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

// oscLink is OSC 8: params ; URI. The text that follows is linked until the next.
func (t *Terminal) oscLink(rest []byte) verdict {
	params, uri, ok := bytes.Cut(rest, []byte{';'})
	if !ok {
		return drop
	}
	st := t.pen
	st.link = 0
	if len(uri) > maxURI {
		uri = nil
	}
	if len(uri) > 0 {
		l := link{uri: string(uri)}
		for p := range bytes.SplitSeq(params, []byte{':'}) {
			if id, found := bytes.CutPrefix(p, []byte("id=")); found && len(id) <= maxLinkID {
				l.id = string(id)
			}
		}
		id := t.linkID(l)
		st = t.pen
		st.link = id
	}
	t.setPen(st)
	if len(rest) > 1 && len(uri) == 0 {
		t.repl = append(t.repl[:0], "\x1b]8;;\x1b\\"...)
		return replace
	}
	return keep
}

// printable reports whether p is free of control characters.
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

// oscNotify is OSC 9: a notification, or with a number first one of ConEmu's
// functions, of which only progress (4) is harmless.
func (t *Terminal) oscNotify(rest []byte) verdict {
	if len(rest) > 1 && rest[0] >= '0' && rest[0] <= '9' && bytes.IndexByte(rest[:min(3, len(rest))], ';') > 0 &&
		!bytes.HasPrefix(rest, []byte("4;")) {
		return drop
	}
	return keep
}

// oscClipboard is OSC 52: a write goes to Sink.Clipboard; a read, which would
// let any output read the viewer's clipboard, goes nowhere.
func (t *Terminal) oscClipboard(seq, rest []byte) {
	_, data, ok := bytes.Cut(rest, []byte{';'})
	if !ok || bytes.IndexByte(data, '?') >= 0 {
		return
	}
	t.event().Clipboard(seq)
}
