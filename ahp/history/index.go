package history

import (
	"io"
	"slices"
	"sync"
)

const (
	// logFrameBytes is how much output is between the keyframes of a log, in bytes: reading it
	// takes some milliseconds.
	logFrameBytes = 256 << 10
	// cacheBytes bounds the memory of the keyframes of all logs, in bytes: enough for some large
	// logs.
	cacheBytes = 8 << 20
	// cacheLogs is how many logs have keyframes at a time. The scrollback of each may be in a file.
	cacheLogs = 8
	// logChains is how many chains of keyframes one log has: see chain.
	logChains = 3
)

// Cache bounds the memory of the indexes that it makes. It may be used concurrently.
type Cache struct {
	spacing spacing

	spillMu sync.Mutex // taken without mu
	spill   Spill

	mu    sync.Mutex // no other lock is taken while it is held
	used  []*Index   // those that are not empty, the one used last at the end
	bytes int        // what all hold
}

// Spill saves the scrollback of keyframes: see [vt.Screen.SpillHistory]. It need not be safe for
// concurrent use.
type Spill func(p []byte) (from io.ReaderAt, at int64, err error)

// NewCache returns an empty Cache. Scrollback that spill does not save stays in memory, so fewer
// keyframes fit.
func NewCache(spill Spill) *Cache {
	return &Cache{spill: spill, spacing: spacing{logFrameBytes, framePerByte}}
}

// Index has the keyframes of one log. A nil Index keeps none.
type Index struct {
	cache *Cache
	key   any

	// Guarded by cache.mu.
	survey survey
	chains []*chain // the one used last at the end
	bytes  int      // what all take
}

// chain has the keyframes of readers that keep the same number of lines of scrollback.
type chain struct {
	keyframes[state]
	lines int // see canvas.lines
}

// Index returns the index of the log with this key.
func (c *Cache) Index(key any) *Index {
	c.mu.Lock()
	defer c.mu.Unlock()
	if x := c.indexLocked(key); x != nil {
		return x
	}
	return &Index{cache: c, key: key}
}

// Drop empties the index of a log.
func (c *Cache) Drop(key any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if x := c.indexLocked(key); x != nil {
		x.dropLocked()
	}
}

// indexLocked returns the index of a log if it is not empty, or else nil.
func (c *Cache) indexLocked(key any) *Index {
	i := slices.IndexFunc(c.used, func(x *Index) bool { return x.key == key })
	if i < 0 {
		return nil
	}
	return c.used[i]
}

func (x *Index) dropLocked() {
	c := x.cache
	c.bytes -= x.bytes
	c.used = slices.DeleteFunc(c.used, func(o *Index) bool { return o == x })
	x.survey, x.chains, x.bytes = survey{}, nil, 0
}

// surveyed returns the log's last survey.
func (x *Index) surveyed() survey {
	if x == nil {
		return survey{}
	}
	x.cache.mu.Lock()
	defer x.cache.mu.Unlock()
	return x.survey
}

// learn stores a survey, and drops keyframes that it contradicts: a log that was cleared, or whose
// oldest records were overwritten, is read from its beginning again.
func (x *Index) learn(s *survey) {
	s.own = false
	if x == nil {
		return
	}
	c := x.cache
	c.mu.Lock()
	defer c.mu.Unlock()
	switch old := &x.survey; {
	case old.start != s.start, old.followed != s.followed,
		!old.cleared.same(s.cleared) && old.spot.Less(s.spot):
		x.dropLocked()
	case !old.spot.Less(s.spot):
		return // another reader has stored a later one
	}
	x.survey = *s
	x.countLocked()
}

// chain returns the chain to which a reader adds keyframes, and the last keyframe that it may start
// from; nil: none.
func (x *Index) chain(s *survey, lines int, usable func(*state) bool) (*chain, *state) {
	if x == nil {
		return nil, nil
	}
	x.cache.mu.Lock()
	defer x.cache.mu.Unlock()
	if x.survey.start != s.start || !x.survey.cleared.same(s.cleared) {
		return nil, nil // the log has been cleared since
	}
	ch := &chain{lines: lines, keyframes: keyframes[state]{spacing: x.cache.spacing}}
	if i := slices.IndexFunc(x.chains, func(c *chain) bool { return c.lines == lines }); i >= 0 {
		ch = x.chains[i]
		x.chains = slices.Delete(x.chains, i, i+1)
	}
	x.chains = append(x.chains, ch)
	x.chains = slices.Delete(x.chains, 0, max(0, len(x.chains)-logChains))
	x.countLocked()
	last := ch.last(usable)
	if last == nil {
		return ch, nil
	}
	at := *last // the list may be thinned before the copy is used
	return ch, &at
}

// keep makes a keyframe of a reader's state, if one is due there.
func (x *Index) keep(ch *chain, s *state) {
	if s.screen == nil || s.walk.At.Next().IsZero() {
		return
	}
	c := x.cache
	c.mu.Lock()
	due := slices.Contains(x.chains, ch) && ch.due(s.walk.next)
	c.mu.Unlock()
	if !due {
		return
	}
	s.shown.spill(c.save)
	f := keyframe[state]{at: s.walk.next, state: s.clone()}
	f.bytes = f.state.screen.Memory() + f.state.shown.memory()
	c.mu.Lock()
	defer c.mu.Unlock()
	if slices.Contains(x.chains, ch) && ch.due(f.at) {
		ch.add(f)
		x.countLocked()
	}
}

// countLocked counts the memory of the Index, and shrinks indexes until all are within their
// bounds.
func (x *Index) countLocked() {
	c := x.cache
	if o := c.indexLocked(x.key); o != nil && o != x { // another reader has made one meanwhile
		o.dropLocked()
	}
	c.bytes -= x.bytes
	x.bytes = x.survey.bytes
	for _, ch := range x.chains {
		x.bytes += ch.bytes
	}
	c.bytes += x.bytes
	c.used = slices.DeleteFunc(c.used, func(o *Index) bool { return o == x })
	c.used = append(c.used, x)
	for len(c.used) > 1 && (c.bytes > cacheBytes || len(c.used) > cacheLogs) {
		c.used[0].dropLocked()
	}
	x.shrinkLocked()
}

// shrinkLocked shrinks the only Index left until it is within the bounds.
func (x *Index) shrinkLocked() {
	c := x.cache
	if c.bytes <= cacheBytes {
		return
	}
	if len(x.chains) == 0 { // its survey alone is too large: it has very many commands
		x.dropLocked()
		return
	}
	if ch := x.chains[0]; len(x.chains) > 1 || len(ch.list) == 0 {
		x.chains = x.chains[1:]
	} else {
		ch.thin()
	}
	x.countLocked()
}

// save is the Spill of keyframes.
func (c *Cache) save(p []byte) (io.ReaderAt, int64, error) {
	c.spillMu.Lock()
	defer c.spillMu.Unlock()
	return c.spill(p)
}
