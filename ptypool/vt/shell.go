package vt

import (
	"bytes"
	"crypto/subtle"
	"strconv"
	"strings"
)

// shell follows the marks of shell integration: OSC 133 (FinalTerm, as kitty, fish and others send
// it) and OSC 633 (VS Code's, which adds the command line and properties).
// https://code.visualstudio.com/docs/terminal/shell-integration
//
// With our own integration in the shell, only its marks count. Each of them has the nonce as its
// last parameter, so that no program can forge commands or their exit codes.
type shell struct {
	nonce     string // of our own integration; see Options.Nonce
	detected  bool
	vscode633 bool   // OSC 633 seen: OSC 133 of the same shell would count twice
	executing bool   // CommandExecuted without CommandFinished
	line      string // the trusted OSC 633;E since the last C
	// prompt is where the last prompt ended, at the mark B. Programs can forge that one.
	prompt place
}

// AppendMarks appends marks that bring a new Screen into this one's state of shell integration:
// whether the shell reports commands, and whether one is running. Discard the events of feeding
// them.
func (s *Screen) AppendMarks(dst []byte) []byte {
	sh := &s.shell
	if !sh.detected {
		return dst
	}
	mark := ";B"
	if sh.executing {
		mark = ";C"
	}
	if !sh.vscode633 {
		return append(append(append(dst, "\x1b]133"...), mark...), '\a')
	}
	dst = append(append(dst, "\x1b]633"...), mark...)
	if sh.nonce != "" {
		dst = append(append(dst, ';'), sh.nonce...)
	}
	return append(dst, '\a')
}

// finalTerm handles the body of OSC 133. m is what the shell has printed before. over: it says that
// a command has ended.
func (sh *shell) finalTerm(o *output, m *model, body string) (over bool) {
	if body == "B" {
		sh.prompt = m.here()
	}
	kind, rest, ok := sh.parseFinalTerm(body)
	return ok && sh.mark(o, kind, rest)
}

// vscode is finalTerm for OSC 633. pass gives viewers a mark that counts.
func (sh *shell) vscode(o *output, m *model, body string, pass func(kind, params string)) (
	over bool,
) {
	kind, rest, ok := sh.parseVSCode(body)
	if !ok {
		return false
	}
	switch kind {
	case "E":
		sh.line = ""
		if sh.nonce != "" && len(rest) <= maxCommandLine {
			sh.line = unescape(rest)
		}
	case "P":
		name, value, _ := strings.Cut(rest, "=")
		switch name {
		case "Cwd":
			if uri := fileURI(unescape(value)); uri != "" {
				o.event().Cwd(uri)
			}
		case "Again": // our own: the last command's text, which may be that of this one
			if line := unescape(value); sh.nonce != "" && line == m.lineSince(sh.prompt) {
				sh.line = line
			}
		}
	case "D":
		pass(kind, rest)
		return sh.mark(o, kind, rest)
	default:
		pass(kind, "")
		return sh.mark(o, kind, rest)
	}
	return false
}

// sameNonce reports whether the body of an OSC that ends with the nonce now also did before control
// characters were removed from it: otherwise a program could make a nonce that package nonce has
// not seen.
func (sh *shell) sameNonce(before, now []byte) bool {
	nonce := []byte(sh.nonce)
	return sh.nonce == "" || bytes.HasSuffix(before, nonce) || !bytes.HasSuffix(now, nonce)
}

// trusted reports whether a nonce is the one given to our own integration.
func (sh *shell) trusted(nonce string) bool {
	return subtle.ConstantTimeCompare([]byte(nonce), []byte(sh.nonce)) == 1
}

// mark handles the marks that both protocols have: A prompt start, B prompt end, C output start, D
// finished. over: a command has ended.
func (sh *shell) mark(o *output, kind, rest string) (over bool) {
	switch kind {
	case "A", "B", "C", "D":
	default:
		return false
	}
	if !sh.detected {
		sh.detected = true
		o.event().CommandDetection()
	}
	over = kind != "B" && sh.executing
	switch kind {
	case "A":
		o.event().PromptStart()
	case "C":
		sh.finish(o, "")
		sh.executing = true
		line := sh.line
		sh.line = ""
		o.event().CommandExecuted(line)
	case "D":
		sh.finish(o, rest)
		sh.line = ""
	}
	return over
}

// finish ends the running command, if there is one. params are those of the mark D; "": there is
// none.
func (sh *shell) finish(o *output, params string) {
	if !sh.executing {
		return
	}
	sh.executing = false
	code, known := exitCode(params)
	if !known {
		code = 0
	}
	o.event().CommandFinished(code, known)
}

// unescape reverses VS Code's escaping: \\ for a backslash, \xNN for a byte.
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
