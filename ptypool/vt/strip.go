package vt

// Stripper takes the escape sequences out of output. The zero value is ready for use.
type Stripper struct{ state seqState }

// Append appends what of p is text or a control character by itself. A sequence may go on from one
// call to the next. The output is expected to be a Screen's Data, which has no C1 controls.
func (s *Stripper) Append(dst, p []byte) []byte {
	for i := 0; i < len(p); i++ {
		if s.state == inGround && p[i] != esc {
			dst = append(dst, p[i])
			continue
		}
		if s.state == inGround {
			s.state = inEsc
			continue
		}
		next, o := step(s.state, p[i])
		switch o {
		case more:
			s.state = next
		case done, cancel:
			s.state = inGround
		case reparse:
			s.state = inGround
			i--
		case reescape:
			s.state = inEsc
			i--
		case execute:
			dst = append(dst, p[i])
		}
	}
	return dst
}
