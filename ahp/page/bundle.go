package page

import (
	"bytes"
	"fmt"
	"iter"
	"path"
	"regexp"
	"strings"
)

// bundle joins modules into one, so that a browser asks once and not sixty times. Each becomes a
// function that returns what the module exports, behind all that it imports:
//
//	modules['list.js'] = (() => {
//	const { button, fill, h } = modules['dom.js'];
//	...
//	return { List };
//	})();
//
// It knows the one way in which the page's modules import and export, and refuses any other. The
// modules are exported under their names, for checks.
type bundle struct {
	read  func(name string) ([]byte, error)
	state map[string]moduleState
	names map[string]map[string]bool // what each module exports
	out   bytes.Buffer
}

// moduleState is the progress of a module; 0: it is not begun.
type moduleState int

const (
	moduleBegun moduleState = iota + 1 // what it imports is being added
	moduleDone
)

var (
	importLine = regexp.MustCompile(`^import \{ (.+) \} from '\./([\w-]+\.js)';$`)
	exportLine = regexp.MustCompile(`^export (?:async function|function|class|const) (\w+)`)
	// otherLine is what is neither, yet imports or exports.
	otherLine = regexp.MustCompile(`^(import|export)\b[^(]|\bimport\('\./`)
)

// newBundle joins a module with all that it imports.
func newBundle(entry string, read func(name string) ([]byte, error)) (*bundle, error) {
	b := &bundle{read: read, state: map[string]moduleState{}, names: map[string]map[string]bool{}}
	b.out.WriteString("const modules = {};\n")
	if err := b.add(entry); err != nil {
		return nil, err
	}
	b.out.WriteString("export { modules };\n")
	return b, nil
}

// entryExport is what the module of a later bundle exports, for which it is loaded.
const entryExport = "Pane"

// later joins a module with all that it imports and b does not have. It is loaded when it is
// needed, and adds to the modules of b, which is the page's only script.
func (b *bundle) later(entry string) (*bundle, error) {
	l := &bundle{read: b.read, state: b.state, names: b.names}
	l.out.WriteString("const { modules } = await import(document.querySelector('script').src);\n")
	if err := l.add(entry); err != nil {
		return nil, err
	}
	fmt.Fprintf(&l.out, "export const { %s } = modules['%s'];\n", entryExport, entry)
	return l, nil
}

// add adds a module, behind those that it imports.
func (b *bundle) add(name string) error {
	switch b.state[name] {
	case moduleBegun:
		return fmt.Errorf("page: %s imports itself by way of others", name)
	case moduleDone:
		return nil
	}
	b.state[name] = moduleBegun
	text, err := b.read(name)
	if err != nil {
		return err
	}
	var body strings.Builder
	var exports []string
	for line := range codeLines(string(text)) {
		if strings.Count(line, "`")%2 == 1 {
			return fmt.Errorf("page: %s has a text of several lines: %s", name, line)
		}
		if !strings.Contains(line, "import") && !strings.HasPrefix(line, "export") {
			body.WriteString(line)
			continue
		}
		line = strings.TrimSuffix(line, "\n")
		if m := importLine.FindStringSubmatch(line); m != nil {
			line, err = b.imported(name, m[2], m[1])
			if err != nil {
				return err
			}
		} else if m := exportLine.FindStringSubmatch(line); m != nil {
			exports = append(exports, m[1])
			line = strings.TrimPrefix(line, "export ")
		} else if otherLine.MatchString(line) {
			return fmt.Errorf("page: %s has an import or export of a kind that is not known: %s",
				name, line)
		}
		body.WriteString(line + "\n")
	}
	b.names[name] = map[string]bool{}
	for _, e := range exports {
		b.names[name][e] = true
	}
	fmt.Fprintf(&b.out, "modules['%s'] = (() => {\n%sreturn { %s };\n})();\n", name, body.String(),
		strings.Join(exports, ", "))
	b.state[name] = moduleDone
	return nil
}

// codeLines yields the lines of a module without comments at their beginning, indentation and empty
// lines: those are a third of what a browser would have to load.
func codeLines(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		comment := false
		for line := range strings.Lines(text) {
			line = strings.TrimLeft(line, " \t")
			if comment = comment || strings.HasPrefix(line, "/*"); comment {
				_, rest, ends := strings.Cut(line, "*/")
				line, comment = strings.TrimLeft(rest, " "), !ends
			}
			switch {
			case line == "" || line == "\n" || strings.HasPrefix(line, "//"):
			case !yield(line):
				return
			}
		}
	}
}

// imported adds the module that another one imports some names from, and returns how it then has
// them.
func (b *bundle) imported(by, from, list string) (string, error) {
	if err := b.add(from); err != nil {
		return "", err
	}
	for name := range strings.SplitSeq(list, ", ") {
		exported, _, _ := strings.Cut(name, " as ")
		if !b.names[from][exported] {
			return "", fmt.Errorf("page: %s imports %s, which %s does not export", by, exported,
				from)
		}
	}
	return fmt.Sprintf("const { %s } = modules['%s'];", strings.ReplaceAll(list, " as ", ": "),
		from), nil
}

// stylesheet matches a line of the page that names one.
var stylesheet = regexp.MustCompile(`<link rel="stylesheet" href="(.+)">\n`)

// bundleStyles joins the style sheets that the page names, in that order.
func bundleStyles(index []byte, read func(name string) ([]byte, error)) ([]byte, error) {
	var out []byte
	for _, m := range stylesheet.FindAllSubmatch(index, -1) {
		text, err := read(path.Clean(string(m[1])))
		if err != nil {
			return nil, err
		}
		out = append(out, text...)
	}
	return out, nil
}
