package client

import (
	"context"
	"encoding/json"
	"strings"
	"sync"

	"termhost/ahp"
)

// Mirror is a channel's state as this client knows it. It goes on changing until
// it is closed or fails. All methods may be called concurrently.
type Mirror struct {
	client *Client
	uri    string
	limit  int // of the output kept, in bytes

	refs int // how many have it; guarded by Client.mu

	mu      sync.Mutex // taken after Client.mu
	seq     uint64
	root    *ahp.RootState
	term    *ahp.TerminalState
	size    int           // of the content
	chunk   []byte        // room for small pieces of output
	changed chan struct{} // closed with the next change; nil: nobody waits
	err     error
}

// URI returns the channel, as the host spells it.
func (m *Mirror) URI() string { return m.uri }

// Seq returns the serverSeq that the state is of.
func (m *Mirror) Seq() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.seq
}

// Err returns why the state changes no more: ErrGone, or why the client ended.
func (m *Mirror) Err() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.err
}

// Terminal returns a copy of a terminal's state; it is zero for the root. Output
// beyond Config.MirrorBytes is dropped from its head, wherever that is.
func (m *Mirror) Terminal() ahp.TerminalState {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.term == nil {
		return ahp.TerminalState{}
	}
	return m.term.Clone()
}

// Root returns a copy of the root's state; it is zero for a terminal.
func (m *Mirror) Root() ahp.RootState {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.root == nil {
		return ahp.RootState{}
	}
	return *m.root
}

// Changed returns a channel that is closed with the next change, or when the
// mirror fails. Ask for it before looking.
func (m *Mirror) Changed() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.changedLocked()
}

func (m *Mirror) changedLocked() <-chan struct{} {
	if m.changed == nil {
		m.changed = make(chan struct{})
		if m.err != nil {
			close(m.changed)
		}
	}
	return m.changed
}

// WaitTerminal returns when ok says so of a terminal's state, which it must
// neither keep nor change; it must not call back. An error is the mirror's, or
// ctx's cause.
func (m *Mirror) WaitTerminal(ctx context.Context, ok func(*ahp.TerminalState) bool) error {
	return m.wait(ctx, func() bool { return m.term != nil && ok(m.term) })
}

// WaitRoot is WaitTerminal for the root.
func (m *Mirror) WaitRoot(ctx context.Context, ok func(*ahp.RootState) bool) error {
	return m.wait(ctx, func() bool { return m.root != nil && ok(m.root) })
}

func (m *Mirror) wait(ctx context.Context, ok func() bool) error {
	for {
		m.mu.Lock()
		good, err, changed := ok(), m.err, m.changedLocked()
		m.mu.Unlock()
		if good || err != nil {
			if good {
				err = nil
			}
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Close ends one Subscribe; with the last one the host is told to send no more.
func (m *Mirror) Close() {
	c := m.client
	c.mu.Lock()
	m.refs--
	l := c.link
	last := m.refs == 0 && c.mirrors[m.uri] == m
	if last {
		delete(c.mirrors, m.uri)
		m.fail(ErrClosed)
	}
	c.mu.Unlock()
	if last && l != nil {
		// An error means that the link has ended, and the subscription with it.
		_ = c.send(c.ctx, l, request{Version: "2.0", Method: "unsubscribe", Params: channelParams{m.uri}})
	}
}

// reset takes a snapshot.
func (m *Mirror) reset(s *ahp.Snapshot) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.uri == ahp.RootURI {
		var root ahp.RootState
		if err := json.Unmarshal(s.State, &root); err != nil {
			return err
		}
		m.root = &root
	} else {
		var term ahp.TerminalState
		if err := json.Unmarshal(s.State, &term); err != nil {
			return err
		}
		m.term = &term
		m.weigh()
	}
	m.seq, m.chunk = s.FromSeq, nil
	m.notify()
	return nil
}

// apply folds an action that the state does not contain yet.
func (m *Mirror) apply(seq uint64, a ahp.Action) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if seq <= m.seq {
		return
	}
	m.seq = seq
	switch {
	case m.root != nil:
		m.root.Apply(a)
	case m.term != nil:
		m.term.Apply(m.grow(a))
		m.trim()
	}
	m.notify()
}

func (m *Mirror) notify() {
	if m.changed != nil {
		close(m.changed)
		m.changed = nil
	}
}

// fail ends the mirror; the first reason counts.
func (m *Mirror) fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err == nil {
		m.err = err
		m.notify()
	}
}

const (
	// partOverhead is what a part of the content weighs besides its text.
	partOverhead = 128
	// chunkBytes is the size of the chunks that small pieces of output share, so
	// that a key's echo does not cost an allocation and a list entry of its own.
	chunkBytes = 4 << 10
)

// grow counts what an action adds and puts small output into a shared chunk.
func (m *Mirror) grow(a ahp.Action) ahp.Action {
	switch a := a.(type) {
	case ahp.TerminalCleared:
		m.size = 0
	case ahp.TerminalData:
		m.size += len(a.Data)
		return ahp.TerminalData{Data: m.share(a.Data)}
	case ahp.TerminalOutput:
		m.size += len(a.Data)
		return ahp.TerminalOutput{Data: m.share(a.Data)}
	case ahp.TerminalCommandExecuted:
		m.size += partOverhead + len(a.CommandLine)
	}
	return a
}

// share returns p, or a copy of it behind the last one.
func (m *Mirror) share(p []byte) []byte {
	if len(p) > chunkBytes/4 {
		return p
	}
	if cap(m.chunk)-len(m.chunk) < len(p) {
		m.chunk = make([]byte, 0, chunkBytes)
	}
	n := len(m.chunk)
	m.chunk = append(m.chunk, p...)
	return m.chunk[n:]
}

// trim drops the oldest output when a quarter too much has come together.
func (m *Mirror) trim() {
	if m.size <= m.limit+m.limit/4 {
		return
	}
	excess := m.size - m.limit
	parts := m.term.Content
	for len(parts) > 1 && excess >= weight(&parts[0]) {
		excess -= weight(&parts[0])
		parts = parts[1:]
	}
	parts = append([]ahp.Part(nil), parts...)
	whole := 0 // chunks, so that no rune is cut
	for _, b := range parts[0].Text.Chunks() {
		if whole >= excess {
			break
		}
		whole += len(b)
	}
	parts[0].Text.Drop(whole)
	m.term.Content = parts
	m.weigh()
}

func (m *Mirror) weigh() {
	m.size = 0
	for i := range m.term.Content {
		m.size += weight(&m.term.Content[i])
	}
}

func weight(p *ahp.Part) int {
	n := partOverhead + p.Text.Len()
	if p.Command != nil {
		n += len(p.Command.Line)
	}
	return n
}

// Text returns all output of a terminal's state, commands' and other.
func Text(s *ahp.TerminalState) string {
	var b strings.Builder
	for i := range s.Content {
		for _, chunk := range s.Content[i].Text.Chunks() {
			b.Write(chunk)
		}
	}
	return b.String()
}
