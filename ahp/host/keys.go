package host

import "bytes"

// realKeys reports whether p holds anything a person typed: more than reports
// that a terminal sends by itself, which are focus (CSI I, CSI O), mouse (CSI M
// and CSI <) and answers to queries (xterm ctlseqs, "CSI Ps ; Ps R" and the
// like). What could be either counts as a report: it must not take the keyboard.
func realKeys(p []byte) bool {
	for len(p) > 0 {
		n := reportLen(p)
		if n == 0 {
			return true
		}
		p = p[n:]
	}
	return false
}

// reportLen returns the length of the report that p begins with; 0: none.
func reportLen(p []byte) int {
	if len(p) < 3 || p[0] != 0x1b {
		return 0
	}
	switch p[1] {
	case ']', 'P', '_', '^': // OSC, DCS, APC, PM: only ever answers
		if i := bytes.Index(p, []byte("\x1b\\")); i >= 0 {
			return i + 2
		}
		if i := bytes.IndexByte(p, 0x07); i >= 0 {
			return i + 1
		}
		return len(p)
	case '[':
		return csiReportLen(p)
	}
	return 0
}

func csiReportLen(p []byte) int {
	if p[2] == 'M' { // X10 mouse: three bytes follow
		return min(6, len(p))
	}
	i := 2
	for i < len(p) && p[i] >= 0x20 && p[i] < 0x40 {
		i++
	}
	if i == len(p) {
		return 0
	}
	params := p[2:i]
	switch p[i] {
	case 'I', 'O':
		if len(params) == 0 {
			return i + 1
		}
	case 'M', 'm':
		if len(params) > 0 && params[0] == '<' {
			return i + 1
		}
	case 'R', 'c', 'n', 't', 'y':
		if len(params) > 0 {
			return i + 1
		}
	case 'u':
		if len(params) > 0 && params[0] == '?' {
			return i + 1
		}
	}
	return 0
}
