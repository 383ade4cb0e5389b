package viewer

import (
	"encoding/base64"
	"fmt"
	"sort"
	"strings"

	"termhost/ptypool/keyboard"
	"termhost/sshd/wording"
)

// maxCopy bounds a text that is copied, in bytes: more than most terminals take.
const maxCopy = 192 << 10

// key handles a key: what needs no reading at once.
func (r *reader) key(k keyboard.Key) verdict {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.page.note = ""
	switch {
	case r.help:
		r.help = false
	case r.asking:
		r.ask(k)
	case k.Mods == keyboard.Ctrl && k.Code == 'c', k == keyboard.Key{Code: 'q'}:
		return dialogEnds
	case k.Code == keyboard.Escape && !r.o.whole && !r.page.marks:
		return dialogEnds
	case k.Code == '/':
		r.asking, r.text = true, ""
	case k.Code == '?':
		r.help = true
	default:
		r.do(readerOrder{key: k})
	}
	return dialogStays
}

// ask handles a key of the text to look for. r.mu is held.
func (r *reader) ask(k keyboard.Key) {
	switch {
	case k.Code == keyboard.Enter:
		r.asking = false
		r.do(readerOrder{look: true, text: r.text})
	case k.Code == keyboard.Escape, leaves(k):
		r.asking = false
	default:
		r.text = edited(r.text, k)
	}
}

// act carries out a key's order, and returns a note for the person.
func (r *reader) act(o *readerOrder) (note string) {
	if o.look {
		return r.lookFor(o.text)
	}
	v, k := &r.view, o.key
	half := max(v.rows/2, 1)
	switch ctrl := k.Mods&keyboard.Ctrl != 0; {
	case k.Code == 'j' && !ctrl, k.Code == keyboard.Down, k.Code == keyboard.Enter:
		v.down()
	case k.Code == 'k' && !ctrl, k.Code == keyboard.Up:
		v.up()
	case k.Code == ' ', k.Code == keyboard.PageDown, ctrl && k.Code == 'f':
		v.page(max(v.rows-1, 1))
	case k.Code == 'b', k.Code == keyboard.PageUp:
		v.page(-max(v.rows-1, 1))
	case k.Code == 'd':
		v.page(half)
	case k.Code == 'u':
		v.page(-half)
	case k.Code == 'g', k.Code == keyboard.Home:
		v.goTo(0)
	case k.Code == 'G', k.Code == keyboard.End:
		v.goTo(v.total)
	case k.Code == '[':
		return v.toCommand(-1)
	case k.Code == ']':
		return v.toCommand(1)
	case k.Code == 'n':
		return r.goOn(-1)
	case k.Code == 'N':
		return r.goOn(1)
	case k.Code == 'v':
		v.toggleMark()
	case k.Code == 'o':
		return v.markOutput()
	case k.Code == 'y':
		return r.copy()
	case k.Code == 'r':
		v.again()
		r.begin()
	case k.Code == keyboard.Escape:
		v.mark = -1
	}
	return ""
}

// search is a text that was looked for.
type search struct {
	text  string
	fold  bool
	lines []int // that have it
}

// lookFor looks for text and goes to the last line before the current one that has it, or else to
// the last one of all. Case matters if the text has capitals.
func (r *reader) lookFor(text string) (note string) {
	if text == "" {
		r.look = search{}
		return ""
	}
	fold := strings.ToLower(text) == text
	lines, err := r.view.find(text, fold)
	if err != nil {
		return r.s.explain(err)
	}
	r.look = search{text, fold, lines}
	return r.goOn(-1)
}

// goOn goes to the next line that has the text, down if by is positive.
func (r *reader) goOn(by int) (note string) {
	lines, at := r.look.lines, r.view.at
	switch {
	case r.look.text == "":
		return "/ looks for a text"
	case len(lines) == 0:
		return "not found: " + r.look.text
	}
	i := sort.SearchInts(lines, at) - 1
	if by > 0 {
		i = sort.SearchInts(lines, at+1)
	}
	switch {
	case i < 0:
		i, note = len(lines)-1, "no line before has it: this is the last one"
	case i == len(lines):
		i, note = 0, "no line after has it: this is the first one"
	}
	r.view.goTo(lines[i])
	return note
}

// toCommand goes to the next command, down if by is positive.
func (v *readerView) toCommand(by int) (note string) {
	list := v.commands
	if len(list) == 0 {
		return "its shell has reported no command"
	}
	i := v.commandAt(v.at - 1) // the last one before
	if by > 0 {
		i = v.commandAt(v.at) + 1
	}
	switch {
	case i < 0:
		return "no command comes before this"
	case i == len(list):
		return "no command comes after this"
	}
	v.at = v.clampLine(list[i].Typed)
	v.top, v.skip = v.at, 0
	v.fill()
	return ""
}

// commandAt returns the last command that was typed on a line or before; -1: none was.
func (v *readerView) commandAt(line int) int {
	return sort.Search(len(v.commands), func(i int) bool { return v.commands[i].Typed > line }) - 1
}

// toggleMark marks from the current line on, or nothing more.
func (v *readerView) toggleMark() {
	if v.mark >= 0 {
		v.mark = -1
	} else {
		v.mark = v.at
	}
}

// markOutput marks the output of the command that the current line belongs to.
func (v *readerView) markOutput() (note string) {
	i := v.commandAt(v.at)
	if i < 0 {
		return "this is no command's output"
	}
	c := v.commands[i]
	from, to := c.From, min(c.To, v.total)
	if from >= to {
		return "this command has printed no line"
	}
	v.goTo(to - 1)
	v.mark = from
	v.goTo(v.at)
	return ""
}

// copy copies the lines that are marked, and ends the mark.
func (r *reader) copy() (note string) {
	v := &r.view
	from, to := v.marked()
	if v.total == 0 {
		return "there is nothing to copy"
	}
	text, whole, err := v.text(from, to+1, maxCopy)
	n := wording.Counted(to-from+1, "line")
	switch {
	case err != nil:
		return r.s.explain(err)
	case !whole:
		return fmt.Sprintf("%s are too much for a clipboard: `log` prints them", n)
	}
	v.mark = -1
	r.mu.Lock()
	r.copied = copies(text)
	r.mu.Unlock()
	return "copied " + n + ", if your terminal lets programs copy (OSC 52)"
}

// copies returns what has a terminal copy a text into its clipboard (xterm ctlseqs, OSC 52).
func copies(text string) []byte {
	return fmt.Appendf(nil, "\x1b]52;c;%s\x1b\\", base64.StdEncoding.EncodeToString([]byte(text)))
}
