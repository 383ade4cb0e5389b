package store

import (
	"slices"
	"strconv"

	"termhost/ahp"
)

// View is a channel's state at a serverSeq. It never changes.
type View struct {
	URI      string
	Seq      uint64
	Root     *ahp.RootState     // of the root channel, else nil
	Terminal *ahp.TerminalState // of a terminal, else nil
}

// AppendJSON appends the view as a Snapshot of AHP.
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

// roughSize returns about how many bytes a terminal's state takes as JSON.
func (v View) roughSize() int {
	const fields, each = 512, 160
	n := fields
	for i := range v.Terminal.Content {
		n += each + v.Terminal.Content[i].Text.Len()*5/4
	}
	return n
}

func (c *Channel) isRoot() bool { return c.rootState != nil }

// viewLocked returns the channel's state as a subscriber may read it.
func (c *Channel) viewLocked(sub *Subscriber) View {
	v := View{URI: c.uri, Seq: c.store.seq}
	if c.isRoot() {
		root := *c.rootState
		v.Root = &root
		return v
	}
	st := c.stateLocked(sub.reads)
	st.Termhost.Host = c.store.host
	v.Terminal = &st
	return v
}
