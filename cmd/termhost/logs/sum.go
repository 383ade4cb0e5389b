package logs

import (
	"context"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// sumTime is how often a record is written that repeats, unless sum is told otherwise.
	sumTime = time.Second
	// maxCounts bounds what is counted apart of one message. Beyond it, its records of one account
	// count as alike.
	maxCounts = 256
	// maxNames is how many bytes of terminals' NAMEs one record has at most that sums up others.
	maxNames = 2 << 10
)

// sum returns a handler that hands records on to next and sums up those that repeat. every says, by
// message, for how long, in whole seconds, where that is not sumTime.
func sum(next slog.Handler, every map[string]time.Duration) *summing {
	return &summing{next: next, counts: &counts{every: every, alike: map[string]*repeated{},
		apart: map[string]int{}}}
}

// share returns a handler that in addition counts what one account does beyond its share of the
// log: see shares.
func (s *summing) share() *summing {
	s.shares = &shares{now: time.Now, left: map[string]*budget{}}
	return s
}

// summing is a slog.Handler that keeps records back and counts them if one that is alike has been
// written in the last second.
type summing struct {
	next   slog.Handler
	counts *counts // shared with handlers made by WithAttrs and WithGroup
	shares *shares // as well; nil: everybody may write as much as they do
	what   likeness
}

// likeness is the part that is equal in records that are summed up: the whole record or, of a
// refusal with a reason, the message, the request, the terminal, and the principal or else the
// peer's address without its port. A peer has a say in reasons, and would make each of them
// another.
type likeness struct {
	attrs  string
	about  string // the verb and the terminal
	source string
	who    string
	reason bool

	terminal string
}

func (l *likeness) add(a slog.Attr) {
	switch a.Key {
	case "remote", "from":
		l.source = a.Value.String()
		if host, _, err := net.SplitHostPort(l.source); err == nil {
			l.source = host
		}
	case "who", "principal":
		l.who = a.Value.String()
	case "reason":
		l.reason = true
	case "verb", "terminal":
		if a.Key == "terminal" {
			l.terminal = a.Value.String()
		}
		l.about += "\x00" + a.Key + "\x00" + a.Value.String()
	default:
		l.attrs += "\x00" + a.Key + "\x00" + a.Value.String()
	}
}

func (l *likeness) key(message string) string {
	key := message + "\x00" + l.source + "\x00" + l.who + l.about
	if l.reason {
		return key
	}
	return key + l.attrs
}

func (s *summing) Enabled(ctx context.Context, level slog.Level) bool {
	return s.next.Enabled(ctx, level)
}

func (s *summing) WithAttrs(attrs []slog.Attr) slog.Handler {
	c := *s
	c.next = s.next.WithAttrs(attrs)
	for _, a := range attrs {
		c.what.add(a)
	}
	return &c
}

func (s *summing) WithGroup(name string) slog.Handler {
	c := *s
	c.next = s.next.WithGroup(name)
	return &c
}

func (s *summing) Handle(ctx context.Context, r slog.Record) error {
	what := s.what
	r.Attrs(func(a slog.Attr) bool {
		what.add(a)
		return true
	})
	key, every := what.key(r.Message), s.counts.everyOf(r.Message)
	account, _, token := strings.Cut(what.who, "/")
	if token {
		account += "/" // all tokens of a key together
	}
	rough := r.Message + "\x00" + account
	if account != "" && s.shares != nil && s.shares.spent(account, r.Message) {
		key, every = rough, overTime
	}
	if s.counts.repeats(key, rough, every, s.next, r, what.terminal) {
		return nil
	}
	return s.next.Handle(ctx, r)
}

// counts are the records that may repeat.
type counts struct {
	every map[string]time.Duration
	mu    sync.Mutex
	alike map[string]*repeated
	apart map[string]int // how many of these there are, by message
	timer *time.Timer    // once a second; nil: there is nothing to count
}

// repeated is what has come since a record that was alike was written.
type repeated struct {
	message string
	next    slog.Handler
	last    slog.Record
	n       int
	names   []string // of the terminals that they are about
	bytes   int      // how long these are
	// Counting began at since. At due it is written or, if there is nothing to write, forgotten.
	since, due time.Time
}

// everyOf returns how often records of a message are written that repeat.
func (c *counts) everyOf(message string) time.Duration {
	if every, ok := c.every[message]; ok {
		return every
	}
	return sumTime
}

// repeats reports whether a record is one to count and not to write. If it is written, those that
// follow are counted for every. Where too much is counted apart already, records are alike that
// have the same rough key. terminal is what the record is about; "": something else.
func (c *counts) repeats(
	key, rough string, every time.Duration, next slog.Handler, r slog.Record, terminal string,
) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.alike[key] == nil && c.apart[r.Message] >= maxCounts {
		key = rough
	}
	if same := c.alike[key]; same != nil {
		same.next, same.last = next, r.Clone()
		same.n++
		same.name(terminal)
		return true
	}
	now := time.Now()
	c.alike[key] = &repeated{message: r.Message, since: now, due: now.Add(every)}
	c.apart[r.Message]++
	if c.timer == nil {
		c.timer = time.AfterFunc(sumTime, func() { c.write(time.Now()) })
	}
	return false
}

// name records which terminal a record is about that is counted.
func (r *repeated) name(terminal string) {
	switch {
	case terminal == "" || slices.Contains(r.names, terminal):
	case r.bytes+len(terminal) <= maxNames:
		r.names, r.bytes = append(r.names, terminal), r.bytes+len(terminal)+1
	case len(r.names) == 0 || r.names[len(r.names)-1] != "...":
		r.names = append(r.names, "...")
	}
}

// flush writes all that was counted.
func (c *counts) flush() {
	const ages = 24 * time.Hour
	c.write(time.Now().Add(ages))
}

// write writes the counts that are due at now, and forgets records that have not repeated.
func (c *counts) write(now time.Time) {
	var due []*repeated
	c.mu.Lock()
	for key, same := range c.alike {
		if same.due.After(now) {
			continue
		}
		if same.n > 0 {
			due = append(due, same)
			every := same.due.Sub(same.since)
			c.alike[key] = &repeated{message: same.message, since: same.due,
				due: same.due.Add(every)}
			continue
		}
		delete(c.alike, key)
		if c.apart[same.message]--; c.apart[same.message] == 0 {
			delete(c.apart, same.message)
		}
	}
	c.timer = nil
	if len(c.alike) > 0 {
		c.timer = time.AfterFunc(sumTime, func() { c.write(time.Now()) })
	}
	c.mu.Unlock()
	for _, same := range due {
		if same.n > 1 {
			same.last.AddAttrs(slog.Int("count", same.n))
		}
		if len(same.names) > 1 {
			same.last.AddAttrs(slog.String("terminals", strings.Join(same.names, " ")))
		}
		_ = same.next.Handle(context.Background(), same.last) // there is nowhere to tell it
	}
}
