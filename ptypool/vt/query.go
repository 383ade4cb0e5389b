package vt

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// primaryDA answers DA1 after CSI: a VT220 with ANSI colour (22) and clipboard writes (52, as kitty
// and others announce OSC 52). Where a viewer draws pictures, it has sixels, too (4).
const (
	primaryDA       = "?62;22;52c"
	primaryDASixels = "?62;4;22;52c"
)

// primary answers DA1.
func (o *output) primary() {
	if o.sink.DrawsPictures() {
		o.reply("\x1b[" + primaryDASixels)
	} else {
		o.reply("\x1b[" + primaryDA)
	}
}

// queries answers programs' queries to the terminal, from its own facts about the terminal and from
// the screen.
type queries struct {
	version               string // the host's
	term                  string // TERM
	cellWidth, cellHeight int    // in pixels, while the window's are unknown
}

func newQueries(o *Options) queries {
	q := queries{o.Version, o.Term, o.CellWidth, o.CellHeight}
	if q.term == "" {
		q.term = "xterm-256color"
	}
	if q.cellWidth <= 0 || q.cellHeight <= 0 {
		q.cellWidth, q.cellHeight = 8, 16
	}
	return q
}

// csi answers control functions that are queries. Those that are not listed get no answer.
func (q *queries) csi(o *output, s *model, c *csiSeq) {
	n := c.arg(0, 0)
	switch c.key() {
	case csiKey(0, 0, 'c'): // DA1
		if n == 0 {
			o.primary()
		}
	case csiKey('>', 0, 'c'): // DA2
		if n == 0 { // a VT220; xterm's patch level 277, from which on programs assume SGR mouse
			o.reply("\x1b[>1;277;0c")
		}
	case csiKey('=', 0, 'c'): // DA3
		if n == 0 {
			o.reply("\x1bP!|00000000\x1b\\")
		}
	case csiKey(0, 0, 'n'): // DSR
		if n == 5 {
			o.reply("\x1b[0n")
			break
		}
		fallthrough
	case csiKey('?', 0, 'n'): // DECXCPR; other private reports stay unanswered
		if n == 6 {
			o.reply(fmt.Sprintf("\x1b[%s%d;%dR", c.prefixText(), s.relY()+1, s.cur.x+1))
		}
	case csiKey('>', 0, 'q'): // XTVERSION
		if n == 0 {
			o.reply("\x1bP>|" + strings.TrimSpace("termhost "+CleanTitle(q.version)) + "\x1b\\")
		}
	case csiKey('?', '$', 'p'), csiKey(0, '$', 'p'): // DECRQM
		o.reply(fmt.Sprintf("\x1b[%s%d;%d$y", c.prefixText(), n, s.modeState(n, c.prefix == '?')))
	case csiKey('?', 0, 'u'): // kitty keyboard flags
		o.replyFlags(fmt.Sprintf("\x1b[?%du", s.grid.kitty.flags()))
	case csiKey('?', 0, 'm'): // XTQMODKEYS
		if n == 4 {
			o.reply(fmt.Sprintf("\x1b[>4;%dm", s.modes.modifyOther))
		}
	}
}

// dcs answers the device control strings that are queries: DECRQSS and XTGETTCAP.
func (q *queries) dcs(o *output, s *model, body []byte) {
	switch {
	case bytes.HasPrefix(body, []byte("$q")):
		if value, ok := s.setting(string(body[2:])); ok {
			o.reply("\x1bP1$r" + value + "\x1b\\")
		} else {
			o.reply("\x1bP0$r\x1b\\")
		}
	case bytes.HasPrefix(body, []byte("+q")):
		for name := range strings.SplitSeq(string(body[2:]), ";") {
			o.reply(q.termcap(name))
		}
	}
}

// setting returns the control sequence, without CSI, that restores what DECRQSS asks for.
func (m *model) setting(what string) (string, bool) {
	switch what {
	case "m":
		return string(appendSGR(nil, &m.pen)) + "m", true
	case "r":
		return fmt.Sprintf("%d;%dr", m.grid.top+1, m.grid.bottom+1), true
	case " q":
		return strconv.Itoa(int(m.modes.cursorStyle)) + " q", true
	case "\"q":
		if m.pen.attrs&attrProtected != 0 {
			return "1\"q", true
		}
		return "0\"q", true
	case "\"p":
		return "62;1\"p", true
	}
	return "", false
}

// termcap returns the answer to one name of XTGETTCAP, which is in hexadecimal as received.
func (q *queries) termcap(hexName string) string {
	name, err := hex.DecodeString(hexName)
	if err != nil {
		return "\x1bP0+r\x1b\\"
	}
	value := ""
	switch string(name) {
	case "TN", "name":
		value = q.term
	case "Co", "colors":
		value = "256"
	case "RGB":
		value = "8"
	case "Ms":
		value = "\x1b]52;%p1%s;%p2%s\x1b\\"
	case "Tc", "Su": // flags
		return "\x1bP1+r" + hexName + "\x1b\\"
	default:
		return "\x1bP0+r" + hexName + "\x1b\\"
	}
	return "\x1bP1+r" + hexName + "=" + hex.EncodeToString([]byte(value)) + "\x1b\\"
}
