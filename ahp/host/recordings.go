package host

import (
	"fmt"
	"strings"
	"time"

	"termhost/ahp/recordings"
	"termhost/authz"
)

// trimRecordings deletes recordings until they take no more than they may. One that goes on is
// ended first; what comes then goes into another file.
func (h *Host) trimRecordings() {
	rs := &h.recordings
	for r := range rs.Excess(h.cfg().RecordTotalBytes) {
		if rs.Ended(r).IsZero() {
			h.endRecording(r)
		}
		if rs.Ended(r).IsZero() {
			continue
		}
		err := rs.Remove(r)
		h.indexes.Drop(r)
		h.log.Info("the oldest recording was deleted: all take more than record_total_bytes",
			"recording", r.ID(), "bytes", rs.Bytes(r), "err", err)
	}
}

// endRecording ends a recording that goes on, and begins another one of its terminal.
func (h *Host) endRecording(r *recordings.Recording) {
	t := h.lookup(r.About().URI)
	if t == nil {
		return
	}
	t.term.Lock()
	defer t.term.Unlock()
	t.recorder.EndFile(r)
}

// restoreRecordings has the recordings go on that went on with the last host, where the terminals
// are still there. New calls it when those are known.
func (h *Host) restoreRecordings() {
	for _, r := range h.recordings.All() {
		if !h.recordings.Ended(r).IsZero() {
			continue
		}
		if t := h.recordedBy(r); t == nil || !t.restoreRecording(r) {
			h.recordings.End(r, time.Time{})
		}
	}
}

// recordedBy returns the terminal that a recording is of; nil: it is gone.
func (h *Host) recordedBy(r *recordings.Recording) *Terminal {
	if t := h.lookup(r.About().URI); t != nil && t.origin.created.Equal(r.About().Created) {
		return t
	}
	return nil
}

// recordedName returns the NAME that the terminal of a recording has now; if it is gone, the one
// that it had at the recording's beginning.
func (h *Host) recordedName(r *recordings.Recording) string {
	if t := h.recordedBy(r); t != nil {
		return t.Name()
	}
	return r.About().Terminal
}

// restoreRecording has a recording of t go on. It returns false if another one does.
func (t *Terminal) restoreRecording(r *recordings.Recording) bool {
	t.term.Lock()
	defer t.term.Unlock()
	return t.recorder.Restore(r)
}

// RecordingInfo is a recording as listings show it; its JSON is an element of `recordings --json`.
type RecordingInfo struct {
	Recording string     `json:"recording"`
	Terminal  string     `json:"terminal"` // its NAME now; if it is gone, as it began
	URI       string     `json:"uri"`
	StartedAt time.Time  `json:"startedAt"`         // in UTC
	EndedAt   *time.Time `json:"endedAt,omitempty"` // in UTC; nil: it goes on
	Bytes     int64      `json:"bytes"`
}

// Recordings returns the recordings of terminals that the connection's principal sees or saw, the
// oldest first. It returns *authz.Denied if that may not list. It does not return nil.
func (c *Conn) Recordings() ([]RecordingInfo, error) {
	h, p := c.host, c.principal
	if err := authz.Check(p, authz.List, authz.Target{}); err != nil {
		return nil, err
	}
	list := []RecordingInfo{}
	for _, r := range h.recordings.All() {
		a := r.About()
		if !seesRecording(p)(a) {
			continue
		}
		info := RecordingInfo{Recording: r.ID(), Terminal: h.recordedName(r), URI: a.URI,
			StartedAt: a.Began.UTC(), Bytes: h.recordings.Bytes(r)}
		if at := h.recordings.Ended(r).UTC(); !at.IsZero() {
			info.EndedAt = &at
		}
		list = append(list, info)
	}
	return list, nil
}

// findRecording returns the recording of a name, or else the only one whose name begins so, if p
// sees or saw its terminal; nil: there is none.
func (h *Host) findRecording(p authz.Principal, name string) *recordings.Recording {
	return h.recordings.Find(name, seesRecording(p))
}

func seesRecording(p authz.Principal) func(*recordings.About) bool {
	return func(a *recordings.About) bool { return p.Sees(a.TerminalID(), a.Created) }
}

// NoRecordingError says that a connection's principal sees no recording of a name.
type NoRecordingError struct{ Name string }

func (e *NoRecordingError) Error() string {
	return fmt.Sprintf("there is no recording %q", Printable(clip(e.Name)))
}

// RemoveRecording deletes a recording that has ended, by its whole name. It returns a
// [*NoRecordingError] or *authz.Denied.
func (c *Conn) RemoveRecording(name string) error {
	h, p := c.host, c.principal
	r := h.findRecording(p, name)
	if r == nil || r.ID() != name {
		return &NoRecordingError{name}
	}
	a := r.About()
	target := a.Seen()
	target.Recorder = a.By == p.ID || strings.HasPrefix(a.By, p.ID+"/")
	if err := authz.Check(p, authz.DeleteRecording, target); err != nil {
		return err
	}
	if h.recordings.Ended(r).IsZero() {
		return fmt.Errorf("%s is being made; `ssh HOST record %s off` ends it", r.ID(),
			h.recordedName(r))
	}
	if err := h.recordings.Remove(r); err != nil {
		return err
	}
	h.indexes.Drop(r)
	c.Audit(authz.AuditDeleteRecording, "who", c.Name(), "recording", r.ID())
	h.log.Info("recording deleted", "recording", r.ID(), "principal", p.Name)
	return nil
}

// Record has a terminal recorded from now on, or no longer, and returns the recording's name; "":
// it was not recorded anyway. It returns *authz.Denied or ErrExited.
func (c *Conn) Record(t *Terminal, on bool) (name string, err error) {
	h, p := c.host, c.principal
	t.term.Lock()
	defer t.term.Unlock()
	if err := t.check(step{principal: p}, authz.Record); err != nil {
		return "", err
	}
	if t.life.exited {
		return "", ErrExited
	}
	if r := t.recorder.Recording(); r != nil {
		if !on {
			t.endRecording()
		}
		return r.ID(), nil
	}
	if !on {
		return "", nil
	}
	t.kept.loadLocked()
	if err := t.recorder.Begin(p.ID, recorded{t}.Checkpoint(true)); err != nil {
		return "", err
	}
	t.listChanged()
	name = t.recorder.Recording().ID()
	h.log.Info("recording begun", "name", t.Name(), "recording", name, "principal", p.Name)
	return name, nil
}
