package viewer

import (
	"context"

	"termhost/ptypool/vt"
)

// Place is a terminal by the names of its host and its own.
type Place struct{ Host, Name string }

// at reports whether a row is of a place.
func (r *Row) at(p Place) bool { return r.Name == p.Name && r.Host == p.Host }

// Pick shows the list of terminals in the peer's terminal, whatever state that is in, and returns
// the row that the person chooses, who comes from a terminal; nil: they return without. end ends
// the Session's input, of which rest was read and is for whatever is shown next. It returns ErrLost
// if ctx is done before.
func Pick(ctx context.Context, s *Session, from Place, end func()) (
	row *Row, rest []byte, err error) {
	t := newTop(ctx, s)
	t.list = newList(ctx, s, t, listOptions{window: s.Window, whole: true, picks: true, from: from,
		goes: func(r *Row) verdict {
			row = r
			return dialogEnds
		}})
	t.dialog = t.list
	defer t.list.closed()
	s.Go("reading what is typed", t.input.run)
	if err = t.write([]byte(vt.SaneHere)); err == nil {
		err = t.run()
	}
	end()
	for p := range t.input.chunks { // until run has ended
		t.input.rest = append(t.input.rest, p...)
	}
	return row, t.input.rest, err
}
