package client

import (
	"context"
	"encoding/json"
	"strings"
	"sync"

	"termhost/ahp"
)

// Mirror is a channel's state as this client knows it. It changes until it is closed or fails. All
// methods may be called concurrently.
type Mirror struct {
	client *Client
	uri    string
	limit  int // of the output kept, in bytes

	refs int // how many Subscribes have it; guarded by Client.mu

	mu      sync.Mutex // guards what follows; may be taken under Client.mu, not over it
	seq     uint64
	root    *ahp.RootState
	term    *ahp.TerminalState
	size    int           // of the content
	chunk   []byte        // shared by small pieces of output; see share
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

// Err returns why the state has stopped changing: ErrGone, ErrClosed, or why the client ended. nil:
// it still changes.
func (m *Mirror) Err() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.err
}

// Terminal returns a copy of a terminal's state; it is zero for the root. Of more
// output than Config.MirrorBytes the oldest is dropped, even within a line.
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
// mirror fails. Call it before looking at the state, so that no change is missed.
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

// WaitTerminal waits until ok returns true for the terminal's state. ok must
// neither keep nor change that, and must not call the Mirror or the Client. The
// error is that of Err, or ctx's cause.
func (m *Mirror) WaitTerminal(ctx context.Context, ok func(*ahp.TerminalState) bool) error {
	return m.wait(ctx, func() bool { return m.term != nil && ok(m.term) })
}

// WaitRoot is WaitTerminal for the root.
func (m *Mirror) WaitRoot(ctx context.Context, ok func(*ahp.RootState) bool) error {
	return m.wait(ctx, func() bool { return m.root != nil && ok(m.root) })
}

func (m *Mirror) wait(ctx context.Context, ok func() bool) error {
	for {
		done, changed, err := m.look(ok)
		if done || err != nil {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// look returns whether ok returns true now, and otherwise what to wait for or why that
// is of no use. It does not leave the mirror locked if ok panics.
func (m *Mirror) look(ok func() bool) (done bool, changed <-chan struct{}, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if ok() {
		return true, nil, nil
	}
	return false, m.changedLocked(), m.err
}

// Close ends one Subscribe; the last one unsubscribes at the host.
func (m *Mirror) Close() {
	c := m.client
	c.mu.Lock()
	m.refs--
	conn := c.conn
	last := m.refs == 0 && c.mirrors[m.uri] == m
	if last {
		delete(c.mirrors, m.uri)
		m.fail(ErrClosed)
	}
	c.mu.Unlock()
	if last && conn != nil {
		// An error means that the connection has ended, and the subscription with it.
		_ = c.send(c.ctx, conn, request{Version: "2.0", Method: ahp.MethodUnsubscribe,
			Params: channelParams{m.uri}})
	}
}

// reset sets the state to that of a snapshot.
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

// apply applies an action, unless the state contains it already.
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
		m.term.ApplyCopy(m.grow(a))
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
	// partOverhead is what a part of the content counts for beside its text, in
	// bytes.
	partOverhead = 128
	// chunkBytes is the size of the chunks that small pieces of output share, so
	// that the echo of a key does not cost an allocation and a list entry.
	chunkBytes = 4 << 10
)

// grow counts what an action adds to the content. It returns the action with small
// output moved into a shared chunk.
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

// share returns p or, if that is small, a copy right behind the last such copy, which
// the reducer joins with it.
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

// trim drops the oldest output once there is a quarter more than the limit.
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

// Text returns all output in a terminal's state, that of commands and other.
func Text(s *ahp.TerminalState) string {
	var b strings.Builder
	for i := range s.Content {
		for _, chunk := range s.Content[i].Text.Chunks() {
			b.Write(chunk)
		}
	}
	return b.String()
}
