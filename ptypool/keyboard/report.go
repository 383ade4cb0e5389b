package keyboard

import (
	"bytes"
	"strconv"
)

// maxReport bounds the beginning of a report that is held until its end comes, in bytes. The
// longest answers, which are colours, versions and names, have about a hundred.
const maxReport = 1 << 10

// IsReport reports whether p, one whole sequence, is what a terminal sends by itself: see HasKeys.
// With release it is a key, other than a modifier, that was let go.
func IsReport(p []byte) (report, release bool) {
	if reportLen(p) != len(p) {
		return false, false
	}
	params := p[2 : len(p)-1]
	return true, p[1] == '[' && released(params) && !isModifier(params, p[len(p)-1])
}

// HasKeys reports whether p holds anything that a person typed. Everything else is a report, which
// a terminal sends by itself: focus (CSI I, CSI O), mouse (CSI M and CSI <), keys let go, modifiers
// alone, and answers to queries (xterm ctlseqs, "CSI Ps ; Ps R" and the like; kitty keyboard
// protocol, "Report event types"). What could be either counts as a report, so that no answer is
// ever taken for a person. If there are no keys, rest is the beginning of a report whose end has
// not come yet.
func HasKeys(p []byte) (keys bool, rest []byte) {
	for len(p) > 0 {
		n := reportLen(p)
		switch {
		case n == 0:
			return true, nil
		case n == unfinished && len(p) <= maxReport:
			return false, p
		case n == unfinished:
			return true, nil
		}
		p = p[n:]
	}
	return false, nil
}

// Count returns how many keys p holds, of which nothing is pasted.
func Count(p []byte) (keys int) {
	if has, _ := HasKeys(p); !has {
		return 0
	}
	for len(p) > 0 {
		_, n := Read(p)
		if n == 0 { // the rest of a character is missing
			break
		}
		p = p[n:]
		keys++
	}
	return keys
}

// unfinished is the length of a report whose end is missing.
const unfinished = -1

// reportLen returns the length of the report that p begins with; 0 if there is none.
func reportLen(p []byte) int {
	if p[0] != 0x1b {
		return 0
	}
	if len(p) < 3 {
		if len(p) == 1 || bytes.IndexByte([]byte("[]P_"), p[1]) >= 0 {
			return unfinished
		}
		return 0
	}
	if p[1] == '[' {
		return csiReportLen(p)
	}
	return answerLen(p)
}

// answerLen is reportLen for the strings among the answers; p begins with ESC.
func answerLen(p []byte) int {
	if len(p) < 3 {
		return 0
	}
	switch p[1] {
	case ']': // OSC 4, 10 to 19, 52 ...
		return stringReportLen(p, "0123456789")
	case 'P': // DCS: DECRPSS, XTGETTCAP, XTVERSION, DA3
		return stringReportLen(p, "01>!")
	case '_': // APC: kitty graphics
		return stringReportLen(p, "G")
	}
	return 0
}

// StringLength returns how many bytes the answer takes that p, which begins with ESC, begins with,
// if that is a string, such as that to XTVERSION; 0 if there is none, or its end is missing.
func StringLength(p []byte) int { return max(answerLen(p), 0) }

// stringReportLen is answerLen for the strings that answer, whose first character is one of first.
func stringReportLen(p []byte, first string) int {
	if bytes.IndexByte([]byte(first), p[2]) < 0 {
		return 0
	}
	for i := 2; i < len(p); i++ {
		switch {
		case p[i] == 0x07:
			return i + 1
		case p[i] == 0x1b && i+1 == len(p):
			return unfinished
		case p[i] == 0x1b && p[i+1] == '\\':
			return i + 2
		case p[i] < 0x20: // no answer has a control character
			return 0
		}
	}
	return unfinished
}

// csiReportLen is reportLen for control sequences.
func csiReportLen(p []byte) int {
	if p[2] == 'M' { // X10 mouse: three bytes follow
		if len(p) < 6 {
			return unfinished
		}
		return 6
	}
	i := 2
	for i < len(p) && p[i] >= 0x20 && p[i] < 0x40 {
		i++
	}
	if i == len(p) {
		return unfinished
	}
	if isReport(p[2:i], p[i]) {
		return i + 1
	}
	return 0
}

// isReport reports whether a terminal sends this control sequence by itself.
func isReport(params []byte, final byte) bool {
	if released(params) || isModifier(params, final) {
		return true
	}
	switch final {
	case 'I', 'O': // focus
		return len(params) == 0
	case 'M', 'm', 'R', 'c', 'n', 't', 'y', 'w':
		return len(params) > 0
	case 'u':
		return len(params) > 0 && params[0] == '?'
	}
	return false
}

// isModifier reports whether this is a key that by itself types nothing: shift, control, the locks
// and the like (kitty keyboard protocol, "Functional key definitions", CAPS_LOCK to NUM_LOCK and
// LEFT_SHIFT to ISO_LEVEL5_SHIFT).
func isModifier(params []byte, final byte) bool {
	code, _, _ := bytes.Cut(params, []byte(";"))
	code, _, _ = bytes.Cut(code, []byte(":"))
	n, err := strconv.Atoi(string(code))
	return final == 'u' && err == nil && (n >= 57441 && n <= 57454 || n == 57358 || n == 57360)
}

// released reports whether the second parameter's second part, the event type of the kitty keyboard
// protocol, tells that a key was let go.
func released(params []byte) bool {
	_, mods, ok := bytes.Cut(params, []byte(";"))
	if !ok {
		return false
	}
	mods, _, _ = bytes.Cut(mods, []byte(";"))
	_, event, _ := bytes.Cut(mods, []byte(":"))
	return string(event) == "3"
}
