package vt

import (
	"crypto/subtle"
	"strconv"
	"strings"
)

// shellState follows the shell-integration markers: OSC 133 (FinalTerm, as kitty,
// fish and others send it) and OSC 633 (VS Code's, which adds the command line and
// properties). https://code.visualstudio.com/docs/terminal/shell-integration
type shellState struct {
	detected  bool
	vscode    bool   // OSC 633 seen: OSC 133 from the same shell would count double
	executing bool   // CommandExecuted without CommandFinished
	line      string // the trusted OSC 633;E since the last C
}

// finalTerm handles the body of OSC 133.
func (t *Terminal) finalTerm(body string) {
	if t.shell.vscode {
		return
	}
	kind, rest, _ := strings.Cut(body, ";")
	for param := range strings.SplitSeq(rest, ";") {
		if kind == "A" && (param == "k=s" || param == "k=c" || param == "k=r") {
			return // a continuation or right prompt
		}
	}
	t.marker(kind, rest)
}

// vscode handles the body of OSC 633.
func (t *Terminal) vscode(body string) {
	t.shell.vscode = true
	kind, rest, _ := strings.Cut(body, ";")
	switch kind {
	case "E":
		line, nonce, _ := strings.Cut(rest, ";")
		t.shell.line = ""
		if t.trusted(nonce) && len(line) <= maxCommandLine {
			t.shell.line = unescape(line)
		}
	case "P":
		if path, ok := strings.CutPrefix(rest, "Cwd="); ok {
			if uri := fileURI(unescape(path)); uri != "" {
				t.event().Cwd(uri)
			}
		}
	default:
		t.marker(kind, rest)
	}
}

// trusted reports whether a nonce is the one given to our own integration.
func (t *Terminal) trusted(nonce string) bool {
	want := t.opts.Nonce
	return want != "" && subtle.ConstantTimeCompare([]byte(nonce), []byte(want)) == 1
}

// marker handles the markers that both protocols have: A prompt start, B prompt
// end, C output start, D finished.
func (t *Terminal) marker(kind, rest string) {
	switch kind {
	case "A", "B", "C", "D":
	default:
		return
	}
	s := &t.shell
	if !s.detected {
		s.detected = true
		t.event().CommandDetection()
	}
	switch kind {
	case "A":
		t.event().PromptStart()
	case "C":
		t.finishCommand("")
		s.executing = true
		line := s.line
		s.line = ""
		t.event().CommandExecuted(line)
	case "D":
		code, _, _ := strings.Cut(rest, ";")
		t.finishCommand(code)
		s.line = ""
	}
}

// finishCommand ends the running command, if there is one.
func (t *Terminal) finishCommand(code string) {
	if !t.shell.executing {
		return
	}
	t.shell.executing = false
	n, err := strconv.ParseInt(code, 10, 32)
	if err != nil {
		n = 0
	}
	t.event().CommandFinished(int(n), err == nil)
}

// unescape undoes VS Code's escaping: \\ for a backslash, \xNN for a byte.
func unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		if i+3 < len(s) && s[i+1] == 'x' {
			if n, err := strconv.ParseUint(s[i+2:i+4], 16, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		if i+1 < len(s) && s[i+1] == '\\' {
			i++
		}
		b.WriteByte('\\')
	}
	return b.String()
}
