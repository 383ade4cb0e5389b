package history

import (
	"bytes"
	"errors"
	"strings"
	"time"

	"termhost/ahp"
	"termhost/ptypool/termlog"
	"termhost/ptypool/vt"
)

// Search describes a search of a log.
type Search struct {
	Pattern *Pattern
	// Command restricts the search to the output of commands whose line contains it; "": all
	// output.
	Command string
	Context int // how many lines before and after a match are found as well
}

// Line is a line that a search has found.
type Line struct {
	Time    time.Time // when the line ended
	Text    []byte    // without control characters; valid only during the call
	Matches bool      // else it is context
	Apart   bool      // it does not directly follow the line found before
}

// searchBlock is how much text is searched at a time, in bytes.
const searchBlock = 256 << 10

// Search calls found with the matching lines of a terminal's output, and their context, in order,
// until found returns false. It splits logged output, or without a log the retained output, into
// lines as [vt.Lines] does. Errors are those of [Log.Read]. found must not block.
func (l *Log) Search(w Work, s Search, found func(*Line) bool) error {
	if err := l.allowed(); err != nil {
		return err
	}
	defer w.Rest()
	sr := searcher{Search: s, log: l, work: w, found: found, apart: true, lines: &vt.Lines{}}
	byItem, err := sr.survey()
	if err == nil && s.Command == "" {
		err = l.Records(whole, sr.record)
	}
	if errors.Is(err, ErrNotLogged) && sr.walk.At.Kind == 0 || err == nil && byItem {
		_, err = l.Read(w, sr.item)
	}
	if err == nil {
		sr.rest()
	}
	if sr.err != nil {
		return sr.err
	}
	return err
}

// whole reads all records of a log.
func whole(start termlog.Spot) termlog.Spot { return start }

// searcher searches one log. As a Visitor it searches the log without parsing it.
type searcher struct {
	Search
	Ignore
	log   *Log
	work  Work
	found func(*Line) bool
	over  bool  // found has returned false, or the work has ended
	err   error // of the work

	lines *vt.Lines
	block []byte // whole lines
	text  Block  // the block, while it is searched
	ends  []lineTimes
	at    time.Time // of the last output

	before []Line // the last lines, if they may be context
	after  int    // how many of the next lines are context
	apart  bool   // the next line does not follow the line found before

	walk   Walker
	next   int64 // where output is expected
	within bool  // the output belongs to a command that is searched
}

// lineTimes is when the lines up to a place in the block ended.
type lineTimes struct {
	end int
	at  time.Time
}

// survey reads the log for facts that the search needs in advance: the output that was cleared
// later, and byItem, whether there are commands to search, so that the log must be parsed.
func (sr *searcher) survey() (byItem bool, err error) {
	err = sr.log.Records(whole, func(r termlog.Record) bool {
		if r.Kind == termlog.Event {
			if bytes.Contains(r.Payload, []byte(ahp.TerminalCleared{}.Type())) {
				sr.walk.cleared = clearedAt(r)
			}
			byItem = byItem || sr.Command != "" && sr.names(r.Payload)
		}
		return !sr.stopped()
	})
	return byItem, err
}

// names reports whether an event is the beginning of a command to search.
func (sr *searcher) names(payload []byte) bool {
	a, _ := sr.log.Format.Event(payload)
	begun, ok := a.(ahp.TerminalCommandExecuted)
	return ok && strings.Contains(begun.CommandLine, sr.Command)
}

// record takes a record of a log that is not parsed.
func (sr *searcher) record(r termlog.Record) bool {
	sr.walk.Take(r, sr)
	return !sr.stopped()
}

// Data searches output, unless the terminal was cleared after it.
func (sr *searcher) Data(p []byte) {
	sr.next = sr.walk.At.Pos + int64(len(p))
	if sr.walk.cleared == nil {
		sr.data(p, sr.walk.At.Time)
	}
}

// Unfollowed searches output before the place from which the log can be followed.
func (sr *searcher) Unfollowed(p []byte) {
	sr.Begin(nil)
	sr.Data(p)
}

// Begin is called before output that can be followed.
func (sr *searcher) Begin([]byte) bool {
	if sr.walk.At.Pos != sr.next {
		sr.cut()
	}
	return true
}

// Gap is called where output is missing.
func (sr *searcher) Gap(int64, string) { sr.cut() }

// item takes an item of a log that is parsed.
func (sr *searcher) item(i *Item) bool {
	switch i.Kind {
	case Data:
		if sr.Command == "" || sr.within {
			sr.data(i.Data, i.Time)
		}
	case Began:
		if sr.Command != "" {
			sr.within = strings.Contains(i.Command.Line, sr.Command)
		}
	case Finished:
		if sr.within {
			sr.cut()
		}
		sr.within = false
	case Gap:
		sr.cut()
	}
	return !sr.stopped()
}

func (sr *searcher) stopped() bool {
	if !sr.over && sr.err == nil {
		sr.err = sr.work.Step()
	}
	sr.over = sr.over || sr.err != nil
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

// mark records when the lines of the block ended.
func (sr *searcher) mark() {
	if n := len(sr.ends); n > 0 && sr.ends[n-1].at.Equal(sr.at) {
		sr.ends[n-1].end = len(sr.block)
	} else if len(sr.block) > 0 {
		sr.ends = append(sr.ends, lineTimes{len(sr.block), sr.at})
	}
}

// rest searches the remaining output.
func (sr *searcher) rest() {
	sr.block = sr.lines.AppendRest(sr.block)
	sr.mark()
	sr.look()
}

// cut is called where output does not continue the output before it.
func (sr *searcher) cut() {
	sr.rest()
	*sr.lines = vt.Lines{}
	sr.before, sr.after, sr.apart = sr.before[:0], 0, true
}

// look searches the block, and empties it.
func (sr *searcher) look() {
	sr.text.Set(sr.block)
	for from := 0; from < len(sr.block) && !sr.stopped(); {
		start, line, err := sr.Pattern.Next(sr.work, &sr.text, from)
		if err != nil {
			sr.over, sr.err = true, err
			break
		}
		sr.pass(from, start)
		if start == len(sr.block) {
			break
		}
		for i := range sr.before {
			sr.tell(&sr.before[i])
		}
		from = start + len(line) + 1
		sr.before, sr.after = sr.before[:0], sr.Context
		sr.tell(&Line{Time: sr.timeAt(from), Text: line, Matches: true})
	}
	sr.block, sr.ends = sr.block[:0], sr.ends[:0]
}

// pass handles lines that do not match: some are context.
func (sr *searcher) pass(from, to int) {
	for sr.after > 0 && from < to {
		line, _, _ := bytes.Cut(sr.block[from:to], []byte{'\n'})
		from += len(line) + 1
		sr.after--
		sr.tell(&Line{Time: sr.timeAt(from), Text: line})
	}
	if from == to {
		return
	}
	if sr.Context == 0 {
		sr.apart = true
		return
	}
	first := to // where the lines begin that are kept
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
		sr.before = append(sr.before, Line{Time: sr.timeAt(first), Text: bytes.Clone(line)})
	}
}

// timeAt returns when the line ended that ends at a place in the block.
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

func (sr *searcher) tell(l *Line) {
	if !sr.over {
		l.Apart = sr.apart
		sr.apart = false
		sr.over = !sr.found(l)
	}
}
