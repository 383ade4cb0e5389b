package host

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"termhost/ahp"
	"termhost/ahp/journal"
	"termhost/authz"
)

// NotFoundError says that no terminal has a NAME, or that several begin with it.
type NotFoundError struct {
	Name       string
	Candidates []string // the NAMEs of terminals whose NAME or title begins with Name
	Whole      bool     // only a whole NAME is accepted
}

func (e *NotFoundError) Error() string {
	name, others := Printable(e.Name), strings.Join(e.Candidates, ", ")
	switch {
	case len(e.Candidates) == 0:
		return fmt.Sprintf("there is no terminal %q", name)
	case e.Whole:
		return fmt.Sprintf("there is no terminal %q; the whole NAME is needed: %s?", name, others)
	}
	return fmt.Sprintf("%q could be any of: %s", name, others)
}

// Find returns the terminal that has the NAME or the URI name, or else the one that had the NAME.
// It returns a [*NotFoundError], or *authz.Denied if the principal may not list.
func (c *Conn) Find(name string) (*Terminal, error) {
	t, missing, err := c.find(name)
	if t != nil || err != nil {
		return t, err
	}
	missing.Whole = true
	return nil, missing
}

// FindBegun is [Conn.Find], but if no terminal has the NAME, it returns the only one whose NAME or
// title begins with name. It is for callers who show the terminal: programs choose their titles.
func (c *Conn) FindBegun(name string) (*Terminal, error) {
	t, missing, err := c.find(name)
	if t != nil || err != nil {
		return t, err
	}
	if len(missing.Candidates) == 1 {
		return c.Find(missing.Candidates[0])
	}
	return nil, missing
}

