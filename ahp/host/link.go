package host

import (
	"encoding/json"
	"errors"
	"net/url"
	"slices"

	"termhost/ahp"
	"termhost/authz"
	"termhost/keys"
)

// Link returns the URL that opens the page at an address, see [PageRequest], once and within an
// hour, for the person of the first of list: it shows those of list's terminals that want this
// person, and no others. With an ask it leads to that. Errors are *PageURLError and those of
// [authz.Authority.MakeLink].
func (h *Host) Link(base string, list []Unseen) (string, error) {
	u, err := h.pageURL(base)
	if err != nil {
		return "", err
	}
	r := authz.LinkRequest{Person: list[0].PersonID, Origin: u.Scheme + "://" + u.Host}
	var shown []*Unseen
	for i := range list {
		t := h.terminalOf(&list[i])
		if t == nil || list[i].PersonID != r.Person || len(shown) == keys.MaxInviteTerminals ||
			slices.ContainsFunc(shown, func(u *Unseen) bool { return u.ID == list[i].ID }) {
			continue // of a terminal the most pressing reason is first
		}
		shown = append(shown, &list[i])
		r.Terminals = append(r.Terminals, keys.InvitedTerminal{Name: t.id,
			Created: t.origin.created})
		if proof := t.proofOf(r.Person); proof != nil {
			r.Proof = proof
		}
	}
	if len(shown) == 0 {
		return "", errEnded
	}
	ticket, g, err := h.cfg().Authority.MakeLink(r)
	if err != nil {
		return "", err
	}
	h.auditLog.Info(authz.AuditPage, "who", g.Principal.Name, "key", g.Principal.ID, "origin",
		r.Origin, "terminal", shown[0].Terminal, "reason", "a notification has the link")
	text := u.String() + "#t=" + ticket // what follows the # is never sent to a server
	if len(shown) > 1 {
		return text, nil // the page shows the list of them
	}
	text += "&/" + url.PathEscape(shown[0].ID)
	if ask := shown[0].Ask; ask != "" {
		text += "?ask=" + url.QueryEscape(ask)
	}
	return text, nil
}

var errEnded = errors.New("the terminal is gone")

// terminalOf returns the terminal of u; nil: it is gone.
func (h *Host) terminalOf(u *Unseen) *Terminal {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.terminals[ahp.TerminalURI(u.ID)]
}

// proofOf returns the proof of the person's identity with which the person has made the terminal;
// nil: another one has, or there is none.
func (t *Terminal) proofOf(person string) json.RawMessage {
	if t.origin.creator.ID != person {
		return nil
	}
	return t.origin.proof
}
