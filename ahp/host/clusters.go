package host

// A program that sets mode 2027 has its grapheme clusters measured, in the screen and in each
// viewer's terminal that knows the mode, if the terminal of the holder does. Otherwise each
// character is measured by itself.

// SetClusters tells whether the viewer's own terminal knows mode 2027. Before the first call that
// is unknown, and what was the case before the viewer came goes on.
func (a *Attach) SetClusters(on bool) {
	a.t.term.Lock()
	defer a.t.term.Unlock()
	a.clusters = &on
	a.fitLocked()
}

// setClusters says whether mode 2027 is known from now on. The Term's lock is held.
func (t *Terminal) setClusters(on bool) {
	t.log.recordClusters(on)
	t.measure(on)
}

// measure is setClusters without logging it. Viewers and readers of the content are told how they
// are to measure, in order.
func (t *Terminal) measure(on bool) {
	told := t.term.Screen().SetClusters(on)
	if told == "" {
		return
	}
	t.output.flushSmall()
	if t.tap != nil {
		t.tap([]byte(told))
	}
	t.output.content.data(t.channel(), []byte(told))
}
