package vt

// Stripper removes escape sequences from output. The zero value is ready for use.
type Stripper struct{ state seqState }

// Append appends the text and the single control characters of p. Calls may split sequences. The
// output must be a Screen's Data, which has no C1 controls.
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
