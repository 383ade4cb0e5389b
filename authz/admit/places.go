package admit

import (
	"fmt"
	"sync"

	"termhost/authz"
)

const (
	// share: one account below an admin may have 1/share of all places.
	share = 4
	// leastShare is what an account may have in any case, so that small limits are not divided.
	leastShare = 16
	// reserve: 1/reserve of all places is for admins only.
	reserve = 16
)

// Places counts things of one kind, such as terminals, that accounts have at once. In the zero
// Places none is taken. Its methods may be called concurrently.
type Places struct {
	mu       sync.Mutex // nothing is locked under it
	all      int
	accounts map[string]taken
}

// taken is how many places an account has.
type taken struct{ all, admins int }

// Taken is how many places are taken when somebody asks for one. It is for things that are counted
// where they are, rather than by [Places.Take] and [Places.Leave].
type Taken struct {
	all  int
	have taken // by the account that asks
}

// Count counts a place of other's. p asks.
func (t *Taken) Count(p, other authz.Principal) {
	t.all++
	if other.Account() != p.Account() {
		return
	}
	t.have.all++
	if other.Role == authz.Admin {
		t.have.admins++
	}
}

// Room returns why there is no place for p, or nil. Errors are those of [Places.Take].
func (t *Taken) Room(p authz.Principal, l Limit) error {
	own, most := t.have.all-t.have.admins, l.Each
	switch {
	case l.Own > 0:
		own, most = t.have.all, l.Own
	case p.Role == authz.Admin:
		most = 0
	}
	open := Open(l.Most, p.Role)
	switch {
	case most > 0 && own >= most:
		return &QuotaError{l.What, most, true}
	case l.Bound && t.all >= l.Most:
		return &FullError{l.What, l.Most}
	case t.all >= open && open < l.Most:
		return &QuotaError{l.What, open, false}
	}
	return nil
}

// Limit is how many places there are for a principal.
type Limit struct {
	What string // a plural noun, such as "terminals"
	// Most is how many there are for all accounts, the last of which are for admins; 0: any number.
	Most int
	// Bound: Places refuses what exceeds Most. Otherwise something else does, and Places only keeps
	// the reserve.
	Bound bool
	// Each is how many one account may have; 0: as many as there are. An admin may have more, and
	// its own do not count against its tokens and guests.
	Each int
	// Own, if not 0, replaces Each, for an admin as well: the limit that the configuration sets for
	// the account.
	Own int
}

// QuotaError says that an account has as many of something as it may have.
type QuotaError struct {
	What  string // a plural noun, such as "terminals"
	Limit int
	// Own: it is the account's own limit. Otherwise only the admins' reserve is left.
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

// Share returns how many of most places one account may have, for Limit.Each.
func Share(most int) int {
	if limit := max(leastShare, most/share); limit < most {
		return limit
	}
	return 0
}

// Open returns how many of most places may be taken before a principal of that role is refused:
// all, or all but the reserve.
func Open(most int, role authz.Role) int {
	if role < authz.Admin {
		return most - most/reserve
	}
	return most
}

// Take takes a place for p, which must [Places.Leave], or fails with a *QuotaError or a *FullError.
func (s *Places) Take(p authz.Principal, l Limit) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := Taken{s.all, s.accounts[p.Account()]}
	if err := now.Room(p, l); err != nil {
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
