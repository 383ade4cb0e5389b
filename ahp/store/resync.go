package store

import (
	"slices"

	"termhost/ahp"
)

// resyncLocked moves a cursor that fell off its log to the log's end. Into the outbox it puts
// answers to the actions of its client that it has not read, and then the actions that rebuild the
// state, which rebuild returns.
func (cur *cursor) resyncLocked(rebuild func() []*Entry) {
	log := &cur.ch.log
	for i := max(log.base, cur.since); i < log.end(); i++ {
		cur.sub.answerLostLocked(log.at(i))
	}
	for _, e := range rebuild() {
		cur.sub.pushLocked(outboxItem{seq: e.seq, item: Item{Entry: e}})
	}
	cur.startAtEndLocked()
	cur.sub.syncLocked(cur.ch, cur.ch.store.seq)
}

// rebuildLocked returns actions, with serverSeqs of their own, that turn any earlier state of
// the channel into the present one.
func (c *Channel) rebuildLocked() []*Entry {
	var list []*Entry
	add := func(a ahp.Action) {
		e := &Entry{seq: c.store.nextLocked(), channel: c.uri, action: a}
		e.weight = e.weigh()
		list = append(list, e)
	}
	if c.isRoot() {
		add(ahp.RootTerminalsChanged{Terminals: c.rootState.Terminals})
		return list
	}
	st := c.state
	add(ahp.TerminalCleared{})
	before := len(list)
	if st.Detection {
		add(ahp.TerminalCommandDetectionAvailable{})
	}
	for i := range st.Content {
		rebuildPart(&st.Content[i], add)
	}
	list = c.clearsLocked(list, before)
	add(ahp.TerminalTitleChanged{Title: st.Title})
	if st.Cwd != "" {
		add(ahp.TerminalCwdChanged{Cwd: st.Cwd})
	}
	if st.Cols > 0 && st.Rows > 0 {
		add(ahp.TerminalResized{Cols: st.Cols, Rows: st.Rows})
	}
	add(ahp.TerminalClaimed{Claim: st.Claim})
	if st.Exited {
		add(ahp.TerminalExited{ExitCode: st.ExitCode})
	}
	return list
}

// clearsLocked has the first data of list from an index on begin with ahp.ClearScreen: some clients
// hand data on to an emulator, and take no notice of terminal/cleared.
func (c *Channel) clearsLocked(list []*Entry, from int) []*Entry {
	for _, e := range list[from:] {
		switch d := e.action.(type) {
		case ahp.TerminalData:
			e.action = ahp.TerminalData{Data: append([]byte(ahp.ClearScreen), d.Data...)}
		case spilledData:
			e.action = newSpilledData(ahp.ClearScreen, d.text)
		default:
			continue
		}
		e.weight = e.weigh()
		return list
	}
	e := &Entry{seq: c.store.nextLocked(), channel: c.uri,
		action: ahp.TerminalData{Data: []byte(ahp.ClearScreen)}}
	e.weight = e.weigh()
	return append(list, e)
}

// rebuildPart adds the actions that rebuild a part of the content.
func rebuildPart(p *ahp.Part, add func(ahp.Action)) {
	cmd := p.Command
	if cmd != nil {
		add(ahp.TerminalCommandExecuted{
			CommandID:   cmd.ID,
			CommandLine: cmd.Line,
			Timestamp:   cmd.Timestamp,
			By:          cmd.By,
			Cwd:         cmd.Cwd,
		})
	} else if p.Text.Len() == 0 {
		add(ahp.TerminalData{}) // makes a part without text
	}
	for _, piece := range p.Text.Split() {
		if piece.Resident() == 0 {
			add(newSpilledData("", piece))
			continue
		}
		for _, b := range piece.Chunks() {
			add(ahp.TerminalData{Data: slices.Clip(b)})
		}
	}
	if cmd != nil && cmd.Complete {
		add(ahp.TerminalCommandFinished{
			CommandID:  cmd.ID,
			ExitCode:   cmd.ExitCode,
			DurationMs: cmd.DurationMs,
		})
	}
}
