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

// Search is what to look for in a log.
type Search struct {
	Pattern *Pattern
	// Command has only the output of commands looked at whose line contains it; "": all output.
	Command string
	Context int // how many lines before and behind one that matches are found as well
}

// Line is a line that a search has found.
type Line struct {
	Time    time.Time // when it was ended
	Text    []byte    // without control characters; valid only during the call
	Matches bool      // else it is context
	Apart   bool      // it does not follow the line found before
}

// searchBlock is how much text is looked through at a time, in bytes.
const searchBlock = 256 << 10

// Search calls found with the lines of what a terminal has printed, in order, until found returns
// false. Lines are as [vt.Lines] makes them of what is in the log, or if there is none, of what is
// retained. It returns an error as [Log.Read] does. found must not wait for anybody.
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

// whole has all records of a log read.
func whole(start termlog.Spot) termlog.Spot { return start }

// searcher searches one log. As a Visitor it does so without parsing it.
type searcher struct {
	Search
	Ignore
	log   *Log
	work  Work
	found func(*Line) bool
	over  bool  // found has returned false, or nobody waits any more
	err   error // of the work

	lines *vt.Lines
	block []byte // whole lines
	text  Block  // the block, while it is looked through
	ends  []lineTimes
	at    time.Time // of the output that came last

	before []Line // the last lines, if they may be context
	after  int    // how many lines to come are context
	apart  bool   // the next line does not follow the line found before

	walk   Walker
	next   int64 // where output is expected
	within bool  // the output is that of a command which is searched
}

// lineTimes says when the lines up to a place in the block were ended.
type lineTimes struct {
	end int
	at  time.Time
}

// survey looks for what has to be known before: the log says at its end what was cleared. byItem:
// there are commands that are looked for, so the log has to be parsed.
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

// names reports whether an event is the begin of a command that is looked for.
func (sr *searcher) names(payload []byte) bool {
	a, _ := sr.log.Format.Event(payload)
	begun, ok := a.(ahp.TerminalCommandExecuted)
	return ok && strings.Contains(begun.CommandLine, sr.Command)
}

// record takes a record of a log that is searched without parsing it.
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

// Unfollowed searches output of which no screen can be made.
func (sr *searcher) Unfollowed(p []byte) {
	sr.Begin(nil)
	sr.Data(p)
}

// Begin comes before output, and behind what is Unfollowed.
func (sr *searcher) Begin([]byte) bool {
	if sr.walk.At.Pos != sr.next {
		sr.cut()
	}
	return true
}

// Gap comes where output is missing.
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

// pass takes lines that do not match.
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
		sr.before = append(sr.before, Line{Time: sr.timeAt(first), Text: bytes.Clone(line)})
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

func (sr *searcher) tell(l *Line) {
	if !sr.over {
		l.Apart = sr.apart
		sr.apart = false
		sr.over = !sr.found(l)
	}
}
