package man

import (
	"regexp"
	"strings"
	"testing"

	"termhost/ptypool/vt/width"
	"termhost/sshd/verbs"
)

// overstruck matches a bold character as pagers know it.
var overstruck = regexp.MustCompile(`(.)\x08(.)`)

// thePage is the page with one command.
func thePage() string {
	return Page("1.2", []Command{{"serve", "[-c FILE]", `a \ and "quotes"`}}, verbs.Verbs())
}

// Topics are read without the signs of Markdown, in lines that fit, but for code.
func TestTopicsAreThereToRead(t *testing.T) {
	const cols = 70
	names, titles := Topics()
	for i, name := range names {
		text := ReadTopic(name, Overstrike, cols)
		plain := overstruck.ReplaceAllString(text, "$1")
		if !strings.HasPrefix(plain, titles[i]+"\n") || strings.HasPrefix(text, titles[i]) {
			t.Errorf("%s: the title is not in bold: %.60q", name, text)
		}
		code := ""
		for line := range strings.Lines(Topic(name)) {
			if at := strings.Index(line, codeIndent); at == 0 || at == 3 {
				code += line
			}
		}
		for line := range strings.Lines(plain) {
			line = strings.TrimSuffix(line, "\n")
			switch words := strings.TrimSpace(line); {
			case words != "" && strings.Contains(code, words):
			case strings.ContainsAny(line, "`\x08\x0e\x0f"),
				strings.HasPrefix(words, "|"), strings.HasPrefix(words, "#"):
				t.Errorf("%s: signs are left: %q", name, line)
			case width.String(line) > cols && strings.Contains(words, " "):
				t.Errorf("%s: too long: %q", name, line)
			}
		}
		if strings.Contains(plain, "\n\n\n") {
			t.Errorf("%s: more than one blank line", name)
		}
	}
}

func TestATopicIsSet(t *testing.T) {
	l := &layout{style: SGR, cols: 40}
	l.markdown(textIndent, strings.Split("# Title\n\nSome `code` of an *operator* that is\nset anew.\n\n"+
		"- one item, which is longer than a line\n  goes on\n\n      code  2\n\n| a | b | |\n|---|---|---|\n"+
		"| `x` | y | z |\n\n    code  1", "\n"))
	const want = "\x1b[1mTitle\x1b[0m\n" +
		"    Some \x1b[1mcode\x1b[0m of an \x1b[1moperator\x1b[0m that is set\n    anew.\n\n" +
		"    - one item, which is longer than a\n      line goes on\n\n          code  2\n\n" +
		"    \x1b[1mx\x1b[0m\n            b: y\n            z\n\n        code  1\n"
	if got := l.out.String(); got != want {
		t.Errorf("got\n%q, want\n%q", got, want)
	}
}

// The page is read as groff shows it.
func TestThePageIsThereToRead(t *testing.T) {
	page := thePage()
	plain := Read(page, Plain, 70)
	for _, want := range []string{
		"TERMHOST(1)" + strings.Repeat(" ", 70-len("TERMHOST(1)termhost 1.2")) + "termhost 1.2\n",
		"\nNAME\n    termhost - terminal host for people and agents\n",
		"    termhost serve [-c FILE]\n            a \\ and \"quotes\"\n",
		"            -l SEL  only those",
		"                ssh HOST ls\n",
		"    The prefix, Ctrl-\\ unless configured otherwise,",
		"ssh(1), agents over WebSocket",
	} {
		if !strings.Contains(plain, want) {
			t.Errorf("%q is not in\n%s", want, plain)
		}
	}
	for line := range strings.Lines(plain) {
		if strings.HasPrefix(line, ".") || strings.ContainsAny(line, "\x0e\x0f\x08\x1b") ||
			strings.Contains(line, `\f`) || strings.Contains(line, `\-`) {
			t.Errorf("signs are left: %q", line)
		}
	}
	if bold := Read(page, Overstrike, 70); overstruck.ReplaceAllString(bold, "$1") != plain ||
		!strings.Contains(bold, "\nN\bNA\bAM\bME\bE\n") {
		t.Errorf("in bold it differs: %.200q", bold)
	}
}
