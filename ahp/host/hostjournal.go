package host

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"termhost/ahp"
)

const (
	// hostJournalFile has what a host must know again besides its terminals. Each line is a
	// [hostLine]; a later one replaces an earlier one about the same thing.
	hostJournalFile = "host.journal" // in the state folder
	// maxHostJournal, in bytes, is after how much more the file is written anew: some thousand
	// connections.
	maxHostJournal = 1 << 20
)

// hostJournal is that file. The zero hostJournal keeps nothing. When it cannot be written the host
// goes on; the next one knows less then.
type hostJournal struct {
	mu    sync.Mutex // no other lock is taken while it is held
	file  *os.File   // nil: nothing is kept
	added int        // bytes since the file was written anew
	told  bool       // that it cannot be written
}

// hostLine is one line. One of the fields is set.
type hostLine struct {
	Client *clientLine `json:"client,omitempty"`
	Used   *usedLine   `json:"used,omitempty"`
	Spent  *spentLine  `json:"spent,omitempty"`
}

// clientLine is a clientId and the principal that it is bound to.
type clientLine struct {
	ID        string    `json:"id"`
	Principal string    `json:"principal"`
	Name      string    `json:"name"`
	Page      int       `json:"page,omitempty"` // the number of a page
	Version   string    `json:"version"`
	Left      time.Time `json:"left,omitzero"` // zero: it is connected
}

// usedLine is which terminal a principal used last.
type usedLine struct {
	Principal string    `json:"principal"`
	Terminal  string    `json:"terminal"` // its URI
	Created   time.Time `json:"created"`
	At        time.Time `json:"at"`
}

// spentLine is a number of a NAME that is not given again; Base "": of any NAME.
type spentLine struct {
	Base string `json:"base,omitempty"`
	N    int    `json:"n"`
}

// note adds a line. It may be called with any lock held.
func (h *Host) note(l hostLine) {
	j := &h.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return
	}
	n, err := j.file.Write(l.append(nil))
	j.added += n
	if err != nil && !j.told {
		j.told = true
		h.log.Warn("the next host will know less of who is connected", "err", err)
	}
}

func (l hostLine) append(dst []byte) []byte {
	text, err := json.Marshal(l)
	if err != nil {
		panic("host: a line does not marshal: " + err.Error()) // it has only plain fields
	}
	return append(append(dst, text...), '\n')
}

func (h *Host) noteClient(cl *client) { h.note(hostLine{Client: cl.line()}) }

func (cl *client) line() *clientLine {
	l := &clientLine{ID: cl.id, Principal: cl.principal, Name: cl.name, Page: cl.page,
		Version: cl.version.String()}
	if cl.conn == nil {
		l.Left = cl.left
	}
	return l
}

func (h *Host) noteUse(principal string, use lastUse) {
	h.note(hostLine{Used: use.line(principal)})
}

func (u lastUse) line(principal string) *usedLine {
	return &usedLine{principal, u.terminal.uri, u.terminal.created, u.at}
}

// recall reads what an earlier host has noted. New calls it before it restores the terminals, and
// noteAll afterwards. It returns which terminals were used last.
func (h *Host) recall() (used map[string]*usedLine) {
	used = map[string]*usedLine{}
	path := filepath.Join(h.cfg().StateDir, hostJournalFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return used
	}
	damaged := 0
	for line := range bytes.Lines(text) {
		var l hostLine
		switch {
		case json.Unmarshal(line, &l) == nil:
			h.recallLine(l, used)
		case bytes.HasSuffix(line, []byte("\n")): // else the last host was killed while writing it
			damaged++
		}
	}
	if damaged > 0 {
		err = fmt.Errorf("%d lines of it are damaged", damaged)
	}
	if err != nil {
		to := path + damagedSuffix
		err = errors.Join(err, os.Rename(path, to))
		h.log.Warn("not all that the last host knew of its clients can be read", "err", err,
			"file", to)
	}
	return used
}

func (h *Host) recallLine(l hostLine, used map[string]*usedLine) {
	switch {
	case l.Client != nil && l.Client.ID != "" && len(l.Client.ID) <= maxClientID:
		c := l.Client
		cl := &client{id: c.ID, principal: c.Principal, name: c.Name, page: c.Page,
			left: c.Left, restored: true}
		cl.version, _ = ahp.ParseVersion(c.Version) // without one it must be initialized anew
		if cl.left.IsZero() {
			cl.left = h.now()
		}
		h.clients[c.ID] = cl
	case l.Used != nil:
		used[l.Used.Principal] = l.Used
	case l.Spent != nil && l.Spent.Base == "":
		h.spent.others = max(h.spent.others, l.Spent.N)
	case l.Spent != nil:
		h.spent.add(l.Spent.Base, max(l.Spent.N, h.spent.byBase[l.Spent.Base]))
	}
}

// recallUses finds the terminals that were used last.
func (h *Host) recallUses(used map[string]*usedLine) {
	for principal, u := range used {
		if t := h.terminals[u.Terminal]; t != nil && t.created.Equal(u.Created) {
			h.lastUsed[principal] = lastUse{t, u.At}
		}
	}
}

// noteAll writes the file anew with what is known now, and opens it for more. Host.mu is held, or
// nobody knows the host yet.
func (h *Host) noteAllLocked() {
	j := &h.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	if h.cfg().StateDir == "" {
		return
	}
	var text []byte
	for _, id := range slices.Sorted(maps.Keys(h.clients)) {
		text = hostLine{Client: h.clients[id].line()}.append(text)
	}
	for principal, use := range h.lastUsed {
		text = hostLine{Used: use.line(principal)}.append(text)
	}
	for base, n := range h.spent.byBase {
		text = hostLine{Spent: &spentLine{base, n}}.append(text)
	}
	if h.spent.others > 0 {
		text = hostLine{Spent: &spentLine{N: h.spent.others}}.append(text)
	}
	path := filepath.Join(h.cfg().StateDir, hostJournalFile)
	err := replaceFile(path, text)
	if err == nil {
		j.close()
		j.file, err = os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0o600)
		j.added = 0
	}
	if err != nil && !j.told {
		j.told = true
		h.log.Warn("the next host will know less of who is connected", "err", err)
	}
}

func (j *hostJournal) close() {
	if j.file != nil {
		j.file.Close()
		j.file = nil
	}
}

// shortenJournal writes the file anew when it has become long. The janitor calls it.
func (h *Host) shortenJournal() {
	h.journal.mu.Lock()
	long := h.journal.added > maxHostJournal
	h.journal.mu.Unlock()
	if long {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.noteAllLocked()
	}
}
