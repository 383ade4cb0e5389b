package host

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"termhost/ahp"
	"termhost/ahp/journal"
	"termhost/authz"
)

// How those who do something are named, in listings, notices, dialogs, events, refusals and logs.
// There is one spelling for each, and it is made here:
//
//	ann                      a person: the SSH sessions of a key
//	ann/page, ann/page#2     the web pages that ann has opened
//	guest:dora               a guest
//	ann/claude-infra         a peer of AHP that came in with ann's key, or as ann on this machine:
//	                         the person, and the clientId that the peer has chosen
//	ann/infra, ann/infra#2   what came in with ann's token "infra", and another client of it
//	ann/gemini               an agent of ACP that calls itself so; ann/infra/gemini with a token
//	ann (inside a terminal)  an SSH session of a process inside one of the host's terminals
//
// What is behind the first slash is chosen by a program. It is shown as a label: see [label]. Two
// that are connected and would be called the same are told apart by a number. "you" is said to a
// person only, and only of the person's own hands: see [holder.yours].

const (
	// maxLabel is how much of what a program calls itself is shown, in bytes: a UUID, with a word
	// before it.
	maxLabel = 44
	// guestPrefix begins the names of guests.
	guestPrefix = "guest:"
	// insideMark ends the clientId of the SSH sessions of processes inside terminals.
	insideMark = "#inside"
	insideNote = " (inside a terminal)"
)

// label returns what a program calls itself as a part of a name: letters, digits and . _ - @ + of
// ASCII, with one _ for whatever else there is. So it acts on no terminal, reads in one direction,
// has no slash and no number behind a #, and cannot be told for one of the person's pages.
func label(s string) string {
	var b strings.Builder
	for _, r := range s {
		if b.Len() == maxLabel {
			b.WriteString("…")
			break
		}
		plain := r < utf8.RuneSelf && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' ||
			r >= '0' && r <= '9' || strings.ContainsRune("._-@+", r))
		switch {
		case plain:
			b.WriteRune(r)
		case !strings.HasSuffix(b.String(), "_"):
			b.WriteByte('_')
		}
	}
	if text := cmp.Or(b.String(), "_"); !isPage(text) {
		return text
	}
	return b.String() + "_"
}

// isPage reports whether what follows a person's name and a slash names one of the person's pages.
func isPage(label string) bool { return authz.Person("/"+strings.ToLower(label)) == "" }

// nameOf returns how a principal is called that comes by the SSH door.
func nameOf(p authz.Principal) string {
	if p.Inside {
		return p.Name + insideNote
	}
	return p.Name
}

// clientBase returns how a client of AHP is called, without a number.
func clientBase(p authz.Principal, clientID string) string {
	if p.Token != "" {
		return p.Name
	}
	return p.Name + "/" + label(clientID)
}

// agentName returns how an agent is called that calls itself agent and comes in as p.
func agentName(p authz.Principal, agent string) string { return p.Name + "/" + label(agent) }

// nameLocked gives a client of AHP its name. If somebody else has it, it gets a number, which is
// free again when that one has left and holds nothing. A client that comes back keeps its number.
// Host.mu is held.
func (h *Host) nameLocked(cl *client, p authz.Principal) {
	base := clientBase(p, cl.id)
	if base != cl.base() {
		cl.number = 0
	}
	taken, holds := map[int]bool{}, h.claimsLocked()
	for _, other := range h.clients {
		here := other.conn != nil || holds[other.id] || other.restored && !h.leftLocked(other)
		if other != cl && here && other.base() == base {
			taken[max(other.number, 1)] = true
		}
	}
	if cl.number == 0 || taken[cl.number] {
		for cl.number = 1; taken[cl.number]; cl.number++ {
		}
	}
	cl.name = base
	if cl.number > 1 {
		cl.name += fmt.Sprintf("#%d", cl.number)
	}
}

// base returns the client's name without its number.
func (cl *client) base() string {
	if cl.number > 1 {
		return strings.TrimSuffix(cl.name, fmt.Sprintf("#%d", cl.number))
	}
	return cl.name
}

// Name returns how the connection's peer is called. It is for the goroutine that calls the verbs.
func (c *Conn) Name() string { return Printable(c.name) }

// yours reports whether it is p, a person, who holds the terminal by its own hands: with an SSH
// session. Other programs that come in with p's key are somebody else for people.
func (h holder) yours(p authz.Principal) bool {
	return h.principal == p.ID && p.ID != "" && h.byHand() && !p.Inside
}

// byHand reports whether the claim is that of the SSH sessions of a person.
func (h holder) byHand() bool {
	return h.claim.Kind == ahp.ClaimClient && h.viaSSH() &&
		!strings.Contains(h.claim.ClientID, insideMark)
}

// text returns the holder's name for people.
func (h holder) text() string {
	if h.name == "" && h.claim.Kind != "" {
		return "?/" + label(h.claim.Holder()) // that of no person
	}
	return Printable(h.name)
}

// restoredName returns the name of a holder. Earlier hosts wrote "gemini (ann)" for an agent and
// "ann" for other programs that came in with ann's key.
func restoredName(h journal.Holder) string {
	claim := ahp.Claim(h.Claim)
	by, named := strings.CutPrefix(h.Name, h.Agent+" (")
	switch {
	case h.Agent != "" && named:
		return strings.TrimSuffix(by, ")") + "/" + label(h.Agent)
	case strings.Contains(h.Name, "/"), strings.HasPrefix(claim.ClientID, sshPrefix):
		return h.Name
	}
	return h.Name + "/" + label(cmp.Or(claim.ClientID, "agent"))
}

// AmbiguousNameError says that a name is short for a guest's, and somebody else's, too.
type AmbiguousNameError struct {
	Name   string
	Others []string // as listings have them, each with what else names it
}

func (e *AmbiguousNameError) Error() string {
	return fmt.Sprintf("%q may be %s; say which", Printable(clip(e.Name)),
		strings.Join(e.Others, " or "))
}

// GuestName returns the name of an invitation's guest, as it was given and as listings have it.
func GuestName(name string) (given, listed string) {
	given = strings.TrimPrefix(name, guestPrefix)
	return given, guestPrefix + given
}

// named returns those of a list whom who names: a name of the listing, the ID of a principal, or
// the name of a guest without its "guest:", unless somebody else who is here has that name.
func (h *Host) named(list []Viewer, who string) (found []Viewer, err error) {
	others, guests := map[string]bool{}, false
	for _, v := range list {
		switch {
		case v.principal.ID == who:
			found = append(found, v)
		case v.Name == who:
			found = append(found, v)
			others[v.Name+" ("+v.principal.ID+")"] = true
		case v.principal.Guest != "" && v.Name == guestPrefix+who:
			found = append(found, v)
			guests = true
		}
	}
	if !guests {
		return found, nil
	}
	for _, c := range h.connections() {
		if p := c.principal; p.Guest == "" && Printable(p.Name) == who {
			others[who+" ("+p.ID+")"] = true
		}
	}
	if len(others) > 0 {
		e := &AmbiguousNameError{Name: who}
		for name := range others {
			e.Others = append(e.Others, name)
		}
		slices.Sort(e.Others)
		e.Others = append(e.Others, guestPrefix+who)
		return nil, e
	}
	return found, nil
}
