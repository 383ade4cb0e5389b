package rpc

import (
	"strings"
	"time"

	"termhost/ahp"
	"termhost/ahp/history"
	"termhost/ahp/host"
)

// The bounds of what a terminal has shown.
const (
	maxScrollback = 10_000  // of termhost/screen, in lines
	linesBytes    = 1 << 20 // approximate size of the lines of an answer
	lineBytes     = 64 << 10
	linesAtOnce   = 100
	mostFound     = 10_000 // matches in an answer of termhost/find
)

// moment is a place in a history. Without a position, it is the end.
type moment struct {
	At    *int64 `json:"at"`
	Items int    `json:"items"`
}

// until returns the place for a [history.Log.Show]; nil: the end.
func (m moment) until() *history.Place {
	if m.At == nil {
		return nil
	}
	return &history.Place{At: *m.At, Items: m.Items}
}

// screen answers termhost/screen.
func (p *peer) screen(r *request) *ahp.Error {
	var params struct {
		source
		moment
		Scrollback int `json:"scrollback"`
	}
	if e := ahp.DecodeParams(r.params, &params); e != nil {
		return e
	}
	if params.Scrollback < 0 || params.Scrollback > maxScrollback {
		return ahp.FieldProblem("scrollback", "must be from 0 to 10000")
	}
	return p.readHistory(r, params.source, func(w *host.Work, log *history.Log) (any, error) {
		s, err := log.Show(w, params.until(), params.Scrollback, time.Now())
		cols, rows := s.Size()
		return struct {
			history.Place
			Time time.Time `json:"time"`
			Cols int       `json:"cols"`
			Rows int       `json:"rows"`
			Data string    `json:"data"`
		}{s.Place, s.Time.UTC(), cols, rows, string(s.Redraw())}, err
	})
}

// linesResult begins the answers of termhost/lines and termhost/find: the place, and how many lines
// there are at it.
type linesResult struct {
	history.Place
	Total     int  `json:"total"`
	Truncated bool `json:"truncated"`
}

func newLinesResult(s *history.Shown) linesResult {
	return linesResult{s.Place, s.Lines(), s.Cut()}
}

// lines answers termhost/lines.
func (p *peer) lines(r *request) *ahp.Error {
	var params struct {
		source
		moment
		From  int `json:"from"`
		Count int `json:"count"`
	}
	if e := ahp.DecodeParams(r.params, &params); e != nil {
		return e
	}
	switch {
	case params.From < 0:
		return ahp.FieldProblem("from", "must not be negative")
	case params.Count < 0:
		return ahp.FieldProblem("count", "must not be negative")
	}
	return p.readHistory(r, params.source, func(w *host.Work, log *history.Log) (any, error) {
		s, err := log.Show(w, params.until(), history.AllLines, time.Now())
		return struct {
			linesResult
			Lines []string `json:"lines"`
		}{newLinesResult(s), linesOf(s, params.From, params.Count)}, err
	})
}

// linesOf returns as many lines as an answer may have.
func linesOf(s *history.Shown, from, count int) []string {
	lines, left := []string{}, linesBytes
	for end := min(from+count, s.Lines()); from < end && left > 0; {
		next := min(from+linesAtOnce, end)
		for line := range strings.Lines(string(s.Styled(from, next))) {
			if left <= 0 {
				break
			}
			line = cutLine(strings.TrimSuffix(line, "\n"))
			lines, left = append(lines, line), left-len(line)
		}
		from = next
	}
	return lines
}

// cutLine cuts a line that is too long. CAN ends a sequence that is cut.
func cutLine(line string) string {
	if len(line) <= lineBytes {
		return line
	}
	return strings.ToValidUTF8(line[:lineBytes], "") + "\x18\x1b]8;;\x1b\\\x1b[m"
}

// find answers termhost/find.
func (p *peer) find(r *request) *ahp.Error {
	var params struct {
		source
		moment
		Pattern    string `json:"pattern"`
		IgnoreCase bool   `json:"ignoreCase"`
	}
	if e := ahp.DecodeParams(r.params, &params); e != nil {
		return e
	}
	_, err := history.ParseExpression(params.Pattern, params.IgnoreCase)
	switch {
	case params.Pattern == "":
		return ahp.FieldProblem("pattern", "is missing")
	case err != nil:
		return ahp.FieldProblem("pattern", "cannot be used: "+err.Error())
	}
	return p.readHistory(r, params.source, func(w *host.Work, log *history.Log) (any, error) {
		pattern, release, err := p.conn.Pattern(params.Pattern, params.IgnoreCase)
		if err != nil {
			return nil, err
		}
		defer release()
		s, err := log.Show(w, params.until(), history.AllLines, time.Now())
		found, counts, more := s.Find(pattern, mostFound)
		return struct {
			linesResult
			Lines  []int `json:"lines"`
			Counts []int `json:"counts"`
			More   bool  `json:"more"`
		}{newLinesResult(s), found, counts, more}, err
	})
}
