package host

import (
	"slices"
	"time"

	"termhost/ahp/journal"
)

// reason is one thing for which a terminal wants a person.
type reason struct {
	why   Want
	first time.Time // when it came up first since the person has looked
	at    time.Time // when it came up as news last; zero: the person has seen it
	text  string    // what the program said with it
	by    string    // of WantKeyboard: who asks
	acts  uint64    // the terminal's acts then, see attention
}

// rank returns the reason's place in pressing.
func (r *reason) rank() int { return slices.Index(pressing[:], r.why) }

// viewed is what a person has seen of a terminal.
type viewed struct {
	looking int       // how many windows show the terminal now
	missed  []reason  // what has happened since: one of a kind
	seen    time.Time // when the last window was closed
}

// happened adds a reason, unless the person looks at the terminal. Of one that the person has
// missed already it takes the words; and the time, if it is news: anew, or because somebody has
// typed since. It reports whether that changes anything.
func (s *viewed) happened(r reason, anew bool) (changed bool) {
	if s.looking > 0 {
		return false
	}
	i := slices.IndexFunc(s.missed, func(m reason) bool { return m.why == r.why })
	if i < 0 {
		s.missed = append(s.missed, r)
		return true
	}
	m := &s.missed[i]
	if anew || m.acts != r.acts {
		r.first = m.first
		*m = r
		return true
	}
	if r.text == "" || r.text == m.text {
		return false
	}
	m.text = r.text
	return true
}

// missedBy has what people have missed, for the journal: see [journal.Outline].
type missedBy map[string]*journal.Missed

// neverViewed stands for those who have never viewed a terminal, in a missedBy.
const neverViewed = ""

// journaled returns s for the journal. The first reason is where earlier hosts look for the only
// one.
func (s *viewed) journaled() *journal.Missed {
	m := &journal.Missed{Seen: s.seen.UTC(), Looking: s.looking > 0}
	for i, r := range s.missed {
		one := journal.Missed{Want: string(r.why), Since: r.first, Text: r.text}
		if !r.at.Equal(r.first) {
			one.At = r.at
		}
		if i == 0 {
			m.Want, m.Since, m.Text, m.At = one.Want, one.Since, one.Text, one.At
		} else {
			m.More = append(m.More, one)
		}
	}
	return m
}

// restore takes s over from the journal.
func (s *viewed) restore(m *journal.Missed, now time.Time) {
	if s.seen = m.Seen; m.Looking {
		s.seen = now
	}
	for _, one := range append([]journal.Missed{*m}, m.More...) {
		if one.Want == "" {
			continue
		}
		r := reason{why: Want(one.Want), first: one.Since, at: one.At, text: one.Text}
		if r.at.IsZero() {
			r.at = r.first
		}
		s.missed = append(s.missed, r)
	}
}
