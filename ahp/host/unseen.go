package host

import (
	"strings"
	"time"

	"termhost/ahp"
	"termhost/authz"
	"termhost/keys"
)

// Unseen is a reason for which a terminal wants a person who has not seen it.
type Unseen struct {
	Terminal string // its NAME
	ID       string // tells apart terminals that had the same NAME
	Labels   ahp.Labels
	Group    string // as in [Info]
	// Person is the name of who made the terminal or holds it, without that of a token.
	Person   string
	PersonID string // of the Principal
	Why      Want
	Ask      string    // with an approval: the first that is to be decided; "": it is elsewhere
	At       time.Time // when it came up as news last
	First    time.Time // when it came up first since the person has looked
	Since    time.Time // since when it has been so, for people
	Text     string    // what the program has said with that, for display; "": nothing
	Failed   bool      // of WantExited: the status is not 0, or nobody knows it
	ExitCode *int      // of WantExited: the status; nil: nobody knows it
}

// Unseen returns the terminals that want their makers and holders, agents' terminals included, if
// these have not looked since: an element for each reason, of a terminal the most pressing first.
// Quiet terminals, which want nobody, are among them with [WantQuiet].
func (h *Host) Unseen() (list []Unseen) {
	for _, t := range h.all() {
		list = append(list, t.unseen()...)
	}
	return list
}

// WantQuiet: what runs has printed nothing for quiet_after.
const WantQuiet Want = "quiet"

func (t *Terminal) unseen() (list []Unseen) {
	cwd := t.ch.Summary().Cwd
	t.term.Lock()
	maker := personOf(t.origin.creator)
	people := []authz.Principal{maker}
	kb := &t.keyboard
	id := ownerID(kb.holder.principal)
	if name, _, _ := strings.Cut(kb.holder.text(), "/"); id != "" && id != maker.ID {
		people = append(people, authz.Principal{ID: id, Name: name})
	}
	for _, p := range people {
		for _, r := range t.unseenReasons(p) {
			u := Unseen{Terminal: t.Name(), ID: t.id, Labels: t.Labels(),
				Person: Printable(p.Name), PersonID: p.ID, Why: r.why, At: r.at, First: r.first,
				Since: r.at, Text: r.text}
			switch held := t.approvals.held; {
			case r.why == WantQuiet:
				u.Since = r.first
			case r.why == WantExited:
				u.ExitCode = t.ch.Summary().ExitCode
				u.Failed = u.ExitCode == nil || *u.ExitCode != 0
			case r.why == Want(WaitingApproval) && len(held) > 0:
				u.Ask = held[0].id
			}
			list = append(list, u)
		}
	}
	t.term.Unlock()
	for i := range list {
		list[i].Group = t.host.groups.of(t, cwd)
	}
	return list
}

// unseenReasons returns why the terminal wants p, the most pressing reason first, without what p
// has seen. The Term's lock is held.
func (t *Terminal) unseenReasons(p authz.Principal) (list []reason) {
	w, _ := t.attention.wants(p)
	for _, r := range w.all {
		if !r.at.IsZero() {
			list = append(list, r)
		}
	}
	s := t.attention.by[p.ID]
	since, quiet := t.waiting.Quiet()
	if quiet && !t.attention.over && (s == nil || s.looking == 0 && !since.Before(s.seen)) {
		list = append(list, reason{why: WantQuiet, first: t.waiting.LastPrinted(), at: since})
	}
	return list
}

// personOf returns the person behind a principal: that of a token is who has made the token.
func personOf(p authz.Principal) authz.Principal {
	name, _, _ := strings.Cut(p.Name, "/")
	return authz.Principal{ID: ownerID(p.ID), Name: name}
}

// fingerprintBytes is the length of a key's fingerprint, in which there may be slashes.
const fingerprintBytes = len("SHA256:") + 43

// ownerID returns the ID of a principal without that of its token or client.
func ownerID(id string) string {
	if len(id) >= fingerprintBytes && keys.IsFingerprint(id[:fingerprintBytes]) {
		return id[:fingerprintBytes]
	}
	id, _, _ = strings.Cut(id, "/")
	return id
}

// UnseenChanges returns a channel that receives a value when [Host.Unseen] may have changed, and a
// function that ends that.
func (h *Host) UnseenChanges() (calls <-chan struct{}, end func()) {
	c := make(chan struct{}, 1)
	p := &h.watchers
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.others == nil {
		p.others = map[chan struct{}]struct{}{}
	}
	p.others[c] = struct{}{}
	return c, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.others, c)
	}
}