// find is Find, but if no terminal has the name, it returns those that begin with it. It waits for
// a terminal that is being started: its program, which may ask for it, runs already.
func (c *Conn) find(name string) (*Terminal, *NotFoundError, error) {
	h, p := c.host, c.principal
	if err := authz.Check(p, authz.List, authz.Target{}); err != nil {
		return nil, nil, err
	}
	ref := h.OwnURI(name)
	h.mu.Lock()
	starting := h.startingLocked(p, ref)
	h.mu.Unlock()
	if starting != nil {
		select {
		case <-starting.life.listed:
		case <-c.ctx.Done():
			return nil, nil, context.Cause(c.ctx)
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, t := range []*Terminal{h.names[name], h.former[name], h.terminals[ref]} {
		if t != nil && h.terminals[t.uri] == t && t.sees(p) {
			return t, nil, nil
		}
	}
	missing := &NotFoundError{Name: name}
	if name == "" || strings.HasPrefix(name, ahp.TerminalURI("")) {
		return nil, missing, nil
	}
	for _, t := range h.visibleLocked(p) {
		if strings.HasPrefix(t.Name(), name) || strings.HasPrefix(t.ch.Summary().Title, name) {
			missing.Candidates = append(missing.Candidates, t.Name())
		}
	}
	return nil, missing, nil
}

// startingLocked returns the terminal of a NAME or URI that is being started and will exist for p,
// or nil.
func (h *Host) startingLocked(p authz.Principal, name string) *Terminal {
	t := h.names[name]
	if id, ok := ahp.TerminalName(name); t == nil && ok {
		t = h.names[id]
	}
	if t == nil || h.terminals[t.uri] == t || !t.sees(p) {
		return nil
	}
	return t
}

// LastUsed returns the terminal for an attach that names none: the one that the principal attached
// to last, if it runs; else the newest running one that it holds or has created; else the one that
// it attached to last, which has exited; else the only one there is; else nil. For a guest, who
// creates none, it is the newest running one, or else the newest.
func (c *Conn) LastUsed() *Terminal {
	last, order := c.used()
	if t := c.running(last, order); t != nil {
		return t
	}
	p := c.principal
	if p.Guest != "" && len(order) > 0 {
		return newest(order)
	}
	if last == nil && len(order) == 1 {
		return order[0]
	}
	return last
}

// LastRunning returns the running terminal that the principal attached to last, or else the newest
// one that it holds or has created; nil: there is none.
func (c *Conn) LastRunning() *Terminal { return c.running(c.used()) }

// used returns the terminal that the principal attached to last, nil if none, and all that it sees.
func (c *Conn) used() (last *Terminal, order []*Terminal) {
	h, p := c.host, c.principal
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lastUsed[p.ID].terminal, h.visibleLocked(p)
}

// running is LastRunning of what used returns.
func (c *Conn) running(last *Terminal, order []*Terminal) *Terminal {
	if last != nil && !last.exitedNow() {
		return last
	}
	for _, t := range slices.Backward(order) {
		mine := t.origin.creator.ID == c.principal.ID || t.keyboard.heldBy(c.principal)
		if mine && !t.exitedNow() && !t.Client() {
			return t
		}
	}
	return nil
}

// newest returns the newest running terminal, or else the newest.
func newest(order []*Terminal) *Terminal {
	for _, t := range slices.Backward(order) {
		if !t.exitedNow() {
			return t
		}
	}
	return order[len(order)-1]
}

// freeNameLocked returns base-N with the lowest N that is free. fresh: no other terminal ever gets
// it, even when this one is forgotten.
func (h *Host) freeNameLocked(base string, fresh bool) string {
	base = cleanName(base)
	for n := max(h.spent.upTo(base)+1, h.taken.below(base)); ; n++ {
		name := numbered(base, n)
		if h.names[name] != nil || h.former[name] != nil ||
			h.terminals[ahp.TerminalURI(name)] != nil {
			continue
		}
		h.taken.set(base, n)
		if fresh {
			h.spent.add(base, n)
			h.note(journal.Note{Spent: &journal.Spent{Base: base, N: n}})
		}
		return name
	}
}

// numbered returns the NAME of a base and a number.
func numbered(base string, n int) string { return base + "-" + strconv.Itoa(n) }

// cleanName turns a word into the beginning of a valid NAME.
func cleanName(s string) string {
	const most = ahp.MaxName / 2 // in bytes; leaves room for the number
	s = strings.TrimLeft(s, "-.")
	b := []byte(s)[:min(len(s), most)]
	for i := range b {
		if !ahp.ValidName(string(b[i])) {
			b[i] = '_'
		}
	}
	return cmp.Or(string(b), "sh")
}

// forgetLocked removes t from the registries.
func (h *Host) forgetLocked(t *Terminal) {
	t.exec.forget()
	delete(h.terminals, t.uri)
	h.taken.free(t.id)
	if h.names[t.Name()] == t {
		delete(h.names, t.Name())
		h.taken.free(t.Name())
		h.namesChangedLocked()
	}
	maps.DeleteFunc(h.former, func(name string, other *Terminal) bool {
		if other == t {
			h.taken.free(name)
		}
		return other == t
	})
	if i := slices.Index(h.order, t); i >= 0 {
		h.order = slices.Delete(h.order, i, i+1)
	}
	for id, last := range h.lastUsed {
		if last.terminal == t {
			delete(h.lastUsed, id)
		}
	}
}

// lookup returns the terminal of a normalized URI, or nil.
func (h *Host) lookup(uri string) *Terminal {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.terminals[uri]
}

// lookupFor returns the terminal of a normalized URI if it exists for p, or nil.
func (h *Host) lookupFor(p authz.Principal, uri string) *Terminal {
	if t := h.lookup(uri); t != nil && t.sees(p) {
		return t
	}
	return nil
}

// visibleLocked returns the terminals that exist for p, oldest first.
func (h *Host) visibleLocked(p authz.Principal) []*Terminal {
	list := make([]*Terminal, 0, len(h.order))
	for _, t := range h.order {
		if t.sees(p) {
			list = append(list, t)
		}
	}
	return list
}
