package host

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"termhost/ahp"
	"termhost/ahp/journal"
	"termhost/authz"
)

// NotFoundError says that no terminal has a name, or that several begin with it.
type NotFoundError struct {
	Name       string
	Candidates []string // the NAMEs of those that begin so, or whose titles do; empty: none
	Whole      bool     // a NAME's beginning is not enough
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

// Find returns the terminal of a NAME or a URI, or else the one that had the NAME. It returns a
// [*NotFoundError], or *authz.Denied if p may not list.
func (h *Host) Find(p authz.Principal, name string) (*Terminal, error) {
	t, missing, err := h.find(p, name)
	if t != nil || err != nil {
		return t, err
	}
	missing.Whole = true
	return nil, missing
}

// FindBegun is [Host.Find], or else returns the only terminal whose NAME or title begins with name.
// It is for those who look at the terminal next: programs choose their titles.
func (h *Host) FindBegun(p authz.Principal, name string) (*Terminal, error) {
	t, missing, err := h.find(p, name)
	if t != nil || err != nil {
		return t, err
	}
	if len(missing.Candidates) == 1 {
		return h.Find(p, missing.Candidates[0])
	}
	return nil, missing
}

// find is Find, and says which terminals begin with a name that none has.
func (h *Host) find(p authz.Principal, name string) (*Terminal, *NotFoundError, error) {
	if err := authz.Check(p, authz.List, authz.Target{}); err != nil {
		return nil, nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, t := range []*Terminal{h.names[name], h.former[name], h.terminals[name]} {
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

// LastUsed returns the terminal to which an attach that names none goes: the one that p attached to
// last, if it runs; else the newest running one that p holds or has made; else the one that p
// attached to last though it has exited; else the only one there is; else nil. For a guest, who
// makes none, it is the newest one, if possible a running one.
func (h *Host) LastUsed(p authz.Principal) *Terminal {
	h.mu.Lock()
	last, order := h.lastUsed[p.ID].terminal, h.visibleLocked(p)
	h.mu.Unlock()
	if last != nil && !last.exitedNow() {
		return last
	}
	for _, t := range slices.Backward(order) {
		if !t.exitedNow() && !t.Client() && (t.origin.creator.ID == p.ID || t.keyboard.heldBy(p)) {
			return t
		}
	}
	if p.Guest != "" && len(order) > 0 {
		return newest(order)
	}
	if last == nil && len(order) == 1 {
		return order[0]
	}
	return last
}

func newest(order []*Terminal) *Terminal {
	for _, t := range slices.Backward(order) {
		if !t.exitedNow() {
			return t
		}
	}
	return order[len(order)-1]
}

func (kb *keyboardClaim) heldBy(p authz.Principal) bool {
	kb.t.term.Lock()
	defer kb.t.term.Unlock()
	return kb.holder.principal == p.ID
}

// freeNameLocked returns base-N with the lowest N that is free. fresh: it is given to no other
// terminal as long as the host runs, even when this one is forgotten.
func (h *Host) freeNameLocked(base string, fresh bool) string {
	base = cleanName(base)
	for n := h.spent.upTo(base) + 1; ; n++ {
		name := fmt.Sprintf("%s-%d", base, n)
		if h.names[name] != nil || h.former[name] != nil ||
			h.terminals[ahp.TerminalURI(name)] != nil {
			continue
		}
		if fresh {
			h.spent.add(base, n)
			h.note(journal.Note{Spent: &journal.Spent{Base: base, N: n}})
		}
		return name
	}
}

// maxSpentBases bounds the words that spent remembers, of some 100 bytes each. It is far more than
// there are programs that agents run.
const maxSpentBases = 4096

// spent remembers which numbers are not to be given again, of the NAMEs that are a word with a
// number.
type spent struct {
	byBase map[string]int // the highest number of each word
	others int            // the highest number of all words that the map no longer has
}

// upTo returns the number of base above which none is spent.
func (s *spent) upTo(base string) int { return max(s.byBase[base], s.others) }

func (s *spent) add(base string, n int) {
	if _, known := s.byBase[base]; !known && len(s.byBase) >= maxSpentBases {
		for _, n := range s.byBase {
			s.others = max(s.others, n)
		}
		s.byBase = nil
	}
	if s.byBase == nil {
		s.byBase = map[string]int{}
	}
	s.byBase[base] = n
}

// cleanName makes the beginning of a legal NAME out of a word.
func cleanName(s string) string {
	const most = ahp.MaxName / 2 // bytes, which leaves room for the number
	s = strings.TrimLeft(s, "-.")
	b := []byte(s)[:min(len(s), most)]
	for i := range b {
		if !ahp.ValidName(string(b[i])) {
			b[i] = '_'
		}
	}
	return cmp.Or(string(b), "sh")
}

// forgetLocked takes t out of the registries.
func (h *Host) forgetLocked(t *Terminal) {
	t.exec.forget()
	delete(h.terminals, t.uri)
	if h.names[t.Name()] == t {
		delete(h.names, t.Name())
	}
	maps.DeleteFunc(h.former, func(_ string, other *Terminal) bool { return other == t })
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
