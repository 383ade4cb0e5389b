package host

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"termhost/ahp"
	"termhost/authz"
)

// Info is a terminal as listings show it. Its strings are free of control
// characters, but for those of Claim.
type Info struct {
	Name, URI, Title string
	Exited           bool
	ExitCode         *int // of an exited terminal; 128+n for signal n; nil: unknown
	Client           bool // executed by a client
	Claim            ahp.Claim
	Holder           string // the name of the principal that holds it, and of its agent
	Agent            string // what the agent that holds it says that it is called; "": nothing
	Mine             bool   // held by the principal that asked
	Cols, Rows       int
	Viewers          int
	Created          time.Time
	LastCommand      string
	Cwd              string
}

// List returns the terminals, oldest first.
func (h *Host) List(p authz.Principal) ([]Info, error) {
	if err := authz.Check(p, authz.List, authz.Target{}); err != nil {
		return nil, err
	}
	h.mu.Lock()
	order := slices.Clone(h.order)
	h.mu.Unlock()
	list := make([]Info, len(order))
	for i, t := range order {
		list[i] = t.Info(p)
	}
	return list, nil
}

// Info returns t as listings show it to p.
func (t *Terminal) Info(p authz.Principal) Info {
	t.term.Lock()
	s := t.ch.Summary()
	holder := t.holder
	t.term.Unlock()
	info := Info{Name: t.name, URI: t.uri, Title: s.Title, Exited: s.Exited, ExitCode: s.ExitCode, Client: s.Client, Claim: s.Claim,
		Holder: Printable(holder.name), Agent: Printable(holder.agent), Mine: holder.principal == p.ID, Cols: s.Cols, Rows: s.Rows, Viewers: s.Readers,
		Created: t.created, LastCommand: Printable(strings.ReplaceAll(s.LastCommand, "\n", " ")), Cwd: Printable(s.Cwd)}
	return info
}

// NotFoundError says that no terminal answers to a name, or more than one does.
type NotFoundError struct {
	Name       string
	Candidates []string // the NAMEs that begin so; empty: none
}

func (e *NotFoundError) Error() string {
	if len(e.Candidates) > 0 {
		return fmt.Sprintf("%q could be any of: %s", Printable(e.Name), strings.Join(e.Candidates, ", "))
	}
	return fmt.Sprintf("there is no terminal %q", Printable(e.Name))
}

// Find returns the terminal of a NAME, or of a prefix of a NAME or a title that
// no other terminal shares; "ahp-terminal:/NAME" is that NAME's terminal and no
// other. It returns a [*NotFoundError] if there is none.
func (h *Host) Find(p authz.Principal, name string) (*Terminal, error) {
	if err := authz.Check(p, authz.List, authz.Target{}); err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if t := h.names[name]; t != nil && h.terminals[t.uri] == t {
		return t, nil
	}
	if strings.HasPrefix(name, ahp.TerminalURI("")) {
		if t := h.terminals[name]; t != nil {
			return t, nil
		}
		return nil, &NotFoundError{Name: name}
	}
	var found []*Terminal
	for _, t := range h.order {
		if name != "" && (strings.HasPrefix(t.name, name) || strings.HasPrefix(t.ch.Summary().Title, name)) {
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

// LastUsed returns the terminal p attached to last, if it runs; else the newest
// running one that p holds or has made; else the one p attached to last all the
// same, or the only one there is; nil if there is none of these.
func (h *Host) LastUsed(p authz.Principal) *Terminal {
	h.mu.Lock()
	last, order := h.lastUsed[p.ID], slices.Clone(h.order)
	h.mu.Unlock()
	if last != nil && !last.exitedNow() {
		return last
	}
	for _, t := range slices.Backward(order) {
		if !t.exitedNow() && t.owned == nil && (t.creator.ID == p.ID || t.heldBy(p)) {
			return t
		}
	}
	if last == nil && len(order) == 1 {
		return order[0]
	}
	return last
}

func (t *Terminal) heldBy(p authz.Principal) bool {
	t.term.Lock()
	defer t.term.Unlock()
	return t.holder.principal == p.ID
}

// freeNameLocked returns base-N with the lowest free N. fresh: nobody else gets
// that NAME as long as the host runs, even when its terminal is forgotten.
func (h *Host) freeNameLocked(base string, fresh bool) string {
	base = cleanName(base)
	for n := h.spent.upTo(base) + 1; ; n++ {
		name := fmt.Sprintf("%s-%d", base, n)
		if h.names[name] != nil {
			continue
		}
		if fresh {
			h.spent.add(base, n)
		}
		return name
	}
}

// maxSpentBases bounds the words that spent remembers, 100 bytes each: far more
// than there are programs that agents run.
const maxSpentBases = 4096

// spent remembers which numbers of NAMEs are not to be given again.
type spent struct {
	byBase map[string]int // the highest one
	others int            // the highest one of all words that are in the map no more
}

// upTo returns the number behind which base has unspent ones only.
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

// cleanName makes a word into the beginning of a NAME.
func cleanName(s string) string {
	const most = ahp.MaxName / 2 // leaves room for the number
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
	t.presentLocked()
	if own := t.owned; own != nil && strings.HasPrefix(own.clientID, sshPrefix) {
		// That of an SSH session that shared, which nobody else can use.
		if cl := h.clients[own.clientID]; cl != nil && cl.conn == nil {
			delete(h.clients, own.clientID)
		}
	}
	delete(h.terminals, t.uri)
	delete(h.names, t.name)
	if i := slices.Index(h.order, t); i >= 0 {
		h.order = slices.Delete(h.order, i, i+1)
	}
	for id, last := range h.lastUsed {
		if last == t {
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
