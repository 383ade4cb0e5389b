package host

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"time"

	"termhost/ahp"
	"termhost/authz"
	"termhost/ptypool/termlog"
	"termhost/ptypool/vt"
)

// Search is what to look for in terminals' logs.
type Search struct {
	Pattern *SearchPattern
	// Command has only the output of commands looked at whose line contains it; "": all output.
	Command string
	Context int // how many lines before and behind one that matches are found as well
}

// SearchLine is a line that a search has found.
type SearchLine struct {
	Terminal *Terminal
	Time     time.Time // when it was ended
	Text     []byte    // without control characters; valid only during the call
	Matches  bool      // else it is context
	Apart    bool      // it does not follow the line found before
}

// searchBlock is how much text is looked through at a time, in bytes.
const searchBlock = 256 << 10

// Search calls found with the lines of what a terminal has printed, in order, until found returns
// false. Lines are as [vt.Lines] makes them of what is in the terminal's log, or if there is none,
// of what is retained. It returns *authz.Denied if p may not read the terminal, and the cause of
// ctx. The terminal goes on meanwhile.
func (h *Host) Search(ctx context.Context, p authz.Principal, t *Terminal, s Search,
	found func(*SearchLine) bool,
) error {
	if err := authz.Check(p, authz.Read, t.seen()); err != nil {
		return err
	}
	sr := searcher{Search: s, ctx: ctx, t: t, found: found, apart: true}
	sr.lines = &vt.Lines{}
	err := sr.inLog()
	if errors.Is(err, errNotLogged) && !sr.begun || err == nil && sr.byItem {
		_, err = h.ReadHistory(p, t, sr.item)
	}
	if err == nil {
		sr.rest()
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// searcher searches one terminal.
type searcher struct {
	Search
	ctx   context.Context
	t     *Terminal
	found func(*SearchLine) bool
	over  bool // found has returned false, or nobody waits any more

	lines *vt.Lines
	block []byte // whole lines
	ends  []lineTimes
	at    time.Time // of the output that came last

	before []SearchLine // the last lines, if they may be context
	after  int          // how many lines to come are context
	apart  bool         // the next line does not follow the line found before

	// Of reading the log.
	cleared *termlog.Record // what comes before it was cleared; nil: nothing
	next    int64           // where output is expected
	begun   bool            // the search itself has
	byItem  bool            // the log has to be parsed: commands are looked for
	within  bool            // the output is that of a command which is looked at
}

// lineTimes says when the lines up to a place in the block were ended.
type lineTimes struct {
	end int
	at  time.Time
}

// inLog searches the log without parsing it, if that does. It is read twice, because it says at its
// end what was cleared.
func (sr *searcher) inLog() error {
	named := false
	err := sr.t.journal.records(func(r termlog.Record) bool {
		if r.Kind != termlog.Event {
			return true
		}
		if bytes.Contains(r.Payload, []byte(ahp.TerminalCleared{}.Type())) {
			sr.cleared = &termlog.Record{Pos: r.Pos, Time: r.Time}
		}
		if sr.Command != "" && !named {
			a, ok := decodeEvent(r.Payload).(ahp.TerminalCommandExecuted)
			named = ok && strings.Contains(a.CommandLine, sr.Command)
		}
		return !sr.stopped()
	})
	if sr.byItem = named; err != nil || sr.Command != "" {
		return err
	}
	return sr.t.journal.records(sr.record)
}

// record takes a record of a log that is searched without parsing it.
func (sr *searcher) record(r termlog.Record) bool {
	sr.begun = true
	if c := sr.cleared; c != nil {
		if r.Pos < c.Pos || r.Pos == c.Pos && !(r.Kind == termlog.Event && r.Time.Equal(c.Time)) {
			return !sr.stopped()
		}
		sr.cleared, sr.next = nil, r.Pos
	}
	if r.Pos != sr.next && r.Kind != termlog.Checkpoint {
		sr.cut()
	}
	if sr.next = r.Pos; r.Kind == termlog.Data {
		sr.next += int64(len(r.Payload))
		sr.data(r.Payload, r.Time)
	}
	return !sr.stopped()
}

// item takes an item of a terminal's history.
func (sr *searcher) item(i *HistoryItem) bool {
	switch i.Kind {
	case HistoryData:
		if sr.Command == "" || sr.within {
			sr.data(i.Data, i.Time)
		}
	case HistoryCommand:
		if sr.Command != "" {
			sr.within = strings.Contains(i.Command.Line, sr.Command)
		}
	case HistoryFinished:
		if sr.within {
			sr.cut()
		}
		sr.within = false
	case HistoryGap:
		sr.cut()
	}
	return !sr.stopped()
}

func (sr *searcher) stopped() bool {
	sr.over = sr.over || sr.ctx.Err() != nil
	return sr.over
}

// data takes output.
func (sr *searcher) data(p []byte, at time.Time) {
	sr.block = sr.lines.Append(sr.block, p)
	sr.at = at
	sr.mark()
	if len(sr.block) >= searchBlock {
		sr.look()
	}
}

// mark notes when the lines of the block were ended.
func (sr *searcher) mark() {
	if n := len(sr.ends); n > 0 && sr.ends[n-1].at.Equal(sr.at) {
		sr.ends[n-1].end = len(sr.block)
	} else if len(sr.block) > 0 {
		sr.ends = append(sr.ends, lineTimes{len(sr.block), sr.at})
	}
}

// rest looks at what has not been looked at.
func (sr *searcher) rest() {
	sr.block = sr.lines.AppendRest(sr.block)
	sr.mark()
	sr.look()
}

// cut comes where output does not follow what was before it.
func (sr *searcher) cut() {
	sr.rest()
	*sr.lines = vt.Lines{}
	sr.before, sr.after, sr.apart = sr.before[:0], 0, true
}

// look looks through the block, and empties it.
func (sr *searcher) look() {
	sr.Pattern.begin(sr.block)
	for from := 0; from < len(sr.block) && !sr.stopped(); {
		start, line := sr.Pattern.next(sr.block, from)
		sr.pass(from, start)
		if start == len(sr.block) {
			break
		}
		for i := range sr.before {
			sr.tell(&sr.before[i])
		}
		from = start + len(line) + 1
		sr.before, sr.after = sr.before[:0], sr.Context
		sr.tell(&SearchLine{Time: sr.timeAt(from), Text: line, Matches: true})
	}
	sr.block, sr.ends = sr.block[:0], sr.ends[:0]
}

// pass takes lines that do not match.
func (sr *searcher) pass(from, to int) {
	for sr.after > 0 && from < to {
		line, _, _ := bytes.Cut(sr.block[from:to], []byte{'\n'})
		from += len(line) + 1
		sr.after--
		sr.tell(&SearchLine{Time: sr.timeAt(from), Text: line})
	}
	if from == to {
		return
	}
	if sr.Context == 0 {
		sr.apart = true
		return
	}
	first := to // of the lines that are kept
	for n := 0; n < sr.Context && first > from; n++ {
		first = from + bytes.LastIndexByte(sr.block[from:first-1], '\n') + 1
	}
	if first > from {
		sr.before, sr.apart = sr.before[:0], true
	}
	for first < to {
		line, _, _ := bytes.Cut(sr.block[first:to], []byte{'\n'})
		first += len(line) + 1
		if len(sr.before) == sr.Context {
			sr.before, sr.apart = append(sr.before[:0], sr.before[1:]...), true
		}
		sr.before = append(sr.before, SearchLine{Time: sr.timeAt(first), Text: bytes.Clone(line)})
	}
}

// timeAt returns when the line that ends at a place in the block was ended.
func (sr *searcher) timeAt(end int) time.Time {
	low, high := 0, len(sr.ends)
	for low < high {
		if m := (low + high) / 2; sr.ends[m].end < end {
			low = m + 1
		} else {
			high = m
		}
	}
	if low < len(sr.ends) {
		return sr.ends[low].at
	}
	return sr.at
}

func (sr *searcher) tell(l *SearchLine) {
	if !sr.over {
		l.Terminal, l.Apart = sr.t, sr.apart
		sr.apart = false
		sr.over = !sr.found(l)
	}
}

// Terminals returns the terminals, oldest first, that exist for p. It returns *authz.Denied if p
// may not list.
func (h *Host) Terminals(p authz.Principal) ([]*Terminal, error) {
	if err := authz.Check(p, authz.List, authz.Target{}); err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.visibleLocked(p), nil
}
