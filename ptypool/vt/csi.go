package vt

import "strconv"

// csiSeq is a parsed control sequence.
type csiSeq struct {
	prefix, inter, final byte
	n                    int    // parameters
	sub                  uint32 // bit i: parameter i followed a colon
	par                  [maxParams]int32

	// reduced: there were more parameters than maxParams, or some that were larger than maxParam.
	reduced bool
}

// parse reads the sequence after CSI. It reports false for forms without a meaning in any terminal:
// a prefix in the middle, or several intermediates.
func (c *csiSeq) parse(b []byte) bool {
	c.prefix, c.inter, c.n, c.sub, c.reduced = 0, 0, 0, 0, false
	last := len(b) - 1
	c.final = b[last]
	b = b[:last]
	if last == 0 {
		return true
	}
	i := 0
	if b[0] >= '<' && b[0] <= '?' {
		c.prefix = b[0]
		i = 1
	}
	v := int32(-1)
	params := i < len(b) && b[i] >= 0x30
	for ; i < len(b) && b[i] >= 0x30; i++ {
		switch d := b[i]; {
		case d <= '9':
			v = min(max(v, 0)*10+int32(d-'0'), maxParam+1)
		case d <= ';':
			c.push(v)
			v = -1
			if d == ':' && c.n < maxParams {
				c.sub |= 1 << c.n
			}
		default:
			return false
		}
	}
	if params {
		c.push(v)
	}
	if i < len(b) {
		c.inter = b[i]
		return i == len(b)-1
	}
	return true
}

// push adds a parameter; -1 is a missing one.
func (c *csiSeq) push(v int32) {
	if v > maxParam {
		v, c.reduced = maxParam, true
	}
	if c.n < maxParams {
		c.par[c.n] = v
		c.n++
	} else {
		c.reduced = true
	}
}

// appendTo appends the sequence, with the parameters that were read.
func (c *csiSeq) appendTo(dst []byte) []byte {
	dst = append(append(dst, "\x1b["...), c.prefixText()...)
	for i, v := range c.par[:c.n] {
		switch {
		case i == 0:
		case c.isSub(i):
			dst = append(dst, ':')
		default:
			dst = append(dst, ';')
		}
		if v >= 0 {
			dst = strconv.AppendInt(dst, int64(v), 10)
		}
	}
	if c.inter != 0 {
		dst = append(dst, c.inter)
	}
	return append(dst, c.final)
}

// isSub reports whether parameter i is a subparameter.
func (c *csiSeq) isSub(i int) bool { return c.sub&(1<<i) != 0 }

// arg returns parameter i, or def if it is missing.
func (c *csiSeq) arg(i, def int) int {
	if i >= c.n || c.par[i] < 0 {
		return def
	}
	return int(c.par[i])
}

// count returns parameter 0 where both a missing one and 0 mean 1.
func (c *csiSeq) count() int { return max(1, c.arg(0, 1)) }

// plain reports whether there is neither a prefix nor an intermediate.
func (c *csiSeq) plain() bool { return c.prefix|c.inter == 0 }

// key is csiKey of the sequence.
func (c *csiSeq) key() uint32 { return csiKey(c.prefix, c.inter, c.final) }

// prefixText returns the prefix as text; without one it is empty.
func (c *csiSeq) prefixText() string {
	if c.prefix == 0 {
		return ""
	}
	return string(rune(c.prefix))
}

// csiKey packs what identifies a control function.
func csiKey(prefix, inter, final byte) uint32 {
	return uint32(prefix)<<16 | uint32(inter)<<8 | uint32(final)
}
