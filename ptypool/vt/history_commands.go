package vt

// CommandLines says where a shell's command stands in the lines of [Screen.AppendHistoryText],
// counted from 0.
type CommandLines struct {
	// Typed is the line that it was typed on, the last one if there are several. It is From if the
	// line was erased meanwhile.
	Typed int
	// From and To are its output: the lines [From, To). Of a command that runs, To is behind the
	// screen. A last line that does not end shares its row with the next prompt, and is left out.
	From, To int
}

// HistoryCommands returns the commands that the marks of OSC 133 in the scrollback and on the main
// screen tell of, oldest first. It calls more, unless that is nil, as AppendHistoryTextWhile does.
func (s *Screen) HistoryCommands(more func() bool) []CommandLines {
	m, c := &s.model, commandCollector{}
	for b := range m.newestWhile(m.history.lines, more) {
		c.row(readLine(b).marks, b[0] == lineEnds)
	}
	for y := range m.main.rows {
		r := &m.main.rows[y]
		c.row(r.marks, !r.wrapped || y == len(m.main.rows)-1)
	}
	c.ends()
	return c.list
}

// commandCollector finds the commands in rows, which it gets in order.
type commandCollector struct {
	list []CommandLines
	line int  // of the row
	runs bool // the last command has not ended
}

// row takes a row's marks, in the order in which they stand there. ends: it is its line's last row.
func (c *commandCollector) row(r rowMarks, ends bool) {
	switch {
	case r.set&markBare != 0:
		c.begins(c.line, c.line)
	case r.set&markOutput != 0 && r.output == 0:
		c.begins(max(c.line-1, 0), c.line)
	}
	if r.set&markEnd != 0 {
		c.ends()
	}
	if r.set&markOutput != 0 && r.output > 0 {
		c.begins(c.line, c.line+1)
	}
	if ends {
		c.line++
	}
}

func (c *commandCollector) begins(typed, from int) {
	c.ends()
	c.list, c.runs = append(c.list, CommandLines{typed, from, from}), true
}

// ends ends the last command before this row. One of which nothing is left is none.
func (c *commandCollector) ends() {
	if !c.runs {
		return
	}
	last := &c.list[len(c.list)-1]
	last.To, c.runs = max(c.line, last.From), false
	if last.Typed == last.To {
		c.list = c.list[:len(c.list)-1]
	}
}
