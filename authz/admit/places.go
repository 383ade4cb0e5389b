package admit

import (
	"fmt"
	"sync"

	"termhost/authz"
)

const (
	// share is the part of all places that one account may have, below an admin.
	share = 4
	// leastShare is how many it may have in any case, so that small limits are not made smaller.
	leastShare = 16
	// reserve is the part that is for admins only.
	reserve = 16
)

// Places are things of one kind that accounts have at once, such as terminals. In the zero Places
// none is taken. Its methods may be called concurrently.
type Places struct {
	mu       sync.Mutex // nothing is locked under it
	all      int
	accounts map[string]taken
}

// taken is how many places an account has.
type taken struct{ all, admins int }

// Limit says how many places there are for a principal.
type Limit struct {
	What string // as it is counted, such as "terminals"
	// Most is how many there are in all, the last of which are for admins; 0: any number.
	Most int
	// Bound has Places refuse what is beyond Most. Otherwise something else does, and only the
	// reserve is kept.
	Bound bool
	// Each is how many one account may have; 0: as many as there are. An admin may have more, and
	// what it has does not count against its tokens and guests.
	Each int
	// Own, if not 0, takes the place of Each, for an admin as well: what the configuration says of
	// the account.
	Own int
}

// QuotaError says that somebody has as many of something as one account may have.
type QuotaError struct {
	What  string // as it is counted, such as "terminals"
	Limit int
	// Own: it is the account's own limit. Otherwise others have the rest, but for what admins need.
	Own bool
}

func (e *QuotaError) Error() string {
	if !e.Own {
		return fmt.Sprintf("there are %d %s, and the rest is for admins", e.Limit, e.What)
	}
	return fmt.Sprintf("this key, with its tokens and guests, has %d %s already", e.Limit, e.What)
}

// FullError says that all places of a kind are taken.
type FullError struct {
	What  string
	Limit int
}

func (e *FullError) Error() string {
	return fmt.Sprintf("this host serves %d %s at once: end one, or try again later",
		e.Limit, e.What)
}

// Share returns how many of most places one account may have: the Each of a [Limit].
func Share(most int) int {
	if limit := max(leastShare, most/share); limit < most {
		return limit
	}
	return 0
}

// Open returns how many of most places principals of a role may take before they are refused: all,
// or what is left without the reserve.
func Open(most int, role authz.Role) int {
	if role < authz.Admin {
		return most - most/reserve
	}
	return most
}

// Take gives p a place, which it must [Places.Leave], unless the limit refuses that: then the error
// is a *QuotaError or a *FullError.
func (s *Places) Take(p authz.Principal, l Limit) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.roomLocked(p, l); err != nil {
		return err
	}
	s.addLocked(p, 1)
	return nil
}

// Leave gives up a place of p, whose role must be that with which it was taken.
func (s *Places) Leave(p authz.Principal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addLocked(p, -1)
}

// roomLocked returns why there is no place for p; nil: there is one.
func (s *Places) roomLocked(p authz.Principal, l Limit) error {
	have := s.accounts[p.Account()]
	own, most := have.all-have.admins, l.Each
	switch {
	case l.Own > 0:
		own, most = have.all, l.Own
	case p.Role == authz.Admin:
		most = 0
	}
	open := Open(l.Most, p.Role)
	switch {
	case most > 0 && own >= most:
		return &QuotaError{l.What, most, true}
	case l.Bound && s.all >= l.Most:
		return &FullError{l.What, l.Most}
	case s.all >= open && open < l.Most:
		return &QuotaError{l.What, open, false}
	}
	return nil
}

func (s *Places) addLocked(p authz.Principal, n int) {
	s.all += n
	have := s.accounts[p.Account()]
	have.all += n
	if p.Role == authz.Admin {
		have.admins += n
	}
	if have == (taken{}) {
		delete(s.accounts, p.Account())
		return
	}
	if s.accounts == nil {
		s.accounts = map[string]taken{}
	}
	s.accounts[p.Account()] = have
}
