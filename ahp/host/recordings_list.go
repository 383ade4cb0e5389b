package host

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"termhost/authz"
)

// find returns the recording of a name, or else the only one whose name begins so, if p sees its
// terminal; nil: there is none.
func (rs *recordings) find(p authz.Principal, name string) *recording {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	var found []*recording
	for id, r := range rs.list {
		switch {
		case !p.Sees(r.about.Terminal, r.about.Created):
		case id == name:
			return r
		case name != "" && strings.HasPrefix(id, name):
			found = append(found, r)
		}
	}
	if len(found) == 1 {
		return found[0]
	}
	return nil
}

// RecordingInfo is a recording as listings show it; its JSON is an element of `recordings --json`.
type RecordingInfo struct {
	Recording string     `json:"recording"`
	Terminal  string     `json:"terminal"`
	URI       string     `json:"uri"`
	StartedAt time.Time  `json:"startedAt"`         // in UTC
	EndedAt   *time.Time `json:"endedAt,omitempty"` // in UTC; nil: it goes on
	Bytes     int64      `json:"bytes"`
}

// Recordings returns the recordings of terminals that p sees or saw, the oldest first. It returns
// *authz.Denied if p may not list. It does not return nil.
func (h *Host) Recordings(p authz.Principal) ([]RecordingInfo, error) {
	if err := authz.Check(p, authz.List, authz.Target{}); err != nil {
		return nil, err
	}
	rs := &h.recordings
	rs.mu.Lock()
	defer rs.mu.Unlock()
	list := []RecordingInfo{}
	for _, r := range rs.list {
		if !p.Sees(r.about.Terminal, r.about.Created) {
			continue
		}
		info := RecordingInfo{Recording: r.id, Terminal: r.about.Terminal, URI: r.about.URI,
			StartedAt: r.about.Began.UTC(), Bytes: r.bytes}
		if !r.ended.IsZero() {
			at := r.ended.UTC()
			info.EndedAt = &at
		}
		list = append(list, info)
	}
	slices.SortFunc(list, func(a, b RecordingInfo) int {
		return cmp.Or(a.StartedAt.Compare(b.StartedAt), cmp.Compare(a.Recording, b.Recording))
	})
	return list, nil
}

// RemoveRecording deletes a recording that has ended, by its whole name. It returns a
// [*NotFoundError] or *authz.Denied.
func (h *Host) RemoveRecording(p authz.Principal, name string) error {
	r := h.recordings.find(p, name)
	if r == nil || r.id != name {
		return fmt.Errorf("there is no recording %q", Printable(clip(name)))
	}
	target := r.seen()
	target.Recorder = r.about.By == p.ID || strings.HasPrefix(r.about.By, p.ID+"/")
	if err := authz.Check(p, authz.DeleteRecording, target); err != nil {
		return err
	}
	if h.recordings.goesOn(r) {
		return fmt.Errorf("%s is being made; `ssh HOST record %s off` ends it", r.id,
			r.about.Terminal)
	}
	if err := h.recordings.remove(r); err != nil {
		return err
	}
	h.log.Info("recording deleted", "recording", r.id, "principal", p.Name)
	return nil
}
