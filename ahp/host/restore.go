package host

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"termhost/ahp"
	"termhost/ahp/store"
	"termhost/ptypool"
	"termhost/ptypool/keeper"
	"termhost/ptypool/termlog"
)

// What to tell of a terminal whose end nobody has seen.
const (
	endedWithHost    = "because the host was restarted"
	endedWithMachine = "because the machine was restarted"
	endedUnseen      = "unseen, because its keeper had ended"
)

// restore lists the terminals that an earlier host has left in the state folder. What cannot be
// read is set aside. New calls it, before anybody knows the host.
func (h *Host) restore() {
	dir := h.cfg().StateDir
	if dir == "" {
		return
	}
	h.termsDir, h.boot = filepath.Join(dir, termsDir), bootID()
	if err := os.MkdirAll(h.termsDir, 0o700); err != nil {
		h.log.Warn("what terminals print is not kept on disk", "err", err)
	}
	h.spares.open(dir)
	entries, err := os.ReadDir(h.termsDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		h.log.Warn("the terminals of the last host are not listed", "err", err)
	}
	kept := h.takeKept()
	found := h.readAll(entries, kept)
	// The youngest of a NAME is the one that counts.
	slices.SortFunc(found, func(a, b *remains) int {
		return b.meta.Created.Compare(a.meta.Created)
	})
	for _, r := range found {
		if err := h.revive(r); err != nil {
			r.close()
			h.setAside(r.dir, err)
		} else {
			delete(kept, filepath.Base(r.dir))
		}
	}
	h.endUnknown(kept)
	slices.Reverse(h.order)
	for _, t := range h.order {
		t.ch.List()
	}
	if len(h.order) > 0 {
		h.list.changed()
	}
}

// readAll reads the folders of terminals, several at a time.
func (h *Host) readAll(
	entries []fs.DirEntry, kept map[string]*keeper.Terminal,
) (found []*remains) {
	var mu sync.Mutex
	var readers sync.WaitGroup
	next := make(chan string)
	for range runtime.GOMAXPROCS(0) {
		readers.Go(func() {
			for path := range next {
				r, err := readRemains(path, kept[filepath.Base(path)])
				if err != nil {
					h.setAside(path, err)
					continue
				}
				mu.Lock()
				found = append(found, r)
				mu.Unlock()
			}
		})
	}
	for id := range kept {
		known := func(e fs.DirEntry) bool { return e.Name() == id || e.Name() == id+goneSuffix }
		if !slices.ContainsFunc(entries, known) {
			next <- filepath.Join(h.termsDir, id) // the disk was full when it was made
		}
	}
	for _, e := range entries {
		path := filepath.Join(h.termsDir, e.Name())
		switch {
		case strings.HasSuffix(e.Name(), goneSuffix):
			os.RemoveAll(path)
		case strings.HasSuffix(e.Name(), damagedSuffix), !e.IsDir():
		default:
			next <- path
		}
	}
	close(next)
	readers.Wait()
	return found
}

// setAside keeps the folder of a terminal that cannot be listed out of the way.
func (h *Host) setAside(dir string, why error) {
	to := dir + damagedSuffix
	if err := os.Rename(dir, to); err != nil {
		to = dir
	}
	h.log.Warn("a terminal of the last host cannot be read, and is left aside", "folder", to,
		"err", why)
}

// remains are what an earlier host has left of a terminal on disk.
type remains struct {
	dir    string
	meta   meta             // with the outline and the end that the log has, if it has newer ones
	log    *termlog.Log     // nil: the terminal has ended, or there is no log that can be read
	kept   *keeper.Terminal // nil: no keeper has it
	memory bool             // the log is in memory
	noted  bool             // the description is the keeper\'s: there is none on disk
}

