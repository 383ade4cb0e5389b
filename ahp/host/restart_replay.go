package host

import (
	"fmt"
	"strings"

	"termhost/ahp"
	"termhost/ahp/history"
	"termhost/ahp/journal"
	"termhost/ptypool/termlog"
)

// A terminal of an earlier host is listed at once, from its description. Its log is read when
// somebody wants to see it, or when it prints more: the output is parsed again, and the journal's
// actions are applied in between. So the screen, the content and the commands are as they were, and
// every byte and action has the position that it had.

// read builds the terminal's screen and channel from its log.
func (p *keptLog) read(log *termlog.Log) error {
	t := p.t
	rp := &replay{t: t, told: map[string]toldCommand{}}
	from, err := rp.survey(log, int64(t.origin.screen.ScrollbackBytes))
	if err != nil {
		return err
	}
	p.replay = rp
	defer func() { p.replay = nil }()
	if err := log.Read(from, rp.visit); err != nil {
		return err
	}
	if rp.draft == nil {
		t.ch.Record(t.log.trail)
		return nil // the log is empty
	}
	rp.finish()
	if rp.astray {
		t.log.trail.Forget()
	}
	t.ch.Adopt(rp.draft, t.log.trail)
	p.replay = nil
	t.noteProgress()
	if !t.life.exited { // an older host has not logged the pixels
		px := t.term.Pixels()
		t.term.Screen().SetPixels(px.Width, px.Height)
		t.log.recordPixels(px)
	}
	for _, a := range rp.missing {
		t.log.append(a, nil)
	}
	return nil
}

// survey returns the position at which to begin to read: the last checkpoint before the retained
// output, or else the log's beginning, or else the first checkpoint, or else what there is. It also
// collects what was told of the commands.
func (rp *replay) survey(log *termlog.Log, retained int64) (from int64, err error) {
	from = -1
	err = log.Read(0, func(r termlog.Record) bool {
		if from < 0 && r.Pos == 0 {
			from = 0
		}
		switch r.Kind {
		case termlog.Checkpoint:
			if from < 0 || r.Pos <= log.End()-retained {
				from = r.Pos
			}
		case termlog.Data:
			if !rp.t.life.exited {
				rp.t.waiting.PrintedBefore(r.Time)
			}
		case termlog.Event:
			_, a := journal.ParseEvent(r.Payload)
			rp.recall(a)
		}
		return true
	})
	rp.walk.Blind = from < 0
	rp.astray = from < 0
	return max(from, 0), err
}

// recall keeps what an action tells of a command.
func (rp *replay) recall(a ahp.Action) {
	switch a := a.(type) {
	case ahp.TerminalCommandExecuted:
		rp.told[a.CommandID] = toldCommand{by: a.By, timestamp: a.Timestamp}
	case ahp.TerminalCommandFinished:
		c := rp.told[a.CommandID]
		c.took = a.DurationMs
		rp.told[a.CommandID] = c
	}
}

// visit takes a record.
func (rp *replay) visit(r termlog.Record) bool {
	rp.at = r.Time
	rp.walk.Take(r, rp)
	return true
}

// Begin starts from a checkpoint, at the beginning or where output is missing.
func (rp *replay) Begin(checkpoint []byte) bool {
	s, ok := journal.Snapshot{Outline: rp.t.log.outline}, true
	if checkpoint != nil {
		s, ok = journal.ParseSnapshot(checkpoint)
	} else if rp.walk.At.Pos > 0 {
		rp.astray = true
	}
	if ok {
		rp.begin(s, rp.walk.At.Pos)
	}
	return ok
}

// Passed takes the channel's position from a checkpoint.
func (rp *replay) Passed(checkpoint []byte) {
	if s, ok := journal.ParseSnapshot(checkpoint); ok {
		rp.draft.StartAt(s.Position, false)
	}
}

// Data parses output.
func (rp *replay) Data(p []byte) { rp.t.term.Replay(p, rp.at) }

