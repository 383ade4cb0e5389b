package vt

import (
	"bytes"
	"strconv"
	"strings"
)

// Marks finds the marks of shell integration that say where the output of commands begins and ends,
// by the rules by which a [Screen] of the same nonce finds them. It keeps no record of what runs: a
// reader may begin in the middle of a command.
type Marks struct{ shell shell }

// NewMarks returns the Marks of a terminal: see [Options.Nonce].
func NewMarks(nonce string) *Marks { return &Marks{shell{nonce: nonce}} }

// Mark is such a mark.
type Mark struct {
	Finished bool // the command has ended; otherwise it begins
	ExitCode *int // nil: the shell has not told it, or the command begins
}

// Parse returns the mark that a whole escape sequence is; ok is false if it is none.
func (m *Marks) Parse(seq []byte) (mark Mark, ok bool) {
	introduced := bytes.HasPrefix(seq, []byte("\x1b]")) || bytes.HasPrefix(seq, []byte("\xc2\x9d"))
	if !introduced || len(seq) < 4 {
		return mark, false
	}
	raw := trimString(seq)
	body := withoutControls(raw)
	if !m.shell.sameNonce(raw, body) {
		return mark, false
	}
	n, rest := oscNumber(body)
	kind := ""
	switch n {
	case 133:
		kind, rest, ok = m.shell.parseFinalTerm(rest)
	case 633:
		kind, rest, ok = m.shell.parseVSCode(rest)
	}
	if !ok || kind != "C" && kind != "D" {
		return mark, false
	}
	if kind == "D" {
		mark.Finished = true
		if code, known := exitCode(rest); known {
			mark.ExitCode = &code
		}
	}
	return mark, true
}

// oscNumber returns the number that the body of an OSC begins with, and the rest; -1: it has none.
func oscNumber(body []byte) (n int, rest string) {
	num, after, _ := bytes.Cut(body, []byte{';'})
	n, err := strconv.Atoi(string(num))
	if err != nil || len(num) > 4 {
		return -1, ""
	}
	return n, string(after)
}

// parseFinalTerm returns the kind of mark that the body of OSC 133 is, and its parameters; ok is
// false if it does not count.
func (sh *shell) parseFinalTerm(body string) (kind, rest string, ok bool) {
	if sh.vscode633 || sh.nonce != "" {
		return "", "", false
	}
	kind, rest, _ = strings.Cut(body, ";")
	for param := range strings.SplitSeq(rest, ";") {
		if kind == "A" && (param == "k=s" || param == "k=c" || param == "k=r") {
			return "", "", false // a continuation or right prompt
		}
	}
	return kind, rest, true
}

// parseVSCode does the same for OSC 633.
func (sh *shell) parseVSCode(body string) (kind, rest string, ok bool) {
	sh.vscode633 = true
	if sh.nonce != "" {
		end := strings.LastIndexByte(body, ';')
		if end < 0 || !sh.trusted(body[end+1:]) {
			return "", "", false
		}
		body = body[:end]
	}
	kind, rest, _ = strings.Cut(body, ";")
	return kind, rest, true
}

// exitCode returns the exit code in the parameters of a mark D; known: there is one.
func exitCode(params string) (code int, known bool) {
	text, _, _ := strings.Cut(params, ";")
	n, err := strconv.ParseInt(text, 10, 32)
	return int(n), err == nil
}
