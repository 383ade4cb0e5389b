package logs

import (
	"context"
	"log/slog"
	"net"
	"strings"
	"sync"
	"time"
)

const (
	// sumTime is how often a record is written that repeats, unless sum is told otherwise.
	sumTime = time.Second
	// maxCounts bounds what is counted apart. Beyond it, records of one message count as alike.
	maxCounts = 256
)

// sum returns a handler that hands records on to next and sums up those that repeat. every says, by
// message, for how long, in whole seconds, where that is not sumTime.
func sum(next slog.Handler, every map[string]time.Duration) *summing {
	return &summing{next: next, counts: &counts{every: every, alike: map[string]*repeated{}}}
}

// summing is a slog.Handler that keeps records back and counts them if one that is alike has been
// written in the last second.
type summing struct {
	next   slog.Handler
	counts *counts // shared with handlers made by WithAttrs and WithGroup
	what   likeness
}

// likeness is what is alike in records that are summed up: all of them, or, if there is a reason
// why something was refused, the message and who did it, or else the peer's address without its
// port. A peer has a say in reasons, and would make each of them another.
type likeness struct {
	attrs  string
	source string
	who    string
	reason bool
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
	default:
		l.attrs += "\x00" + a.Key + "\x00" + a.Value.String()
	}
}

func (l *likeness) key(message string) string {
	key := message + "\x00" + l.source + "\x00" + l.who
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
	if s.counts.repeats(what.key(r.Message), s.next, r) {
		return nil
	}
	return s.next.Handle(ctx, r)
}

// counts are the records that may repeat.
type counts struct {
	every map[string]time.Duration
	mu    sync.Mutex
	alike map[string]*repeated
	timer *time.Timer // once a second; nil: there is nothing to count
}

// repeated is what has come since a record that was alike was written.
type repeated struct {
	next slog.Handler
	last slog.Record
	n    int
	// Counting began at since. At due it is written or, if there is nothing to write, forgotten.
	since, due time.Time
}

// repeats reports whether a record is one to count and not to write.
func (c *counts) repeats(key string, next slog.Handler, r slog.Record) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.alike[key] == nil && len(c.alike) >= maxCounts {
		key, _, _ = strings.Cut(key, "\x00")
	}
	if same := c.alike[key]; same != nil {
		same.next, same.last = next, r.Clone()
		same.n++
		return true
	}
	every, ok := c.every[r.Message]
	if !ok {
		every = sumTime
	}
	now := time.Now()
	c.alike[key] = &repeated{since: now, due: now.Add(every)}
	if c.timer == nil {
		c.timer = time.AfterFunc(sumTime, func() { c.write(time.Now()) })
	}
	return false
}

// flush writes all that was counted.
func (c *counts) flush() {
	const ages = 24 * time.Hour
	c.write(time.Now().Add(ages))
}

// write writes what was counted and is due at now, and forgets what has not repeated.
func (c *counts) write(now time.Time) {
	var due []*repeated
	c.mu.Lock()
	for key, same := range c.alike {
		if same.due.After(now) {
			continue
		}
		delete(c.alike, key)
		if same.n > 0 {
			due = append(due, same)
			every := same.due.Sub(same.since)
			c.alike[key] = &repeated{since: same.due, due: same.due.Add(every)}
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
		_ = same.next.Handle(context.Background(), same.last) // there is nowhere to tell it
	}
}
