package host

import (
	"maps"
	"slices"

	"termhost/ahp"
	"termhost/ahp/journal"
	"termhost/authz"
)

// note writes a note for the next host. It may be called with any lock held.
func (h *Host) note(n journal.Note) { h.warnOfNotes(h.notes.Add(n)) }

func (h *Host) warnOfNotes(err error) {
	if err != nil {
		h.log.Warn("the next host will know less of who is connected", "err", err)
	}
}

func (h *Host) noteClient(cl *client) { h.note(cl.note()) }

func (cl *client) note() journal.Note {
	c := &journal.Client{ID: cl.id, Principal: cl.principal, Name: cl.name, Number: cl.number,
		Version: cl.version.String()}
	if cl.conn == nil {
		c.Left = cl.left
	}
	return journal.Note{Client: c}
}

func (h *Host) noteUse(principal string, use lastUse) { h.note(use.note(principal)) }

func (u lastUse) note(principal string) journal.Note {
	return journal.Note{Used: &journal.Used{Principal: principal, Terminal: u.terminal.uri,
		Created: u.terminal.origin.created, At: u.at}}
}

// readNotes reads the notes of an earlier host, and returns which terminals were used last. New
// calls it before it restores the terminals, and noteAllLocked afterwards.
func (h *Host) readNotes() (used []*journal.Used) {
	err := journal.ReadNotes(h.cfg().StateDir, func(n journal.Note) {
		if n.Used != nil {
			used = append(used, n.Used)
		}
		h.readNote(n)
	})
	if err != nil {
		h.log.Warn("not all that the last host knew of its clients can be read", "err", err)
		h.notesDamaged = true
	}
	return used
}

// NotesDamaged reports whether this host could not read all that the last one knew of its clients.
// Only those who may take part are told.
func (c *Conn) NotesDamaged() bool {
	return c.host.notesDamaged && c.principal.Role >= authz.Operator && c.principal.Guest == ""
}

func (h *Host) readNote(n journal.Note) {
	switch c, spent := n.Client, n.Spent; {
	case c != nil && c.ID != "" && len(c.ID) <= maxClientID:
		cl := &client{id: c.ID, principal: c.Principal, name: c.Name, number: c.Number,
			left: c.Left, restored: true}
		cl.version, _ = ahp.ParseVersion(c.Version) // without one the client must initialize anew
		if cl.left.IsZero() {
			cl.left = h.now()
		}
		h.clients[c.ID] = cl
	case n.Asks > 0:
		h.lastHeldID.Store(max(h.lastHeldID.Load(), n.Asks))
	case n.Guarded != nil:
		h.guarded.set(n.Guarded.Name, n.Guarded.On)
	case spent != nil && spent.Base == "":
		h.spent.others = max(h.spent.others, spent.N)
	case spent != nil:
		h.spent.add(spent.Base, max(spent.N, h.spent.byBase[spent.Base]))
	}
}

// restoreUses restores which terminals were used last.
func (h *Host) restoreUses(used []*journal.Used) {
	for _, u := range used {
		delete(h.lastUsed, u.Principal)
		if t := h.terminals[u.Terminal]; t != nil && t.origin.created.Equal(u.Created) {
			h.lastUsed[u.Principal] = lastUse{t, u.At}
		}
	}
}

// noteAllLocked replaces the notes by the present state. Host.mu is held, or nobody uses the host
// yet.
func (h *Host) noteAllLocked() {
	h.warnOfNotes(h.notes.Rewrite(h.cfg().StateDir, h.addNotesLocked))
}

func (h *Host) addNotesLocked(add func(journal.Note)) {
	for _, id := range slices.Sorted(maps.Keys(h.clients)) {
		add(h.clients[id].note())
	}
	for principal, use := range h.lastUsed {
		add(use.note(principal))
	}
	for name := range h.guarded {
		add(journal.Note{Guarded: &journal.Guarded{Name: name, On: true}})
	}
	for base, n := range h.spent.byBase {
		add(journal.Note{Spent: &journal.Spent{Base: base, N: n}})
	}
	if h.spent.others > 0 {
		add(journal.Note{Spent: &journal.Spent{N: h.spent.others}})
	}
	if n := h.lastHeldID.Load(); n > 0 {
		add(journal.Note{Asks: n})
	}
}

// shortenNotes replaces the notes if they have become long. The janitor calls it.
func (h *Host) shortenNotes() {
	if h.notes.Long() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.noteAllLocked()
	}
}

// noteGuardedLocked records whether a NAME stays guarded, for the next host as well. Host.mu is
// held.
func (h *Host) noteGuardedLocked(name string, guarded bool) {
	if h.guarded.set(name, guarded) {
		h.note(journal.Note{Guarded: &journal.Guarded{Name: name, On: guarded}})
	}
}
