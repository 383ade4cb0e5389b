package vt

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// primaryDA answers DA1 after CSI: a VT220 with ANSI colour (22) and clipboard
// writes (52, as kitty and others announce OSC 52).
const primaryDA = "?62;22;52c"

// reply sends an answer to the program.
func (t *Terminal) reply(s string) { t.event().Reply([]byte(s)) }

// replyColor answers a colour query, with the terminator it came with.
func (t *Terminal) replyColor(name string, c RGB, query []byte) {
	end := "\x1b\\"
	if query[len(query)-1] == bel {
		end = "\a"
	}
	r, g, b := c>>16&0xff*0x101, c>>8&0xff*0x101, c&0xff*0x101
	t.reply(fmt.Sprintf("\x1b]%s;rgb:%04x/%04x/%04x%s", name, r, g, b, end))
}

// primaryAttributes is DA1.
func (t *Terminal) primaryAttributes(c *csiSeq) {
	if c.arg(0, 0) == 0 {
		t.reply("\x1b[" + primaryDA)
	}
}

// statusReport is DSR 5 (status) and 6 (cursor position).
func (t *Terminal) statusReport(c *csiSeq) {
	switch c.arg(0, 0) {
	case 5:
		t.reply("\x1b[0n")
	case 6:
		t.reply(fmt.Sprintf("\x1b[%s%d;%dR", prefix(c), t.relY()+1, t.cur.x+1))
	}
}

// prefix returns the prefix of a sequence as a string.
func prefix(c *csiSeq) string {
	if c.prefix == 0 {
		return ""
	}
	return string(rune(c.prefix))
}

// query answers the control functions that ask something; what is not listed
// is not answered. All of them are removed from Data.
func (t *Terminal) query(c *csiSeq) {
	switch csiKey(c.prefix, c.inter, c.final) {
	case csiKey('>', 0, 'c'): // DA2: a VT220, xterm's patch level 277 (from which on SGR mouse is assumed)
		if c.arg(0, 0) == 0 {
			t.reply("\x1b[>1;277;0c")
		}
	case csiKey('=', 0, 'c'): // DA3
		if c.arg(0, 0) == 0 {
			t.reply("\x1bP!|00000000\x1b\\")
		}
	case csiKey('?', 0, 'n'): // DECXCPR; other private reports stay unanswered
		if c.arg(0, 0) == 6 {
			t.statusReport(c)
		}
	case csiKey('>', 0, 'q'): // XTVERSION
		if c.arg(0, 0) == 0 {
			t.reply("\x1bP>|" + strings.TrimSpace("termhost "+CleanTitle(t.opts.Version)) + "\x1b\\")
		}
	case csiKey('?', '$', 'p'), csiKey(0, '$', 'p'): // DECRQM
		t.reply(fmt.Sprintf("\x1b[%s%d;%d$y", prefix(c), c.arg(0, 0), t.modeState(c)))
	case csiKey('?', 0, 'u'): // kitty keyboard flags
		t.reply(fmt.Sprintf("\x1b[?%du", t.kittyFlags()))
	case csiKey('?', 0, 'm'): // XTQMODKEYS
		if c.arg(0, 0) == 4 {
			t.reply(fmt.Sprintf("\x1b[>4;%dm", t.modifyOther))
		}
	}
}

// windowOp is XTWINOPS: sizes are answered, the title stack is kept here, and
// everything else (moving, resizing, reading the title) is not for programs.
func (t *Terminal) windowOp(c *csiSeq) verdict {
	cw, ch := t.opts.CellWidth, t.opts.CellHeight
	switch c.arg(0, 0) {
	case 14:
		t.reply(fmt.Sprintf("\x1b[4;%d;%dt", t.rows*ch, t.cols*cw))
	case 16:
		t.reply(fmt.Sprintf("\x1b[6;%d;%dt", ch, cw))
	case 18:
		t.reply(fmt.Sprintf("\x1b[8;%d;%dt", t.rows, t.cols))
	case 22:
		if c.arg(1, 0) == 1 { // the icon name alone
			break
		}
		if len(t.titleStack) == maxTitleStack {
			t.titleStack = append(t.titleStack[:0], t.titleStack[1:]...)
		}
		t.titleStack = append(t.titleStack, t.title)
	case 23:
		n := len(t.titleStack) - 1
		if c.arg(1, 0) == 1 || n < 0 {
			break
		}
		title := t.titleStack[n]
		t.titleStack = t.titleStack[:n]
		t.setTitle(title)
		t.repl = appendTitle(t.repl[:0], 2, title)
		return replace
	}
	return drop
}

// dcs answers the device control strings that ask something: DECRQSS and
// XTGETTCAP.
func (t *Terminal) dcs(body []byte) {
	switch {
	case bytes.HasPrefix(body, []byte("$q")):
		if s, ok := t.setting(string(body[2:])); ok {
			t.reply("\x1bP1$r" + s + "\x1b\\")
		} else {
			t.reply("\x1bP0$r\x1b\\")
		}
	case bytes.HasPrefix(body, []byte("+q")):
		for name := range strings.SplitSeq(string(body[2:]), ";") {
			t.termcap(name)
		}
	}
}

// setting returns the control sequence, without CSI, that restores what DECRQSS
// asks for.
func (t *Terminal) setting(what string) (string, bool) {
	switch what {
	case "m":
		return string(appendSGR(nil, &t.pen)) + "m", true
	case "r":
		return fmt.Sprintf("%d;%dr", t.grid.top+1, t.grid.bottom+1), true
	case " q":
		return strconv.Itoa(int(t.cursorStyle)) + " q", true
	case "\"q":
		if t.pen.attrs&attrProtected != 0 {
			return "1\"q", true
		}
		return "0\"q", true
	case "\"p":
		return "62;1\"p", true
	}
	return "", false
}

// termcap answers one name of XTGETTCAP, hexadecimal as it came.
func (t *Terminal) termcap(hexName string) {
	name, err := hex.DecodeString(hexName)
	if err != nil {
		t.reply("\x1bP0+r\x1b\\")
		return
	}
	value := ""
	switch string(name) {
	case "TN", "name":
		value = t.opts.Term
	case "Co", "colors":
		value = "256"
	case "RGB":
		value = "8"
	case "Ms":
		value = "\x1b]52;%p1%s;%p2%s\x1b\\"
	case "Tc", "Su": // flags
		t.reply("\x1bP1+r" + hexName + "\x1b\\")
		return
	}
	if value == "" {
		t.reply("\x1bP0+r" + hexName + "\x1b\\")
		return
	}
	t.reply("\x1bP1+r" + hexName + "=" + hex.EncodeToString([]byte(value)) + "\x1b\\")
}
