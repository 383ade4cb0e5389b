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

// The names of those who act, in listings, notices, dialogs, events, refusals and logs. Each has
// one spelling, which is made here:
//
//	ann                      a person: the SSH sessions of a key
//	ann/page, ann/page#2     the web pages that ann has opened
//	guest:dora               a guest
//	ann/claude-infra         a peer of AHP that came in with ann's key, or as ann on this machine:
//	                         the person, and the clientId that the peer has chosen
//	ann/infra, ann/infra#2   a peer that came in with ann's token "infra", and another such peer
//	ann/gemini               an agent of ACP that calls itself so; ann/infra/gemini with a token
//	ann (inside a terminal)  an SSH session of a process inside one of the host's terminals
//
// A program chooses the text behind the first slash, which is shown as a label: see [label]. If two
// connected peers would have the same name, a number tells them apart. Only a person is called
// "you", and only for what the person does by hand: see [holder.yours].

const (
	// maxLabel, in bytes, is how much is shown of a name that a program has chosen: room for a UUID
	// with a word before it.
	maxLabel = 44
	// guestPrefix is the prefix of guests' names.
	guestPrefix = "guest:"
	// insideMark is the suffix of the clientId of SSH sessions of processes inside terminals.
	insideMark = "#inside"
	insideNote = " (inside a terminal)"
)

// label returns a name that a program has chosen in the form in which it is part of a name here:
// ASCII letters, digits and . _ - @ +, with one _ for each run of others. So it has no effect on a
// terminal, reads in one direction, has no slash and no number behind a #, and cannot be mistaken
// for one of the person's pages.
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

// isPage reports whether a label behind a person's name and a slash would name a page of that
// person.
func isPage(label string) bool { return authz.Person("/"+strings.ToLower(label)) == "" }

// nameOf returns the name of a principal at the SSH door.
func nameOf(p authz.Principal) string {
	if p.Inside {
		return p.Name + insideNote
	}
	return p.Name
}

// clientBase returns the name of a client of AHP, without a number.
func clientBase(p authz.Principal, clientID string) string {
	if p.Token != "" {
		return p.Name
	}
	return p.Name + "/" + label(clientID)
}

// agentName returns the name of an agent that calls itself agent and has come in as p.
func agentName(p authz.Principal, agent string) string { return p.Name + "/" + label(agent) }

// nameLocked gives a client of AHP its name, with a number if another client has the name already.
// A number is free again when its client has left and holds nothing. A client that comes back keeps
// its number if it is still free. Host.mu is held.
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

// Name returns the name of the connection's peer. Only the goroutine that calls the verbs may call
// it.
func (c *Conn) Name() string { return Printable(c.name) }

// yours reports whether the holder is p, a person, by hand: with an SSH session. Other programs
// that come in with p's key are somebody else for people.
func (h holder) yours(p authz.Principal) bool {
	return h.principal == p.ID && p.ID != "" && h.byHand() && !p.Inside
}

// byHand reports whether the claim belongs to a person's SSH sessions.
func (h holder) byHand() bool {
	return h.claim.Kind == ahp.ClaimClient && h.viaSSH() &&
		!strings.Contains(h.claim.ClientID, insideMark)
}

// text returns the holder's name for people.
func (h holder) text() string {
	if h.name == "" && h.claim.Kind != "" {
		return "?/" + label(h.claim.Holder()) // of an unknown person
	}
	return Printable(h.name)
}

// restoredName returns the name of a holder from a journal. Earlier hosts wrote "gemini (ann)" for
// an agent and "ann" for other programs that came in with ann's key.
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

// AmbiguousNameError says that a name is that of a guest, without "guest:", and of somebody else.
type AmbiguousNameError struct {
	Name   string
	Others []string // what names each of them alone: "ann (SHA256:...)", "guest:ann"
}

func (e *AmbiguousNameError) Error() string {
	return fmt.Sprintf("%q may be %s; say which", Printable(clip(e.Name)),
		strings.Join(e.Others, " or "))
}

// GuestName returns the name of a guest as it is in the invitation, and as it is in listings.
func GuestName(name string) (given, listed string) {
	given = strings.TrimPrefix(name, guestPrefix)
	return given, guestPrefix + given
}

// named returns the viewers that who names: by the name in listings, by the principal's ID, or by a
// guest's name without "guest:". It returns *AmbiguousNameError if who is such a name of a guest,
// and that of somebody else who is connected.
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
