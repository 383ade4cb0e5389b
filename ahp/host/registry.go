package host

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"termhost/ahp"
	"termhost/authz"
)

// NotFoundError says that no terminal has a name, or that several begin with it.
type NotFoundError struct {
	Name       string
	Candidates []string // the NAMEs of those that it could be; empty: none
}

func (e *NotFoundError) Error() string {
	if len(e.Candidates) > 0 {
		return fmt.Sprintf("%q could be any of: %s", Printable(e.Name),
			strings.Join(e.Candidates, ", "))
	}
	return fmt.Sprintf("there is no terminal %q", Printable(e.Name))
}

// Find returns the terminal of a NAME, or else the only one whose NAME or title begins with name.
// "ahp-terminal:/NAME" is the terminal of exactly that NAME. It returns a [*NotFoundError], or
// *authz.Denied if p may not list.
func (h *Host) Find(p authz.Principal, name string) (*Terminal, error) {
	if err := authz.Check(p, authz.List, authz.Target{}); err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if t := h.names[name]; t != nil && h.terminals[t.uri] == t && t.sees(p) {
		return t, nil
	}
	if strings.HasPrefix(name, ahp.TerminalURI("")) {
		if t := h.terminals[name]; t != nil && t.sees(p) {
			return t, nil
		}
		return nil, &NotFoundError{Name: name}
	}
	var found []*Terminal
	for _, t := range h.visibleLocked(p) {
		begins := strings.HasPrefix(t.name, name) || strings.HasPrefix(t.ch.Summary().Title, name)
		if begins && name != "" {
			found = append(found, t)
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	e := &NotFoundError{Name: name}
	for _, t := range found {
		e.Candidates = append(e.Candidates, t.name)
	}
	return nil, e
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
		if !t.exitedNow() && !t.Client() && (t.creator.ID == p.ID || t.heldBy(p)) {
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

func (t *Terminal) heldBy(p authz.Principal) bool {
	t.term.Lock()
	defer t.term.Unlock()
	return t.holder.principal == p.ID
}

// freeNameLocked returns base-N with the lowest N that is free. fresh: it is given to no other
// terminal as long as the host runs, even when this one is forgotten.
func (h *Host) freeNameLocked(base string, fresh bool) string {
	base = cleanName(base)
	for n := h.spent.upTo(base) + 1; ; n++ {
		name := fmt.Sprintf("%s-%d", base, n)
		if h.names[name] != nil {
			continue
		}
		if fresh {
			h.spent.add(base, n)
			h.note(hostLine{Spent: &spentLine{base, n}})
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
	delete(h.names, t.name)
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
