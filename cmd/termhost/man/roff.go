package man

import (
	"fmt"
	"strings"
)

// Read returns a manual page to read in a window of that many columns. It knows as much of man(7)
// as Page writes.
func Read(page string, style Style, cols int) string {
	r := roffReader{layout: layout{style: style, cols: cols}, indent: textIndent}
	for line := range strings.Lines(page) {
		r.line(strings.TrimSuffix(line, "\n"))
	}
	r.flush()
	return r.out.String()
}

// roffReader reads a page line by line.
type roffReader struct {
	layout
	indent int      // of the text
	words  []string // of the paragraph that is not written yet
	tag    string   // what the paragraph explains
	tagged bool     // the next line is a tag
	hangs  bool     // paragraphs explain something, and are indented as the first
	exact  bool     // lines stay as they are
}

// line reads a line.
func (r *roffReader) line(line string) {
	switch name, args := request(line); {
	case r.exact && name != "EE":
		r.write(blanks(r.indent+4) + unescaped(line) + "\n")
	case name == "":
		r.text(unescaped(line))
	case name == "B" || name == "I" || name == "BR" || name == "RI":
		r.text(fonts(name, args))
	default:
		r.request(name, args)
	}
}

// text adds a line to the paragraph, or takes it for the tag.
func (r *roffReader) text(text string) {
	if r.tagged {
		r.tag, r.tagged, r.hangs = text, false, true
		return
	}
	r.words = append(r.words, text)
}

// request does what a line that is no text asks for.
func (r *roffReader) request(name string, args []string) {
	r.flush()
	switch name {
	case "TH":
		left, right := args[0]+"("+args[1]+")", args[3]
		room := max(1, r.cols-len(left)-len(right))
		r.write(fmt.Sprintf("%s%s%s\n", left, blanks(room), right))
	case "SH":
		r.hangs = false
		r.heading(strings.Join(args, " "))
	case "PP":
		r.hangs = false
		r.gap()
	case "TP":
		r.gap()
		r.tagged = true
	case "RS":
		r.indent += hangIndent
	case "RE":
		r.indent -= hangIndent
	case "EX", "EE":
		r.exact = name == "EX"
	case "br":
	default:
		panic("the manual page has a request that is not known: " + name)
	}
}

// flush writes the paragraph.
func (r *roffReader) flush() {
	text := strings.Join(r.words, " ")
	switch {
	case r.tag != "":
		r.entry(r.indent, r.tag, text)
	case text == "":
	case r.hangs:
		r.paragraph(blanks(r.indent+hangIndent), r.indent+hangIndent, text)
	default:
		r.paragraph(blanks(r.indent), r.indent, text)
	}
	r.words, r.tag = nil, ""
}

// request splits a line that begins with a request; name is "" if it is text.
func request(line string) (name string, args []string) {
	rest, is := strings.CutPrefix(line, ".")
	if !is {
		return "", nil
	}
	name, rest, _ = strings.Cut(rest, " ")
	for rest = strings.TrimLeft(rest, " "); rest != ""; rest = strings.TrimLeft(rest, " ") {
		var arg string
		if quoted, is := strings.CutPrefix(rest, `"`); is {
			arg, rest, _ = strings.Cut(quoted, `"`)
		} else {
			arg, rest, _ = strings.Cut(rest, " ")
		}
		args = append(args, unescaped(arg))
	}
	return name, args
}

// fonts returns the text of a request for fonts. One with two letters takes them in turn, and joins
// what they are for.
func fonts(name string, args []string) string {
	if len(name) == 1 {
		args = []string{strings.Join(args, " ")}
	}
	var b strings.Builder
	for i, arg := range args {
		if name[i%len(name)] == 'B' {
			arg = emphasized(arg)
		}
		b.WriteString(arg)
	}
	return b.String()
}

var unescape = strings.NewReplacer(`\fB`, string(boldOn), `\fR`, string(boldOff), `\fI`, "",
	`\-`, "-", `\e`, `\`, `\&`, "")

// unescaped returns what groff shows for escape sequences that Page writes.
func unescaped(text string) string { return unescape.Replace(text) }
