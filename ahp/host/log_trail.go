package host

import (
	"os"

	"termhost/ahp/store"
	"termhost/ptypool/keeper"
)

// beginTrail has the channel's serverSeqs recorded in memory that the keeper holds for the next
// host, and returns the file to give to it; nil: there is none. The caller begins the program.
func (l *terminalLog) beginTrail() *os.File {
	h := l.t.host
	if h.cfg().Keeper == nil {
		return nil
	}
	m, err := keeper.NewShared("trail", store.TrailSize)
	if err != nil {
		h.log.Warn("clients of a terminal will be resynchronised after a restart",
			"name", l.t.Name(), "err", err)
		return nil
	}
	trail, err := store.NewTrail(m.Mem)
	if err != nil {
		m.Close()
		return nil
	}
	l.shared, l.trail = m, trail
	l.t.ch.Record(trail)
	return m.File
}

// endTrail gives this memory and that of the decisions back, once. It may be called concurrently.
func (l *terminalLog) endTrail() {
	l.trailEnd.Do(func() {
		l.t.ch.Record(nil) // nobody uses the memory any more
		if l.shared != nil {
			l.shared.Close()
		}
		l.decisions.Close()
	})
}

// keepTrail keeps what was recorded with the log of a program that has ended, which no keeper has
// any more. The Term's lock is held.
func (l *terminalLog) keepTrail() {
	if l.trail != nil {
		l.journal.KeepTrail(l.t.ch.Trail())
	}
}
