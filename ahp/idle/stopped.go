package idle

import "bytes"

// StopKeys returns the keys that stop the output of a terminal, and let it go on; 0: none does.
type StopKeys func() (stop, start byte)

// MayStop records that a user has typed data, which may stop the output.
func (p *Program) MayStop(by string, data []byte, keys StopKeys) {
	s := &p.stopped
	s.told = false
	if !bytes.ContainsFunc(data, func(r rune) bool { return r < ' ' }) {
		return
	}
	stop, start := keys()
	if i := bytes.LastIndexByte(data, stop); stop != 0 && i >= 0 &&
		bytes.IndexByte(data[i:], start) < 0 {
		s.may, s.by = true, by
	}
}

// GoesOn reports whether data lets stopped output go on. It must not wait until the program reads:
// that waits for it to go on.
func (p *Program) GoesOn(data []byte, keys StopKeys) bool {
	if !p.stopped.on || len(data) != 1 {
		return false
	}
	_, start := keys()
	return start != 0 && data[0] == start
}

// DoubtStopped has the next looks find out whether the output is stopped.
func (p *Program) DoubtStopped() { p.stopped.may = true }

// MayBeStopped reports whether a look has to find out whether the output is stopped.
func (p *Program) MayBeStopped() bool { return p.stopped.may }

// SeeStopped records whether the output is stopped. tell: viewers are to be told so. They are told
// again when somebody has typed meanwhile: it is not shown.
func (p *Program) SeeStopped(on bool) (changed, tell bool) {
	s := &p.stopped
	// The key may not have arrived yet.
	s.may = on || p.looks.seen != p.looks.signs || p.looks.count < 2
	changed = p.setStopped(on)
	tell = on && !s.told
	s.told = s.told || on
	return changed, tell
}

// Stopped reports whether the output is stopped, and by which user; "": it is unknown.
func (p *Program) Stopped() (by string, on bool) { return p.stopped.by, p.stopped.on }

// setStopped reports whether the mark has changed.
func (p *Program) setStopped(on bool) bool {
	s := &p.stopped
	changed := s.on != on
	s.on = on
	return changed
}
