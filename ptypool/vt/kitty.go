package vt

// kittyStack is the stack of keyboard flags of kitty's keyboard protocol, the current ones last.
// Each screen has its own. CSI = u sets the first entry if nothing was pushed; an empty stack is
// the same as one with a 0.
type kittyStack []uint8

// flags returns the current flags.
func (k kittyStack) flags() uint8 {
	if len(k) > 0 {
		return k[len(k)-1]
	}
	return 0
}

// apply is CSI > u (push), CSI < u (pop) and CSI = u (set).
func (k *kittyStack) apply(c *csiSeq) {
	if len(*k) == 0 {
		*k = append(make(kittyStack, 0, 4), 0)
	}
	stack := *k
	flags := uint8(c.arg(0, 0)) & 31
	top := len(stack) - 1
	switch c.prefix {
	case '>':
		if len(stack) > maxKittyStack {
			copy(stack[1:], stack[2:])
			stack = stack[:top]
		}
		stack = append(stack, flags)
	case '<':
		n := c.count()
		if n > top {
			stack = append(stack[:0], 0)
			break
		}
		stack = stack[:len(stack)-n]
	case '=':
		switch c.arg(1, 1) {
		case 1:
			stack[top] = flags
		case 2:
			stack[top] |= flags
		case 3:
			stack[top] &^= flags
		}
	}
	*k = stack
}
