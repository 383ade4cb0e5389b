package host

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"termhost/ahp"
	"termhost/authz"
	"termhost/ptypool/termlog"
)

// recordings are the files of what was recorded. Each is a log of one segment, see [termlog.NewAt]:
// a description, a checkpoint, and then what is in the terminal's own log too, as long as it is
// recorded. So what was cut off by a crash can be added from there: see [tape].
type recordings struct {
	dir string // "": there are none

	mu    sync.Mutex // no other lock is taken while it is held
	list  map[string]*recording
	bytes int64 // of all
}

const (
	recordingsDir = "recordings" // in the state folder
	liveSuffix    = ".live"      // of the file of a recording that goes on
	endedSuffix   = ".rec"       // of one that has ended
)

// recording is one file.
type recording struct {
	id    string
	about recordingAbout // it never changes

	// Guarded by recordings.mu.
	bytes int64
	ended time.Time // zero: it goes on
}

// size returns how large a recording is, in bytes.
func (rs *recordings) size(r *recording) int64 {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	return r.bytes
}

// recordingAbout is the description of a recording.
type recordingAbout struct {
	Format   int       `json:"format"` // as that of [meta]
	Terminal string    `json:"terminal"`
	URI      string    `json:"uri"`
	Created  time.Time `json:"created"` // the terminal
	Began    time.Time `json:"began"`
	By       string    `json:"by"` // the ID of the principal who had it made
	Title    string    `json:"title,omitempty"`
	Term     string    `json:"term,omitempty"`
	Nonce    string    `json:"nonce,omitempty"`
	Piped    bool      `json:"piped,omitempty"`
}

// seen are the facts by which the policy knows a recording's terminal, which may be gone.
func (r *recording) seen() authz.Target {
	return authz.Target{Name: r.about.Terminal, Created: r.about.Created}
}

// path returns the name of the file. The lock is held.
func (rs *recordings) path(r *recording) string {
	if r.ended.IsZero() {
		return filepath.Join(rs.dir, r.id+liveSuffix)
	}
	return filepath.Join(rs.dir, r.id+endedSuffix)
}

// open learns which recordings there are. A file that is none is left alone.
func (rs *recordings) open(stateDir string) error {
	rs.list = map[string]*recording{}
	if stateDir == "" {
		return nil
	}
	rs.dir = filepath.Join(stateDir, recordingsDir)
	entries, err := os.ReadDir(rs.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		id, live := strings.CutSuffix(e.Name(), liveSuffix)
		id, ended := strings.CutSuffix(id, endedSuffix)
		if live == ended || !e.Type().IsRegular() {
			continue
		}
		about, st, damage := readAbout(filepath.Join(rs.dir, e.Name()))
		if damage != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", e.Name(), damage))
			continue
		}
		r := &recording{id: id, about: about, bytes: st.Size()}
		if ended {
			r.ended = st.ModTime()
		}
		rs.list[id] = r
		rs.bytes += r.bytes
	}
	return err
}

func readAbout(path string) (about recordingAbout, st fs.FileInfo, err error) {
	f, err := os.Open(path)
	if err != nil {
		return about, nil, err
	}
	defer f.Close()
	if st, err = f.Stat(); err != nil {
		return about, nil, err
	}
	first, ok := termlog.FirstRecord(f)
	if !ok || first.Kind != termlog.Description || json.Unmarshal(first.Payload, &about) != nil ||
		about.Format != metaFormat {
		return about, nil, errors.New("it is no recording that this termhost knows")
	}
	return about, st, nil
}

// create begins a recording of at most size bytes at the position first of a terminal's output. It
// is named after the terminal and the time.
func (rs *recordings) create(about recordingAbout, size, first int64) (
	*recording, *termlog.Log, error,
) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if err := os.MkdirAll(rs.dir, 0o700); err != nil {
		return nil, nil, err
	}
	base := about.Terminal + "-" + about.Began.UTC().Format("20060102T150405")
	id := base
	for n := 2; rs.list[id] != nil; n++ {
		id = fmt.Sprintf("%s-%d", base, n)
	}
	r := &recording{id: id, about: about}
	f, err := os.OpenFile(rs.path(r), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, nil, err
	}
	log, err := termlog.NewAt(f, size, first)
	if err == nil {
		text, _ := json.Marshal(&about) // plain fields: it cannot fail
		if _, err = log.Append(termlog.Description, about.Began, text); err != nil {
			log.Close()
		}
	}
	if err != nil {
		os.Remove(rs.path(r))
		return nil, nil, err
	}
	rs.list[id] = r
	return r, log, nil
}

// reopen opens a recording that goes on, to add to it.
func (rs *recordings) reopen(r *recording) (*termlog.Log, error) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	f, err := os.OpenFile(rs.path(r), os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	return termlog.New([]*os.File{f}, 0)
}

// grown notes the size of a recording, and returns the size of all.
func (rs *recordings) grown(r *recording, bytes int64) (all int64) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.bytes += bytes - r.bytes
	r.bytes = bytes
	return rs.bytes
}

