package history

import (
	"bytes"
	"strings"

	"termhost/ptypool/vt"
)

// Find goes to the next place where text is printed on one line, or, if there is none, to the first
// one. It reports whether there is any. Case matters if text has capitals. Escape sequences and
// pauses between the characters are ignored.
func (p *Player) Find(text string) bool {
	return text != "" && (p.find(text, p.next, len(p.events)) || p.find(text, 0, p.next))
}

// find is Find among events[from:to].
func (p *Player) find(text string, from, to int) bool {
	want := []byte(text)
	fold := strings.ToLower(text) == text
	var strip vt.Stripper
	var line []byte // the end of the line so far
	for i := from; i < to && p.goesOn(); i++ {
		if p.events[i].Kind != Output {
			continue
		}
		printed := strip.Append(nil, p.events[i].Text)
		if fold {
			printed = bytes.ToLower(printed)
		}
		line = append(line, printed...)
		line = bytes.ReplaceAll(line, []byte("\r"), nil)
		if bytes.Contains(line, want) {
			p.goTo(i + 1)
			return true
		}
		line = line[max(bytes.LastIndexByte(line, '\n'), len(line)-len(want)+1, 0):]
	}
	return false
}
