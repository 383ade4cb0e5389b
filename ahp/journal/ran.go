package journal

import "termhost/ahp"

// The list of commands is small beside their text, so that it reaches back further.
const (
	maxRan      = 500
	maxRanBytes = 32 << 10 // of all
	maxRanLine  = 512      // bytes of a line: a script that was pasted is no command line
	ranOverhead = 128      // about the bytes of a command in JSON without its line
)

// ran adds a command that has ended to the list.
func (o *Outline) ran(c Command) {
	c.Line, c.Cwd = c.Line[:ahp.WholeRunes(c.Line, maxRanLine)], ""
	o.Ran = newest(append(o.Ran, c), maxRanBytes)
}

// Within returns the outline with as much of the list of commands as takes about so many bytes.
func (o Outline) Within(bytes int) Outline {
	o.Ran = newest(o.Ran, min(bytes, maxRanBytes))
	return o
}

// newest returns the newest commands of a list, within its bounds.
func newest(list []Command, bytes int) []Command {
	first := len(list)
	for first > 0 && len(list)-first < maxRan {
		c := &list[first-1]
		if bytes -= ranOverhead + len(c.Line) + len(c.By); bytes < 0 {
			break
		}
		first--
	}
	return list[first:]
}