// end ends a recording.
func (rs *recordings) end(r *recording, at time.Time) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if !r.ended.IsZero() {
		return
	}
	live := rs.path(r)
	r.ended = at
	if os.Rename(live, rs.path(r)) != nil {
		r.ended = time.Time{} // the next host ends it
	}
}

// remove deletes a recording.
func (rs *recordings) remove(r *recording) error {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.list[r.id] != r {
		return nil
	}
	if err := os.Remove(rs.path(r)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	delete(rs.list, r.id)
	rs.bytes -= r.bytes
	return nil
}

// records calls visit with the records of a recording until visit returns false. Payloads may be
// kept. What has been cut off in the middle of a record ends before it.
func (rs *recordings) records(r *recording, visit func(termlog.Record) bool) error {
	rs.mu.Lock()
	f, err := os.Open(rs.path(r))
	rs.mu.Unlock()
	if err != nil {
		return fmt.Errorf("the recording %s cannot be read", r.id)
	}
	log, err := termlog.New([]*os.File{f}, 0)
	if err != nil {
		return fmt.Errorf("the recording %s is damaged", r.id)
	}
	defer log.Close()
	return log.Read(0, visit)
}

// ordered returns the recordings in the order in which they go when there is no room for all: those
// that have ended first, as they ended, then the others, as they began.
func (rs *recordings) ordered() []*recording {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	var all []*recording
	for _, r := range rs.list {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b *recording) int {
		switch {
		case a.ended.IsZero() != b.ended.IsZero():
			return cmp.Compare(boolInt(a.ended.IsZero()), boolInt(b.ended.IsZero()))
		case a.ended.IsZero():
			return a.about.Began.Compare(b.about.Began)
		}
		return a.ended.Compare(b.ended)
	})
	return all
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (rs *recordings) goesOn(r *recording) bool {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	return r.ended.IsZero()
}

// tooManyRecordings reports whether the recordings take more than they may.
func (h *Host) tooManyRecordings(bytes int64) bool {
	most := h.cfg().RecordTotalBytes
	return most > 0 && bytes > most
}

// trimRecordings deletes recordings until they take no more than they may. One that goes on is
// ended first; what comes then goes into another file.
func (h *Host) trimRecordings() {
	rs := &h.recordings
	for _, r := range rs.ordered() {
		rs.mu.Lock()
		bytes := rs.bytes
		rs.mu.Unlock()
		if !h.tooManyRecordings(bytes) {
			return
		}
		if rs.goesOn(r) {
			h.endRecording(r)
		}
		if rs.goesOn(r) {
			continue
		}
		err := rs.remove(r)
		h.log.Info("the oldest recording was deleted: all take more than record_total_bytes",
			"recording", r.id, "bytes", r.bytes, "err", err)
	}
}

// endRecording ends a recording that goes on, and begins another one of its terminal.
func (h *Host) endRecording(r *recording) {
	t := h.lookup(r.about.URI)
	if t == nil {
		return
	}
	t.term.Lock()
	defer t.term.Unlock()
	if t.tape != nil && t.tape.rec == r && !t.tape.behind {
		t.turnTape(t.drawnTape())
	}
}

// resumeRecordings has the recordings go on that went on with the last host, where the terminals
// are still there. New calls it when those are known.
func (h *Host) resumeRecordings() {
	for _, r := range h.recordings.ordered() {
		if !h.recordings.goesOn(r) {
			continue
		}
		if t := h.lookup(r.about.URI); t != nil && t.created.Equal(r.about.Created) &&
			t.goesOnWith(r) {
			continue
		}
		at := h.now()
		if st, err := os.Stat(h.recordings.path(r)); err == nil {
			at = st.ModTime()
		}
		h.recordings.end(r, at)
	}
}

// goesOnWith has a recording of t go on. It returns false if another one does.
func (t *Terminal) goesOnWith(r *recording) bool {
	t.term.Lock()
	defer t.term.Unlock()
	if t.tape != nil {
		return false
	}
	t.tape = &tape{rec: r, by: r.about.By, behind: true}
	return true
}

// recordsNew reports whether a new terminal is recorded though nobody has asked for it.
func (h *Host) recordsNew(t *Terminal) bool {
	switch h.cfg().Record {
	case RecordAll:
		return true
	case RecordAgents:
		return t.madeByAgent()
	}
	return false
}

// The values of Config.Record: which new terminals are recorded.
const (
	RecordOff    = "off"
	RecordAgents = "agents" // those that agents make: see [Conn.agent]
	RecordAll    = "all"
)

// madeByAgent reports whether an agent has made t: with a token, from inside a terminal, or as a
// peer of AHP or ACP. Who shares a terminal of its own is no agent because of that.
func (t *Terminal) madeByAgent() bool {
	p, c := t.creator, t.holder.claim
	switch {
	case p.IsPage():
		return false
	case p.Token != "" || p.Inside || c.Kind == ahp.ClaimSession:
		return true
	}
	return !t.Client() && !strings.HasPrefix(c.ClientID, sshPrefix)
}