func (rp *replay) begin(s journal.Snapshot, pos int64) {
	t, o := rp.t, &s.Outline
	first := rp.draft == nil
	if first {
		rp.draft = t.ch.Draft(ahp.TerminalState{
			Title: o.Title, Cwd: o.Cwd, Cols: o.Cols, Rows: o.Rows,
			Claim: ahp.Claim(o.Holder.Claim), Client: t.Client(), IsPty: t.exec.isPty(),
			Detection: o.Detection,
		})
		t.output.content = checkpoints{}
		t.log.cut = pos > 0
	}
	if rp.resize(o.Cols, o.Rows); !first {
		rp.draft.Append(ahp.TerminalResized{Cols: o.Cols, Rows: o.Rows}, nil)
		rp.draft.Append(ahp.TerminalTitleChanged{Title: o.Title}, nil)
		rp.draft.Append(ahp.TerminalCwdChanged{Cwd: o.Cwd}, nil)
	}
	t.renamed, t.commands.executed = o.Renamed, o.Commands
	t.output.lastTitle, t.output.lastCwd = "", o.Cwd
	if pos > 0 && !o.Renamed {
		t.output.lastTitle = o.Title
	}
	screen := t.term.Screen()
	screen.SetPixels(o.Pixels.Width, o.Pixels.Height)
	screen.Feed([]byte(s.Marks), nil)
	screen.SetClusters(true) // which it is drawn with
	screen.Feed(s.Redraw, nil)
	screen.SetClusters(o.Clusters)
	screen.Feed([]byte(s.Modes), nil)
	if last := o.Last; first && last != nil && !last.Over {
		t.commands.running, t.commands.startedAt = last.ID, last.Began
		rp.draft.Append(last.Executed(), nil)
	}
	t.output.content.data(rp.draft, s.Redraw)
	rp.draft.StartAt(s.Position, t.log.cut)
}

// Gap prints what is missing and scrolls the screen away, which the next checkpoint draws anew. CAN
// ends an escape sequence that was begun.
func (rp *replay) Gap(n int64, why string) {
	rp.astray = true
	term := rp.t.term
	term.Replay([]byte("\x18\x1b[m"), rp.at)
	_, rows := term.Screen().Size()
	_, row, _ := term.Screen().Cursor()
	term.Replay(fmt.Appendf(nil, // not in a scrolling region, which ends with the cursor at home
		"\x1b[r\x1b[%dH\r\n%s\r\n\x1b[%dH%s",
		row+1, history.GapText(n, why), rows, strings.Repeat("\n", min(row+2, rows))), rp.at)
}

// Resize applies a terminal/resized, which there is also for the size that the terminal has.
func (rp *replay) Resize(cols, rows int) {
	rp.resize(cols, rows)
	rp.draft.Append(ahp.TerminalResized{Cols: cols, Rows: rows}, nil)
}

// resize resizes the screen.
func (rp *replay) resize(cols, rows int) {
	_ = rp.t.resizeBy(func() error { rp.t.term.Screen().Resize(cols, rows); return nil })
}

// Event applies an action, unless parsing the output brings it again.
func (rp *replay) Event(payload []byte) {
	t := rp.t
	ev, a := journal.ParseEvent(payload)
	if px := ev.Pixels; px != nil {
		t.term.Screen().SetPixels(px.Width, px.Height)
	}
	if on := ev.Clusters; on != nil {
		t.measure(*on)
	}
	if ev.Parsed || a == nil {
		return
	}
	switch a := a.(type) {
	case ahp.TerminalClaimed:
		if ev.Holder != nil {
			rp.draft.Append(ahp.TerminalClaimed{Claim: ahp.Claim(ev.Holder.Claim)}, nil)
		}
		return
	case ahp.TerminalTitleChanged:
		t.renamed = ev.Renamed
	case ahp.TerminalCommandExecuted:
		t.commands.finish(nil)
		t.commands.running, t.commands.startedAt = a.CommandID, rp.at
		rp.draft.Append(a, nil)
		t.output.content.command(rp.draft, a)
		return
	case ahp.TerminalCommandFinished:
		t.commands.running = ""
	}
	rp.draft.Append(a, nil)
	if _, ok := a.(ahp.TerminalCleared); ok {
		t.output.empty(t.Client())
	}
}

// finish compares the draft with what is known of the terminal otherwise.
func (rp *replay) finish() {
	t, o := rp.t, &rp.t.log.outline
	if t.life.exited {
		rp.at = t.log.end.At
		t.term.Screen().Flush(events{t})
		t.term.Screen().EndProgress(events{t})
		events{t}.Fed()
		t.commands.finishLast(t.log.end.Code)
	} else if t.log.trail.End() > rp.draft.Position() {
		// The earlier host has not waited for the rest of a character or sequence.
		t.term.Screen().Flush(events{t})
		events{t}.Fed()
	}
	now, _ := rp.draft.Terminal()
	if t.renamed == o.Renamed {
		o.Title, o.Cwd = now.Title, now.Cwd // as the latest output says, which no host has seen
	}
	t.renamed, t.output.lastTitle, t.output.lastCwd = o.Renamed, o.Title, o.Cwd
	if now.Title != o.Title {
		rp.missing = append(rp.missing, ahp.TerminalTitleChanged{Title: o.Title})
	}
	if now.Cwd != o.Cwd {
		rp.missing = append(rp.missing, ahp.TerminalCwdChanged{Cwd: o.Cwd})
	}
	if now.Claim != t.keyboard.holder.claim {
		rp.missing = append(rp.missing, ahp.TerminalClaimed{Claim: t.keyboard.holder.claim})
	}
	if t.life.exited {
		rp.draft.Append(t.log.end.Told(), nil)
	}
}
