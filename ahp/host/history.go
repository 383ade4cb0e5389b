package host

import (
	"errors"

	"termhost/ahp"
	"termhost/ahp/history"
	"termhost/ahp/journal"
	"termhost/ahp/recordings"
	"termhost/authz"
	"termhost/ptypool/termlog"
)

// history returns what is read of t's log by the work's principal.
func (h *Host) history(w *Work, t *Terminal) *history.Log {
	id, _ := ahp.TerminalName(t.uri)
	return &history.Log{
		ID: id, Nonce: t.origin.screen.Nonce, Piped: t.Piped(),
		Format: logFormat{}, Index: h.indexes.Index(t),
		Allowed: func() error { return authz.Check(w.principal, authz.Read, t.seen()) },
		Records: t.records,
		Outline: func() history.Checkpoint {
			o := t.outlineNow()
			return checkpoint(&o)
		},
		Retained: func() (history.Retained, error) {
			st, truncated, err := w.read(t)
			return t.retainedHistory(st, truncated), err
		},
		Ended: t.howEnded,
	}
}

// records reads t's log: see [history.Log].
func (t *Terminal) records(
	from func(start termlog.Spot) termlog.Spot, visit func(termlog.Record) bool,
) error {
	err := t.log.journal.Records(from, visit)
	if errors.Is(err, journal.ErrNotLogged) {
		return history.ErrNotLogged
	}
	return err
}

// retainedHistory returns a state of t as a history.
func (t *Terminal) retainedHistory(st ahp.TerminalState, truncated bool) history.Retained {
	r := history.Retained{State: st, Truncated: truncated, Created: t.origin.created}
	if st.Exited {
		r.Exited = t.life.exitedAt
	}
	return r
}

// howEnded returns how t has ended; nil: it runs.
func (t *Terminal) howEnded() *history.End {
	if !t.exitedNow() {
		return nil
	}
	t.term.Lock()
	defer t.term.Unlock()
	return endOf(t.log.end)
}

// outlineNow returns what listings need of the terminal.
func (t *Terminal) outlineNow() journal.Outline {
	t.term.Lock()
	defer t.term.Unlock()
	return t.log.outline
}

// recorded returns what is read of a recording by the work's principal.
func (h *Host) recorded(w *Work, r *recordings.Recording) *history.Log {
	a := r.About()
	return &history.Log{
		ID: a.TerminalID(), Nonce: a.Nonce, Piped: a.Piped, Whole: true,
		Format: logFormat{}, Index: h.indexes.Index(r),
		Allowed: func() error { return authz.Check(w.principal, authz.Read, a.Seen()) },
		Records: func(from func(termlog.Spot) termlog.Spot, visit func(termlog.Record) bool) error {
			return h.recordings.Records(r, from, visit)
		},
		Outline: func() history.Checkpoint {
			return history.Checkpoint{Cols: DefaultCols, Rows: DefaultRows}
		},
	}
}

// Source is what a history is read of: a terminal, or if that is nil a recording.
type Source struct {
	Terminal  *Terminal
	recording *recordings.Recording
}

// Recording returns the recording of a whole name, if the connection's principal sees or saw its
// terminal. It returns an [*EndedError] or a [*NoRecordingError].
func (c *Conn) Recording(name string) (Source, error) {
	if err := c.Ended(); err != nil {
		return Source{}, err
	}
	if r := c.host.findRecording(c.principal, name); r != nil && r.ID() == name {
		return Source{recording: r}, nil
	}
	return Source{}, &NoRecordingError{name}
}

// FindSource returns a terminal, by its NAME as for [Conn.Find], or a recording, by its name or the
// beginning of it. It returns a [*NotFoundError] or *authz.Denied.
func (c *Conn) FindSource(ref string) (Source, error) {
	r := c.host.findRecording(c.principal, ref)
	if r != nil && r.ID() == ref {
		return Source{recording: r}, nil
	}
	t, err := c.Find(ref)
	var missing *NotFoundError
	if r != nil && errors.As(err, &missing) {
		return Source{recording: r}, nil
	}
	return Source{Terminal: t}, err
}

// RecordingBytes returns how large a source is that is a recording.
func (c *Conn) RecordingBytes(s Source) int64 { return c.host.recordings.Bytes(s.recording) }

// History returns what is read of a source by the connection's principal.
func (c *Conn) History(w *Work, s Source) *history.Log {
	if s.Terminal != nil {
		return c.host.history(w, s.Terminal)
	}
	return c.host.recorded(w, s.recording)
}

// Cast returns what a source holds. It returns *authz.Denied, or the cause of the work's end.
func (c *Conn) Cast(w *Work, s Source) (*history.Cast, error) {
	log := c.History(w, s)
	if t := s.Terminal; t != nil {
		return log.Cast(w, t.Name(), history.Header{Term: t.origin.screen.Term,
			Title: t.outlineNow().Title, Began: t.origin.created})
	}
	a := s.recording.About()
	return log.Cast(w, a.Terminal, history.Header{Term: a.Term, Title: a.Title, Began: a.Began})
}

// read returns the terminal's state for the work's peer, with the log as its content.
func (w *Work) read(t *Terminal) (st ahp.TerminalState, truncated bool, err error) {
	return t.read(w.principal, w.view)
}

// read returns the terminal's state for a peer that is p, with the log as its content.
func (t *Terminal) read(p authz.Principal, view audience) (
	st ahp.TerminalState, truncated bool, err error,
) {
	if err := authz.Check(p, authz.Read, t.seen()); err != nil {
		return st, false, err
	}
	t.term.Lock() // nothing is appended meanwhile
	defer t.term.Unlock()
	t.kept.loadLocked()
	return view.state(t), t.ch.Trimmed(), nil
}
