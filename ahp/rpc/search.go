package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"termhost/ahp"
	"termhost/ahp/history"
	"termhost/ahp/host"
	"termhost/authz"
)

// The bounds of termhost/search.
const (
	maxSearched   = 1000 // terminals that a request may name
	searchLines   = 50   // lines in the answer of each terminal: the last ones
	searchBytes   = 512 << 10
	searchLine    = 500    // bytes of a line
	searchMatches = 10_000 // lines that are counted in a terminal
)

// errSearchEnded is the cause of the end of a search that another one replaces.
var errSearchEnded = errors.New("another search was asked for")

// searchResult is the result of termhost/search.
type searchResult struct {
	Terminals []searchedTerminal `json:"terminals"` // those in which a line matches
	// More says that lines are left out, because the answer is full.
	More bool `json:"more"`
	// Ended says that not all was searched, because another search was asked for.
	Ended bool `json:"ended"`
	// Unsearched are the hosts of the fleet that were to search, and have not.
	Unsearched []unsearchedHost `json:"unsearched,omitempty"`
}

type searchedTerminal struct {
	Channel string         `json:"channel"`
	Count   int            `json:"count"` // of the lines that match
	More    bool           `json:"more"`  // others were not counted
	Lines   []searchedLine `json:"lines"` // the last ones
}

type searchedLine struct {
	Time time.Time `json:"time"`
	Text string    `json:"text"`
}

// search answers termhost/search. It ends the peer's last search, which is answered with what it
// has found.
func (p *peer) search(r *request) *ahp.Error {
	var params searchParams
	if e := ahp.DecodeParams(r.params, &params); e != nil {
		return e
	}
	if p.endSearch != nil {
		p.endSearch(errSearchEnded)
		p.endSearch = nil
	}
	if params.Pattern == "" { // no other one is wanted
		p.endSearchElsewhere()
		p.respond(r.id, func(dst []byte) []byte {
			return append(dst, ahp.Encode(searchResult{Terminals: []searchedTerminal{}})...)
		})
		return nil
	}
	if _, err := history.ParseExpression(params.Pattern, params.IgnoreCase); err != nil {
		return ahp.FieldProblem("pattern", "cannot be used: "+err.Error())
	}
	own, here, others := p.searchElsewhere(params)
	var list []*host.Terminal
	if here {
		var e *ahp.Error
		if list, e = p.searched(own.Channels); e != nil {
			return e
		}
	}
	ctx, end := context.WithCancelCause(p.ctx)
	p.endSearch = end
	search := func(found searchResult) *ahp.Error {
		e := p.readWithin(ctx, r, func(w *host.Work) (json.RawMessage, *ahp.Error) {
			defer end(nil)
			pattern, release, err := p.conn.Pattern(params.Pattern, params.IgnoreCase)
			if err != nil {
				return nil, Error(p.conn, err)
			}
			defer release()
			result, err := searchAll(p.conn, w, pattern, list)
			result.add(found)
			if errors.Is(context.Cause(ctx), errSearchEnded) {
				result.Ended = true
				return encoded(result, nil)
			}
			return encoded(result, workError(p.conn, w, err))
		})
		if e != nil {
			end(nil)
		}
		return e
	}
	if len(others.hosts) == 0 {
		return search(searchResult{})
	}
	// The account's turn to read is not taken while others are waited for: they may wait for a
	// turn that is taken by somebody who waits for this host.
	p.background.Go(func() {
		if e := search(others.wait(ctx)); e != nil {
			p.refuse(r.id, e)
		}
	})
	return nil
}

// searched returns the terminals of channels, or all if there are none.
func (p *peer) searched(channels []string) ([]*host.Terminal, *ahp.Error) {
	if len(channels) == 0 {
		list, err := p.conn.Terminals()
		return list, Error(p.conn, err)
	}
	if len(channels) > maxSearched {
		return nil, ahp.FieldProblem("channels", "has more than 1000; name none to search all")
	}
	var list []*host.Terminal
	for _, channel := range channels {
		t, err := p.conn.Lookup(channel)
		if err != nil {
			return nil, Error(p.conn, err)
		}
		list = append(list, t)
	}
	return list, nil
}

// searchAll searches what terminals have printed, as `grep` does.
func searchAll(c *host.Conn, w *host.Work, pattern *history.Pattern, list []*host.Terminal) (
	result searchResult, err error,
) {
	result.Terminals = []searchedTerminal{}
	left := searchBytes
	for _, t := range list {
		found := searchedTerminal{Channel: t.URI(), Lines: []searchedLine{}}
		err := c.History(w, host.Source{Terminal: t}).Search(w, history.Search{Pattern: pattern},
			found.take)
		var denied *authz.Denied
		if err != nil && !errors.As(err, &denied) {
			return result, err
		}
		if found.Count == 0 {
			continue
		}
		if left -= found.size(); left < 0 {
			found.Lines, result.More = []searchedLine{}, true
		}
		result.Terminals = append(result.Terminals, found)
	}
	return result, nil
}

// take takes a line that matches. It returns false when there are too many to be counted.
func (s *searchedTerminal) take(l *history.Line) bool {
	if s.Count == searchMatches {
		s.More = true
		return false
	}
	s.Count++
	if len(s.Lines) == searchLines {
		s.Lines = append(s.Lines[:0], s.Lines[1:]...)
	}
	text := l.Text
	if len(text) > searchLine {
		text = text[:ahp.WholeRunes(text, searchLine)]
	}
	s.Lines = append(s.Lines, searchedLine{l.Time.UTC(), string(text)})
	return true
}
