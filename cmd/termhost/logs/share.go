package logs

import (
	"sync"
	"time"

	"termhost/authz"
)

const (
	// burst is how many records of one account are written one by one, at most: a busy day of an
	// agent's. In the default audit log there is room for a hundred times as many.
	burst = 1000
	// refill is how long it takes until an account may have one more record.
	refill = 2 * time.Second
	// overTime is how often what an account does beyond that is written, summed up by event.
	overTime = time.Minute
	// maxAccounts bounds the accounts that are remembered. One more shares with all others.
	maxAccounts = 1024
)

// shares are the parts of a log that accounts may fill. A log of bounded size keeps what one
// account did only as long as no other one can turn it over.
type shares struct {
	now func() time.Time

	mu   sync.Mutex
	left map[string]*budget
}

// budget is how many records an account may still write, as of a time.
type budget struct {
	records float64
	at      time.Time
}

// spent reports whether the account has no record of an event left, and takes one if it has. Logins
// have a budget of their own: who looks every second whether something has come writes thousands,
// beside which what they do must still stand.
func (s *shares) spent(account, event string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if event == authz.AuditLogin || event == authz.AuditLogout {
		account += "\x00logins"
	}
	b := s.left[account]
	if b == nil {
		if len(s.left) >= maxAccounts {
			s.forgetLocked(now)
		}
		if len(s.left) >= maxAccounts {
			account = ""
		}
		if b = s.left[account]; b == nil {
			b = &budget{burst, now}
			s.left[account] = b
		}
	}
	b.fill(now)
	if b.records < 1 {
		return true
	}
	b.records--
	return false
}

// fill adds what the time since the last record is worth.
func (b *budget) fill(now time.Time) {
	b.records = min(burst, b.records+float64(now.Sub(b.at))/float64(refill))
	b.at = now
}

// forgetLocked forgets the accounts whose budget is whole again.
func (s *shares) forgetLocked(now time.Time) {
	for account, b := range s.left {
		if b.fill(now); b.records >= burst {
			delete(s.left, account)
		}
	}
}
