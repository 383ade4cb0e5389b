package host

import (
	"bytes"
	"errors"
	"fmt"

	"termhost/ahp"
	"termhost/ahp/history"
	"termhost/ahp/journal"
	"termhost/ahp/recordings"
	"termhost/authz"
	"termhost/ptypool/termlog"
)

// History returns what is read of t's log by the work's principal.
func (h *Host) History(w *Work, t *Terminal) *history.Log {
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
			st, truncated, err := h.readLog(w.principal, t)
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
			return history.Checkpoint{Cols: defaultCols, Rows: defaultRows}
		},
	}
}

// Cast returns what ref holds: a terminal's log, by its NAME as for [Host.Find], or a recording, by
// its name or the beginning of it. It returns a [*NotFoundError] or *authz.Denied, or the cause of
// the work's end.
func (h *Host) Cast(w *Work, ref string) (*history.Cast, error) {
	p := w.principal
	if r := h.findRecording(p, ref); r != nil && r.ID() == ref {
		return h.castRecording(w, r)
	}
	t, err := h.Find(p, ref)
	if err == nil {
		return h.castTerminal(w, t)
	}
	var missing *NotFoundError
	if r := h.findRecording(p, ref); r != nil && errors.As(err, &missing) {
		return h.castRecording(w, r)
	}
	return nil, err
}

// castTerminal returns what the log of t holds.
func (h *Host) castTerminal(w *Work, t *Terminal) (*history.Cast, error) {
	return h.History(w, t).Cast(w, t.Name(),
		history.Header{Term: t.origin.screen.Term, Title: t.outlineNow().Title,
			Began: t.origin.created})
}

// castRecording returns what a recording holds.
func (h *Host) castRecording(w *Work, r *recordings.Recording) (*history.Cast, error) {
	a := r.About()
	return h.recorded(w, r).Cast(w, a.Terminal,
		history.Header{Term: a.Term, Title: a.Title, Began: a.Began})
}

// Source names what a history is read of: a terminal, by its URI, or if Recording is not empty a
// recording, by its whole name.
type Source struct {
	Channel   string `json:"channel"`
	Recording string `json:"recording"`
}

// History returns what is read of a source, if the connection's principal sees it.
func (c *Conn) History(s Source) (func(*Work) *history.Log, *ahp.Error) {
	if s.Recording != "" {
		r, e := c.recording(s.Recording)
		return func(w *Work) *history.Log { return c.host.recorded(w, r) }, e
	}
	t, e := c.readable(s.Channel)
	return func(w *Work) *history.Log { return c.host.History(w, t) }, e
}

// WorkError is ProtocolError for a request that ends with its work.
func (c *Conn) WorkError(w *Work, err error) *ahp.Error {
	if why := w.over(); why != nil {
		return ahp.EndedError(ahp.CodeNotPermitted, why.Error())
	}
	return c.ProtocolError(err)
}

// LogForm is what a log is read as.
type LogForm string

// The forms of a log: as [Host.LogRaw] and [Host.LogText] return it, and as asciicast 3.
const (
	LogRaw  LogForm = "raw"
	LogText LogForm = "text"
	LogCast LogForm = "cast"
)

// wholeBytes is how large a recording may be that is one answer, in bytes.
const wholeBytes = 16 << 20

// Log returns what reads all that a terminal has printed in one of the forms, or a recording as
// asciicast, whatever the form.
func (c *Conn) Log(s Source, form LogForm) (
	read func(*Work) (data []byte, truncated bool, e *ahp.Error), e *ahp.Error,
) {
	var cast func(*Work) (*history.Cast, error)
	var t *Terminal
	if s.Recording != "" {
		r, e := c.recording(s.Recording)
		if e != nil {
			return nil, e
		}
		if c.host.recordings.Bytes(r) > wholeBytes {
			return nil, ahp.NewError(ahp.CodeLimit, "the recording is too large for one answer; "+
				"`ssh HOST cast "+r.ID()+"` prints it", "limit", "recording")
		}
		cast = func(w *Work) (*history.Cast, error) { return c.host.castRecording(w, r) }
	} else {
		if t, e = c.readable(s.Channel); e != nil {
			return nil, e
		}
		cast = func(w *Work) (*history.Cast, error) { return c.host.castTerminal(w, t) }
	}
	return func(w *Work) (data []byte, truncated bool, e *ahp.Error) {
		var err error
		switch {
		case t == nil || form == LogCast:
			data, truncated, err = asciicast(w, cast)
		case form == LogRaw:
			var pieces [][]byte
			pieces, truncated, err = c.host.LogRaw(c.principal, t)
			data = bytes.Join(pieces, nil)
		default:
			data, truncated, err = c.host.LogText(w, t)
		}
		return data, truncated, c.WorkError(w, err)
	}, nil
}

// asciicast returns what cast does as asciicast 3.
func asciicast(w *Work, cast func(*Work) (*history.Cast, error)) (
	text []byte, truncated bool, _ error,
) {
	c, err := cast(w)
	if err != nil {
		return nil, false, err
	}
	var b bytes.Buffer
	err = history.Write(w.Writer(&b), history.V3, c.Header, c.Events)
	return b.Bytes(), c.Truncated, err
}

// Recordings returns what [Host.Recordings] does.
func (c *Conn) Recordings() ([]RecordingInfo, *ahp.Error) {
	if e := c.Ended(); e != nil {
		return nil, e
	}
	list, err := c.host.Recordings(c.principal)
	return list, c.ProtocolError(err)
}

// readable finds a terminal that the connection's principal sees.
func (c *Conn) readable(ref string) (*Terminal, *ahp.Error) {
	if e := c.Ended(); e != nil {
		return nil, e
	}
	uri, _ := ahp.NormalizeChannel(ref)
	if t := c.host.lookupFor(c.principal, uri); t != nil {
		return t, nil
	}
	return nil, unknownChannel(ref)
}

// recording finds a recording of a terminal that the connection's principal sees or saw.
func (c *Conn) recording(name string) (*recordings.Recording, *ahp.Error) {
	if e := c.Ended(); e != nil {
		return nil, e
	}
	if r := c.host.findRecording(c.principal, name); r != nil && r.ID() == name {
		return r, nil
	}
	return nil, ahp.NewError(ahp.CodeNotFound,
		fmt.Sprintf("there is no recording %q", Printable(clip(name))), "recording", name)
}
