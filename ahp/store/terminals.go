package store

import (
	"slices"

	"termhost/ahp"
)

// List puts a terminal into the root's list, from the next
// [Store.PublishTerminals] on.
func (c *Channel) List() {
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if !c.closed && !slices.Contains(s.listed, c) {
		s.listed = append(s.listed, c)
	}
}

// PublishTerminals appends root/terminalsChanged with the terminals as they are.
func (s *Store) PublishTerminals() {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]ahp.TerminalInfo, len(s.listed))
	for i, c := range s.listed {
		list[i] = c.infoLocked()
	}
	changed := ahp.RootTerminalsChanged{Terminals: list}
	s.root.appendLocked(&Entry{action: changed}, changed)
}

// Terminals returns the root's list as it was published last, which must not be
// modified.
func (s *Store) Terminals() []ahp.TerminalInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.root.rootState.Terminals
}

func (c *Channel) infoLocked() ahp.TerminalInfo {
	st := c.state
	return ahp.TerminalInfo{Resource: c.uri, Title: st.Title, Claim: st.Claim, Exited: st.Exited, ExitCode: st.ExitCode, Client: st.Client}
}

// Summary is a terminal's state without its content.
type Summary struct {
	ahp.TerminalInfo
	Cwd         string
	Cols, Rows  int
	LastCommand string // "" if no command was detected
	Readers     int    // who reads its log
}

// Summary returns a terminal's state without its content.
func (c *Channel) Summary() Summary {
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	sum := Summary{TerminalInfo: c.infoLocked(), Cwd: c.state.Cwd, Cols: c.state.Cols, Rows: c.state.Rows, Readers: len(c.links)}
	for i := len(c.state.Content) - 1; i >= 0; i-- {
		if cmd := c.state.Content[i].Command; cmd != nil {
			sum.LastCommand = cmd.Line
			break
		}
	}
	return sum
}

// Claim returns who holds the terminal.
func (c *Channel) Claim() ahp.Claim {
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	return c.state.Claim
}
