package admit

import "sync"

// Tally counts how much each account uses of something, such as bytes of memory. The zero Tally is
// empty. Its methods may be called concurrently.
type Tally struct {
	mu       sync.Mutex // nothing is locked under it
	all      int64
	accounts counts[string]
}

// Add adds n, which may be negative, to what an account uses. It returns the account's new total,
// and that of all accounts.
func (t *Tally) Add(account string, n int64) (own, all int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.addLocked(account, n)
}

// AddUpTo adds n unless the account would then use more than most. It reports whether it has.
func (t *Tally) AddUpTo(most int64, account string, n int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.accounts[account]+n > most {
		return false
	}
	t.addLocked(account, n)
	return true
}

func (t *Tally) addLocked(account string, n int64) (own, all int64) {
	if t.accounts == nil {
		t.accounts = counts[string]{}
	}
	t.all += n
	return t.accounts.add(account, n), t.all
}

// counts are numbers by key. Keys with 0 are deleted.
type counts[K comparable] map[K]int64

// add adds n to the number of a key and returns the sum.
func (c counts[K]) add(key K, n int64) int64 {
	sum := c[key] + n
	if sum == 0 {
		delete(c, key)
	} else {
		c[key] = sum
	}
	return sum
}

// sum returns what all keys have together.
func (c counts[K]) sum() (n int64) {
	for _, own := range c {
		n += own
	}
	return n
}

// OldestOfLargest returns the index of the item to evict: the oldest of the owner whose items are
// largest in sum. So nobody's items push out what others have left behind. items must not be empty;
// the oldest comes first.
func OldestOfLargest[T any](items []T, owner func(T) string, size func(T) int64) int {
	sizes := map[string]int64{}
	for _, x := range items {
		sizes[owner(x)] += size(x)
	}
	most, at := int64(-1), 0
	for i, x := range items {
		if n := sizes[owner(x)]; n > most {
			most, at = n, i
		}
	}
	return at
}