// readRemains reads the folder of a terminal, which a keeper may have kept. An error says why it is
// none.
func readRemains(dir string, kept *keeper.Terminal) (*remains, error) {
	m, err := readMeta(dir)
	noted := err != nil && kept != nil && len(kept.Note) > 0
	if noted {
		err = json.Unmarshal(kept.Note, &m) // as it was at the beginning
	}
	if err != nil {
		return nil, err
	}
	r := &remains{dir: dir, meta: m, kept: kept, noted: noted}
	if m.End != nil {
		return r, nil
	}
	if r.log, r.memory, err = openLog(dir, kept); err != nil {
		r.meta.End = readExit(dir)
		return r, nil // what was printed is lost; see load for who is told
	}
	return r, r.log.Read(max(r.log.First(), r.log.End()-outlineReach), r.meta.follow)
}

// readExit returns how a terminal has ended whose log was in memory that is gone, as its keeper has
// noted it; nil: that is not known.
func readExit(dir string) *ending {
	text, err := os.ReadFile(filepath.Join(dir, exitFile))
	if err != nil {
		return nil
	}
	var e ending
	if json.Unmarshal(text, &e) != nil {
		return nil
	}
	return &e
}

// outlineReach is how far back from the end of a log the outline is looked for, in bytes. Every
// segment has it near its beginning.
const outlineReach = 1 << 20

// follow brings the outline up to a record of the log.
func (m *meta) follow(rec termlog.Record) bool {
	switch rec.Kind {
	case termlog.Checkpoint:
		if s, ok := parseSnapshot(rec.Payload); ok {
			m.Outline = s.Outline
		}
	case termlog.Resize:
		if cols, rows := termlog.Size(rec.Payload); cols > 0 && rows > 0 {
			m.Outline.Cols, m.Outline.Rows = cols, rows
		}
	case termlog.Event:
		var ev event
		if json.Unmarshal(rec.Payload, &ev) != nil {
			break
		}
		if ev.Owner != nil {
			m.Outline.Owner = ev.Owner
		}
		if ev.Action == nil {
			break
		}
		if a, err := ahp.DecodeAction(ev.Action); err == nil {
			m.Outline.apply(a, ev, rec.Time)
		}
	case termlog.Exit:
		var e ending
		if m.End == nil && json.Unmarshal(rec.Payload, &e) == nil {
			m.End = &e
		}
	}
	return true
}

func (r *remains) close() {
	if r.log != nil {
		r.log.Close()
		r.log = nil
	}
}

// revive makes a terminal of what an earlier host has left of it. It goes on if a keeper has it.
func (h *Host) revive(r *remains) error {
	m := &r.meta
	if err := m.check(); err != nil {
		return err
	}
	unseen := m.End == nil
	if r.kept != nil && unseen && !r.kept.Drained() {
		return h.resume(r)
	}
	if r.kept != nil && unseen && r.kept.Exit != nil {
		m.End = &ending{Status: r.kept.Exit.Ended()}
	}
	if cl := h.clients[m.Outline.Holder.Claim.ClientID]; m.Client && unseen && m.Grace > 0 &&
		cl != nil && cl.principal == m.Creator.ID {
		return h.await(r, cl)
	}
	if m.End == nil {
		if m.Marker != "" && m.Boot == h.boot {
			h.pool.EndLeft(m.Marker) // such as what ignores the loss of its terminal
		}
		m.End = &ending{Why: endedWithHost,
			Status: termlog.Status{Code: ptypool.UnknownExit, At: h.now()}}
		if m.Boot != h.boot {
			m.End.Why = endedWithMachine
		}
	}
	t, err := h.reenter(r)
	if err != nil {
		return err
	}
	open := func() (*termlog.Log, error) { return termlog.Open(r.dir) }
	if log := r.log; log != nil && r.memory {
		open = func() (*termlog.Log, error) { return log, nil }
	} else {
		r.close()
	}
	close(t.started)
	t.exec = &pastExecutor{t: t, client: m.Client, pty: m.IsPty, piped: m.Piped}
	t.past.Store(&past{open: open, close: true})
	h.pool.Restore(ptypool.Restored{Cols: m.Outline.Cols, Rows: m.Outline.Rows, VT: t.screen,
		Piped: m.Piped}, events{t})
	t.concluded(m.End)
	t.journal.dir, t.journal.over = r.dir, true
	if unseen {
		t.warn(t.journal.describe(t.describe(t.end), h.now()))
	}
	if r.kept != nil {
		r.kept.Forget()
		r.kept.Close()
	}
	return nil
}

