package vt

// SetClusters tells whether the terminal that the program's is shown on measures grapheme clusters
// in mode 2027. Where it does not, DECRQM says so, as terminals without the mode do, and a program
// that sets it nevertheless has its characters measured one by one. If that changes how the program
// is measured from now on, SetClusters returns the sequence by which viewers' terminals do the
// same; it belongs behind Data so far.
func (s *Screen) SetClusters(on bool) (told string) {
	m := &s.model.modes
	was := m.clusters()
	m.knowsClusters = on
	if m.clusters() == was {
		return ""
	}
	told = clustersOn
	if was {
		told = clustersOff
	}
	return "\x18" + told + string(s.parser.given()) // a viewer may have the beginning of a sequence
}
