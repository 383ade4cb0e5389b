package viewer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"termhost/ahp/host"
	"termhost/ptypool/vt/width"
	"termhost/sshd/wording"
)

// picker is the dialog that lists the terminals and switches to one.
type picker struct {
	s     *Session
	front *front
	say   func(overlay)                            // shows a notice
	goTo  func(t *host.Terminal, text string) bool // is inputLoop.goTo
	here  string                                   // the URI of the terminal that is shown

	mu      sync.Mutex // a leaf, but for the host's locks
	list    []host.Info
	listed  time.Time // when
	failed  string    // why there is no list
	current string    // the URI of the line that the keys act on
	filter  string
	typing  bool      // letters go to the filter
	form    form      // the question below the list
	subject host.Info // its terminal
	answer  string    // the new title so far
	rows    int       // lines of the list in the last drawing
}

// form is the question in the last line of a picker.
type form int

const (
	formNone  form = iota
	formEnd        // whether a terminal is to be ended
	formTitle      // a title
)

// listAge is how old a list may be: each output below it causes a drawing.
const listAge = 400 * time.Millisecond

// pick shows a picker.
func (l *inputLoop) pick() {
	here := l.w.t.URI()
	l.w.front.open(&picker{s: l.w.s, front: l.w.front, say: l.w.say, goTo: l.goTo,
		here: here, current: here})
}

// draw shows the terminals that match, as many as fit, around the current one.
func (p *picker) draw(_, w Window) overlay {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refresh()
	list := p.matching()
	p.rows = max(w.Rows-2, 1)
	at := p.index(list)
	first := max(min(at-p.rows/2, len(list)-p.rows), 0)
	o := overlay{table: true}
	rows := make([][]string, 0, p.rows)
	for _, t := range list[first:min(first+p.rows, len(list))] {
		rows = append(rows, p.columns(t))
	}
	o.lines = aligned(rows)
	if len(list) > 0 {
		o.current = at - first + 1
	}
	if len(list) == 0 {
		o.lines = []string{cmp.Or(p.failed, "no terminal matches")}
	}
	o.lines = append(o.lines, p.prompt())
	return o
}

// refresh asks the host for the list if it is old.
func (p *picker) refresh() {
	if time.Since(p.listed) < listAge {
		return
	}
	p.listed, p.failed = time.Now(), ""
	list, err := p.s.Conn.List()
	if p.list = list; err != nil {
		p.failed = p.s.explain(err)
	}
}

// columns returns a terminal's row: a star for the one that is shown, a mark for those that need
// attention, NAME, state, holder, last command and its age.
func (p *picker) columns(t host.Info) []string {
	star, age := " ", ""
	if t.URI == p.here {
		star = "*"
	}
	if t.WantsYou {
		star = "!"
	}
	if c := t.LastCommand; c != nil {
		since := time.Since(c.StartedAt)
		if c.DurationMs != nil {
			since -= time.Duration(*c.DurationMs) * time.Millisecond
		}
		age = wording.Age(since)
	}
	return []string{star + " " + t.Name, wording.State(t), wording.Holder(t, false), age,
		wording.About(t)}
}

// aligned returns rows as lines with aligned columns.
func aligned(rows [][]string) (lines []string) {
	var widths []int
	for _, row := range rows {
		for i, text := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], width.String(text))
		}
	}
	for _, row := range rows {
		var b strings.Builder
		for i, text := range row {
			b.WriteString(text)
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-width.String(text)+2))
			}
		}
		lines = append(lines, b.String())
	}
	return lines
}

// prompt is the last line: the question, or the filter and the keys.
func (p *picker) prompt() string {
	name := p.subject.Name
	switch {
	case p.form == formEnd:
		return fmt.Sprintf("End %s and its programs? y ends it, any other key does not.", name)
	case p.form == formTitle:
		return fmt.Sprintf("Title of %s: %s_  (Enter sets it, Esc does not)", name, p.answer)
	case p.typing:
		return fmt.Sprintf("Filter: %s_  (Enter goes, arrows move, Esc returns)", p.filter)
	case p.filter != "":
		return fmt.Sprintf("Filter: %s  (Enter goes, x ends, r renames, Esc returns)", p.filter)
	}
	return "Enter goes, j/k move, x ends, r renames, Esc returns; / or a name filters."
}

// matching returns the terminals whose row contains each word of the filter.
func (p *picker) matching() []host.Info {
	words := strings.Fields(strings.ToLower(p.filter))
	return slices.DeleteFunc(slices.Clone(p.list), func(t host.Info) bool {
		text := strings.ToLower(strings.Join(p.columns(t), " "))
		return slices.ContainsFunc(words, func(word string) bool {
			return !strings.Contains(text, word)
		})
	})
}

// index returns where the current terminal is among list; 0 if it is not.
func (p *picker) index(list []host.Info) int {
	return max(slices.IndexFunc(list, func(t host.Info) bool { return t.URI == p.current }), 0)
}