// reenter makes a terminal that an earlier host has left, and gives it its NAME and its channel,
// which has everything but the content. What is still to be done is what differs between one whose
// program has ended and one whose program runs: the executor, the Term, the journal and the past.
func (h *Host) reenter(r *remains) (*Terminal, error) {
	m, o := &r.meta, &r.meta.Outline
	if h.names[m.Name] != nil {
		return nil, fmt.Errorf("a younger terminal has its name, %s", m.Name)
	}
	ch, err := h.store.Add(m.URI, ahp.TerminalState{
		Title: o.Title, Cwd: o.Cwd, Cols: o.Cols, Rows: o.Rows, Claim: ahp.Claim(o.Holder.Claim),
		Client: m.Client, IsPty: m.IsPty, Detection: o.Detection,
		Termhost: ahp.TerminalMeta{Guarded: m.Guarded, Holder: o.Holder.holder().text(),
			Lender: o.prior().lender()},
	})
	if errors.Is(err, store.ErrExists) {
		return nil, fmt.Errorf("a younger terminal has its URI, %s", m.URI)
	}
	if err != nil {
		return nil, err
	}
	t := &Terminal{
		host: h, uri: m.URI, name: m.Name, ch: ch, created: m.Created,
		creator: m.Creator.principal(), transient: m.Transient, forced: m.Forced,
		holder: o.Holder.holder(),
		prior:  o.prior(), lent: o.lent(),
		renamed: o.Renamed, outline: *o, marker: m.Marker, tag: m.Tag,
		guard:   guard{on: m.Guarded, tells: o.Detection},
		started: make(chan struct{}), done: make(chan struct{}), gone: make(chan struct{}),
	}
	t.proof = m.Proof
	t.createdBy = cmp.Or(m.CreatedBy, t.creator.Name)
	t.screen = h.screen(m.Term)
	t.screen.Nonce = m.Nonce
	if last := o.Last; last != nil { // for listings, until the log is read
		ch.Append(last.executed(), nil)
		if last.Over {
			ch.Append(last.finished(), nil)
		}
	}
	h.names[t.name], h.terminals[t.uri] = t, t
	h.order = append(h.order, t)
	if c := t.holder.claim; c.Kind == ahp.ClaimClient && !m.Client && h.clients[c.ClientID] == nil {
		h.clients[c.ClientID] = &client{id: c.ClientID, principal: t.holder.principal,
			name: t.holder.name, left: h.now()}
	}
	return t, nil
}

// concluded makes t a terminal that has ended. It is called before others know t.
func (t *Terminal) concluded(e *ending) {
	st := e.status()
	if now := t.host.now(); e.At.After(now) {
		e.At = now // the clock was set back
	}
	t.exited, t.exitedAt, t.end = true, e.At, e
	if e.Why != "" {
		t.ended.Store(&e.Why)
	}
	if last := t.outline.Last; last != nil && !last.Over {
		ms := max(e.At.Sub(last.Began).Milliseconds(), 0)
		over := ahp.TerminalCommandFinished{CommandID: last.ID, DurationMs: &ms}
		if e.Code != ptypool.UnknownExit {
			over.ExitCode = &e.Code
		}
		t.outline.apply(over, event{}, e.At)
		t.ch.Append(over, nil)
	}
	t.ch.Append(e.action(), nil)
	t.exit.Store(&st)
	close(t.done)
}

// journalRetry is how often a journal is tried again that could not be written.
const journalRetry = time.Second

// retryJournals writes what could not be written before. again: some still cannot.
func (h *Host) retryJournals() (again bool) {
	for _, t := range h.all() {
		if t.journal.notKept() == "" {
			continue
		}
		t.term.Lock()
		t.journal.retry(h.now())
		t.keepCheckpoint()
		t.term.Unlock()
		again = again || t.journal.notKept() != ""
	}
	return again
}
