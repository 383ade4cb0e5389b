package host

import (
	"cmp"
	"strings"
	"unicode/utf8"

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
//	ann/codex, ann/codex#2   clients of MCP that call themselves so; ann/infra/codex with a token
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

// GuestName returns the name of a guest as it is in the invitation, and as it is in listings.
func GuestName(name string) (given, listed string) {
	given = strings.TrimPrefix(name, guestPrefix)
	return given, guestPrefix + given
}
