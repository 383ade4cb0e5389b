package man

import (
	"regexp"
	"strings"
)

// ReadTopic returns a topic's text to read in a window of that many columns: without the signs of
// Markdown, and with its tables as lists.
func ReadTopic(name string, style Style, cols int) string {
	l := &layout{style: style, cols: cols}
	l.markdown(textIndent, strings.Split(strings.TrimSpace(Topic(name)), "\n"))
	return l.out.String()
}

// markdown writes lines of Markdown, as much of it as topics have: headings, paragraphs, tables,
// lists, and code that is indented.
func (l *layout) markdown(indent int, lines []string) {
	for len(lines) > 0 {
		line, n := lines[0], 1
		marker := listMarker.FindString(line)
		switch {
		case line == "":
			l.gap()
		case strings.HasPrefix(line, "#"):
			l.heading(inline(strings.TrimLeft(line, "# "), l.style))
		case strings.HasPrefix(line, codeIndent):
			l.write(blanks(indent) + line + "\n")
		case strings.HasPrefix(line, "|"):
			n = count(lines, func(s string) bool { return strings.HasPrefix(s, "|") })
			l.table(indent, lines[:n])
		case marker != "":
			n += count(lines[1:], func(s string) bool {
				return s == "" || strings.HasPrefix(s, blanks(len(marker)))
			})
			l.item(indent, marker, lines[:n])
		default:
			n = count(lines, func(s string) bool { return s != "" && !strings.HasPrefix(s, "|") })
			text := inline(strings.Join(lines[:n], " "), l.style)
			l.paragraph(blanks(indent), indent, text)
		}
		lines = lines[n:]
	}
}

const codeIndent = "    "

var listMarker = regexp.MustCompile(`^(- |[0-9]+\. )`)

// count returns how many of the lines, from the first on, are so.
func count(lines []string, is func(string) bool) (n int) {
	for n < len(lines) && is(lines[n]) {
		n++
	}
	return n
}

// item writes an item of a list, whose further lines are indented by the width of its marker.
func (l *layout) item(indent int, marker string, lines []string) {
	inner := make([]string, len(lines))
	inner[0] = strings.TrimPrefix(lines[0], marker)
	for i, line := range lines[1:] {
		inner[i+1] = strings.TrimPrefix(line, blanks(len(marker)))
	}
	n := count(inner, func(s string) bool { return s != "" })
	text := inline(strings.Join(inner[:n], " "), l.style)
	l.paragraph(blanks(indent)+marker, indent+len(marker), text)
	l.markdown(indent+len(marker), inner[n:])
}

// table writes a table as a list: each row is its first cell with the others below it. Where there
// are several of these, each has its column's heading.
func (l *layout) table(indent int, lines []string) {
	heads := cells(lines[0])
	for _, line := range lines[2:] { // below the line that separates the headings
		row := cells(line)
		word := inline(row[0], Plain)
		if l.style != Plain {
			word = emphasized(strings.ReplaceAll(row[0], "`", ""))
		}
		if len(row) == 2 {
			l.entry(indent, word, inline(row[1], l.style))
			continue
		}
		l.entry(indent, word, "")
		for i, cell := range row[1:] {
			text := inline(cell, l.style)
			if heads[i+1] != "" {
				text = inline(heads[i+1], l.style) + ": " + text
			}
			l.paragraph(blanks(indent+hangIndent), indent+hangIndent+2, text)
		}
	}
}

func cells(line string) []string {
	list := strings.Split(strings.Trim(line, "|"), "|")
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	return list
}

// inline shows code, and words that are stressed, in bold. In a plain text they keep their signs.
func inline(text string, style Style) string {
	if style == Plain {
		return text
	}
	var b strings.Builder
	for i, part := range strings.Split(text, "`") {
		if i%2 == 1 {
			b.WriteString(emphasized(part))
			continue
		}
		b.WriteString(stressed.ReplaceAllString(part, emphasized("$1")))
	}
	return b.String()
}

var stressed = regexp.MustCompile(`\*([^*\s](?:[^*]*[^*\s])?)\*`)
