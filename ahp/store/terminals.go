package store

import (
	"slices"

	"termhost/ahp"
)

// List adds a terminal to the root's list, with the next [Store.PublishTerminals].
func (c *Channel) List() {
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if !c.closed && !slices.Contains(s.listed, c) {
		s.listed = append(s.listed, c)
	}
}

// PublishTerminals appends root/terminalsChanged with the present list of terminals.
func (s *Store) PublishTerminals() {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := ahp.RootTerminalsChanged{Terminals: s.infosLocked(s.listed)}
	s.root.appendLocked(&Entry{action: changed}, changed)
	for _, c := range s.roots {
		c.publishLocked()
	}
}

func (s *Store) infosLocked(terminals []*Channel) []ahp.TerminalInfo {
	list := make([]ahp.TerminalInfo, len(terminals))
	for i, c := range terminals {
		list[i] = c.infoLocked()
	}
	return list
}

// Terminals returns the last published list of a root channel. It must not be modified.
func (c *Channel) Terminals() []ahp.TerminalInfo {
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	return c.rootState.Terminals
}

func (c *Channel) infoLocked() ahp.TerminalInfo {
	st := c.state
	info := ahp.TerminalInfo{
		Resource: c.uri,
		Title:    st.Title,
		Claim:    st.Claim,
		Exited:   st.Exited,
		ExitCode: st.ExitCode,
		Client:   st.Client,
		Termhost: st.Termhost,
	}
	info.Termhost.Cwd, info.Termhost.Host = st.Cwd, c.store.host
	if cmd := c.lastCommandLocked(); cmd != nil {
		info.Termhost.Last = ahp.LastCommandOf(cmd)
	}
	return info
}

// lastCommandLocked returns the last retained command, or nil.
func (c *Channel) lastCommandLocked() *ahp.Command {
	for i := len(c.state.Content) - 1; i >= 0; i-- {
		if cmd := c.state.Content[i].Command; cmd != nil {
			return cmd
		}
	}
	return nil
}

// SetMeta changes a terminal's _meta, in its state and in the next published root list. No action
// reports it.
func (c *Channel) SetMeta(change func(*ahp.TerminalMeta)) {
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if !c.closed {
		change(&c.state.Termhost)
	}
}

// Summary is a terminal's state without its content.
type Summary struct {
	ahp.TerminalInfo
	Cwd         string
	Cols, Rows  int
	LastCommand *ahp.Command // nil: none; it must not be modified
	Readers     int          // how many subscribers it has
}

// Summary returns a terminal's state without its content.
func (c *Channel) Summary() Summary {
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	return Summary{
		TerminalInfo: c.infoLocked(),
		Cwd:          c.state.Cwd,
		Cols:         c.state.Cols,
		Rows:         c.state.Rows,
		LastCommand:  c.lastCommandLocked(),
		Readers:      len(c.cursors),
	}
}

// Claim returns who holds the terminal.
func (c *Channel) Claim() ahp.Claim {
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	return c.state.Claim
}
