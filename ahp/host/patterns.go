package host

import (
	"fmt"
	"sync"

	"termhost/ahp/history"
	"termhost/authz"
	"termhost/authz/admit"
)

const (
	// maxPatterns is how much memory the patterns of one account take at most, in bytes: those of
	// all the waits that it may have, of the size that people type, take a tenth of it.
	maxPatterns = 16 << 20
	// maxAllPatterns is how much those of all accounts do. The last of it is for admins.
	maxAllPatterns = 64 << 20
)

// patterns has the regular expressions that peers wait and search with. Each is compiled once for
// all who use it, and counts for each account that does. The zero value is empty.
type patterns struct {
	mu    sync.Mutex // no other lock is taken while it is held
	known map[string]*sharedPattern
	own   map[string]int // the bytes of each account's
	all   int            // those of all known ones
}

// sharedPattern is a pattern that somebody uses.
type sharedPattern struct {
	bytes    int
	users    map[string]int // how often each account uses it; guarded by patterns.mu
	compiled func() (*history.Pattern, error)
}

// PatternRoomError says that a regular expression would take too much memory beside those that are
// in use.
type PatternRoomError struct {
	Limit int  // in bytes
	Own   bool // it is the account's own limit
}

func (e *PatternRoomError) Error() string {
	const text = "the regular expressions that %s and searches with would take more than %d MiB: %s"
	if e.Own {
		return fmt.Sprintf(text, "this key waits", e.Limit>>20,
			"let some waits end, or repeat classes such as \\pL in fewer of them")
	}
	return fmt.Sprintf(text, "everybody waits", e.Limit>>20,
		"try again when others have ended, or with a shorter one")
}

// Pattern returns a pattern for a regular expression of the peer's: see [history.ParseExpression].
// release must be called when it is not used any more, and may be called again. Pattern returns a
// *[PatternRoomError], or what is wrong with the expression.
func (c *Conn) Pattern(expr string, ignoreCase bool) (
	p *history.Pattern, release func(), err error,
) {
	e, err := history.ParseExpression(expr, ignoreCase)
	if err != nil {
		return nil, nil, err
	}
	h := &c.host.patterns
	account := c.principal.Account()
	s, err := h.use(account, c.principal.Role, e)
	if err != nil {
		return nil, nil, err
	}
	release = sync.OnceFunc(func() { h.leave(account, e.String()) })
	if p, err = s.compiled(); err != nil {
		release()
		return nil, nil, err
	}
	return p, release, nil
}

// use counts one more use of an expression by an account.
func (h *patterns) use(account string, role authz.Role, e *history.Expression) (
	*sharedPattern, error,
) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s, more := h.known[e.String()], 0
	if s == nil {
		more = e.Bytes()
		s = &sharedPattern{bytes: more, users: map[string]int{},
			compiled: sync.OnceValues(e.Compile)}
	}
	open := admit.Open(maxAllPatterns, role)
	switch {
	case s.users[account] == 0 && h.own[account]+s.bytes > maxPatterns:
		return nil, &PatternRoomError{maxPatterns, true}
	case h.all+more > open:
		return nil, &PatternRoomError{open, false}
	}
	if h.known == nil {
		h.known, h.own = map[string]*sharedPattern{}, map[string]int{}
	}
	if s.users[account]++; s.users[account] == 1 {
		h.own[account] += s.bytes
	}
	h.known[e.String()] = s
	h.all += more
	return s, nil
}

// leave counts one use less.
func (h *patterns) leave(account, expr string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.known[expr]
	if s.users[account]--; s.users[account] > 0 {
		return
	}
	delete(s.users, account)
	if h.own[account] -= s.bytes; h.own[account] == 0 {
		delete(h.own, account)
	}
	if len(s.users) == 0 {
		delete(h.known, expr)
		h.all -= s.bytes
	}
}
