package history

import "time"

// readRetained is read for a terminal without a log. The host knows the times of commands only;
// other output gets the time before it.
func (r *reader) readRetained() error {
	ret, err := r.Retained()
	if err != nil {
		return err
	}
	r.truncated = ret.Truncated
	ret.visit(func(i *Item) bool {
		if !r.stopped() {
			r.hand(i)
		}
		return !r.over
	})
	return nil
}

// visit calls its argument with the retained items until that returns false.
func (ret *Retained) visit(visit func(*Item) bool) {
	st, at, over := &ret.State, ret.Created, false
	emit := func(i Item) {
		if i.Time = at; !over {
			over = !visit(&i)
		}
	}
	emit(Item{Kind: Resized, Cols: st.Cols, Rows: st.Rows})
	for i := range st.Content {
		var c *Command
		if part := st.Content[i].Command; part != nil {
			c = NewCommand(part)
			at = c.StartedAt
			emit(Item{Kind: Began, Command: c})
		}
		for _, p := range st.Content[i].Text.Chunks() {
			emit(Item{Kind: Data, Data: p})
		}
		if c != nil && !c.Running {
			if c.DurationMs != nil {
				at = at.Add(time.Duration(*c.DurationMs) * time.Millisecond)
			}
			emit(Item{Kind: Finished, Command: c})
		}
	}
	if st.Exited {
		at = ret.Exited
		emit(Item{Kind: Exited, ExitCode: st.ExitCode})
	}
}
