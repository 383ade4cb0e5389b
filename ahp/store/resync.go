package store

import (
	"errors"
	"slices"
	"strconv"

	"termhost/ahp"
)

// ErrGone says that the channel has been removed, or the subscriber closed.
var ErrGone = errors.New("store: the channel is gone")

// View is a channel's state at a serverSeq. It never changes.
type View struct {
	URI      string
	Seq      uint64
	Root     *ahp.RootState     // of the root channel, else nil
	Terminal *ahp.TerminalState // of a terminal, else nil
}

// AppendJSON appends the view as AHP's Snapshot.
func (v View) AppendJSON(dst []byte, shape ahp.Shape) []byte {
	dst = append(dst, `{"resource":`...)
	dst = ahp.AppendJSONString(dst, v.URI)
	dst = append(dst, `,"state":`...)
	if v.Root != nil {
		dst = v.Root.AppendJSON(dst, shape)
	} else {
		dst = v.Terminal.AppendJSON(slices.Grow(dst, v.roughSize()), shape)
	}
	dst = append(dst, `,"fromSeq":`...)
	dst = strconv.AppendUint(dst, v.Seq, 10)
	return append(dst, '}')
}

// roughSize is about how many bytes a terminal's state takes as JSON.
func (v View) roughSize() int {
	const fields, each = 512, 160
	n := fields
	for i := range v.Terminal.Content {
		n += each + v.Terminal.Content[i].Text.Len()*9/8
	}
	return n
}

func (c *Channel) isRoot() bool { return c.rootState != nil }

func (c *Channel) viewLocked() View {
	v := View{URI: c.uri, Seq: c.store.seq}
	if c.isRoot() {
		root := *c.rootState
		v.Root = &root
		return v
	}
	st := c.state.Clone()
	v.Terminal = &st
	return v
}

// resyncLocked brings a link that fell off its log to the log's end: the
// actions that rebuild the state become entries of the connection's own, behind
// what answers its client's own actions among those that it has not read.
func (l *link) resyncLocked() {
	log := &l.ch.log
	for pos := max(log.base, l.since); pos < log.end(); pos++ {
		l.sub.answerLostLocked(log.at(pos))
	}
	for _, e := range l.ch.rebuildLocked() {
		l.sub.pushLocked(e)
	}
	l.restartLocked()
	l.sub.synced[l.ch.uri] = l.ch.store.seq
}

// rebuildLocked returns actions with fresh numbers that make any earlier state
// of the channel equal to the present one.
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
	if st.Detection {
		add(ahp.TerminalCommandDetectionAvailable{})
	}
	for i := range st.Content {
		rebuildPart(&st.Content[i], add)
	}
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

func rebuildPart(p *ahp.Part, add func(ahp.Action)) {
	cmd := p.Command
	if cmd != nil {
		add(ahp.TerminalCommandExecuted{CommandID: cmd.ID, CommandLine: cmd.Line, Timestamp: cmd.Timestamp})
	} else if p.Text.Len() == 0 {
		add(ahp.TerminalData{}) // the part is there all the same
	}
	for _, b := range p.Text.Chunks() {
		add(ahp.TerminalData{Data: slices.Clip(b)})
	}
	if cmd != nil && cmd.Complete {
		add(ahp.TerminalCommandFinished{CommandID: cmd.ID, ExitCode: cmd.ExitCode, DurationMs: cmd.DurationMs})
	}
}
