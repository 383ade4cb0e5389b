package acp

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"time"

	"termhost/ahp"
)

const (
	// editorWait is how long an editor may take to make a terminal, while it is
	// shown as text. One that takes longer is not asked again.
	editorWait = 5 * time.Second
	// textAfter is how long a terminal that the editor is asked for is not shown as
	// text yet: most editors answer within that, and nothing flickers.
	textAfter = 300 * time.Millisecond
	// lastOutputWait is how long the editor's terminal has to draw the last output
	// of one that was released, before it is released itself.
	lastOutputWait = 15 * time.Second
)

// canShow reports whether the editor has terminals and answers when it is asked
// for one.
func (p *Proxy) canShow() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.editorTerminals
}

// stopShowing has all terminals shown as text from now on.
func (p *Proxy) stopShowing(why error) {
	p.mu.Lock()
	news := p.editorTerminals
	p.editorTerminals = false
	p.mu.Unlock()
	if news {
		p.cfg.Note("the editor does not show terminals, they are shown as text: " + why.Error())
	}
}

// begins reports whether a terminal is to be presented, which is done once. What
// was released is text: nobody would give the editor's terminal back. viewMu is
// held.
func (p *Proxy) begins(t *remote) bool {
	if t.decided != nil || t.text.final {
		return false
	}
	t.decided = make(chan struct{})
	p.mu.Lock()
	defer p.mu.Unlock()
	t.asks = p.editorTerminals && !t.released && t.name != ""
	return true
}

// present shows a terminal that a tool call has for the first time: in one of the
// editor's own, or as text.
func (p *Proxy) present(t *remote, session json.RawMessage) {
	if p.gone(t) {
		close(t.decided)
		return
	}
	if t.asks && p.canShow() {
		p.tasks.Go(func() { p.show(t, session) })
		select {
		case <-t.live:
			return
		case <-t.decided:
		case <-time.After(textAfter):
		case <-p.ctx.Done():
			return
		}
	} else {
		close(t.decided)
	}
	p.watch(t)
}

// show has the editor show a terminal in one of its own. An editor's answer that
// comes too late is not shown any more: its terminal is given back.
func (p *Proxy) show(t *remote, session json.RawMessage) {
	argv := p.cfg.Attach(t.name)
	q := p.ask(methodCreate, struct {
		SessionID json.RawMessage `json:"sessionId"`
		Command   string          `json:"command"`
		Args      []string        `json:"args"`
	}{session, argv[0], argv[1:]})
	waiting, cancel := context.WithTimeoutCause(p.ctx, p.editorWait, errors.New("it does not answer"))
	id, err := q.terminal(waiting)
	cancel()
	if err == nil {
		p.showLive(t, session, id)
		close(t.decided)
		return
	}
	p.stopShowing(err)
	close(t.decided)
	if errors.Is(err, context.Cause(waiting)) {
		if id, err = q.terminal(p.ctx); err == nil {
			p.giveBack(session, id)
		}
	}
}

// showLive replaces a terminal's text by the editor's own terminal.
func (p *Proxy) showLive(t *remote, session json.RawMessage, id string) {
	p.editor.mu.Lock()
	defer p.editor.mu.Unlock()
	p.viewMu.Lock()
	t.editorID, t.editorSession = id, session
	close(t.live)
	messages := p.renew(t)
	p.viewMu.Unlock()
	for _, m := range messages {
		p.toEditorLocked(m)
	}
}

// let gives the editor's terminal back, if there is one, once it has drawn what
// there is: what it shows stays.
func (p *Proxy) let(t *remote) {
	p.viewMu.Lock()
	decided := t.decided
	p.viewMu.Unlock()
	if decided == nil {
		return // never shown
	}
	p.tasks.Go(func() {
		select {
		case <-decided:
		case <-p.ctx.Done():
			return
		}
		p.viewMu.Lock()
		id, session := t.editorID, t.editorSession
		p.viewMu.Unlock()
		if id == "" {
			return
		}
		waiting, cancel := context.WithTimeout(p.ctx, lastOutputWait)
		defer cancel()
		// Whether it has ended by itself or not, it is released.
		_, _ = p.ask(methodWait, editorParams{session, id}).wait(waiting)
		p.giveBack(session, id)
	})
}

// editorParams name a terminal of the editor's.
type editorParams struct {
	SessionID  json.RawMessage `json:"sessionId"`
	TerminalID string          `json:"terminalId"`
}

// giveBack releases a terminal of the editor's.
func (p *Proxy) giveBack(session json.RawMessage, id string) {
	ctx, cancel := context.WithTimeout(p.ctx, editorWait)
	defer cancel()
	// An editor that refuses has no such terminal any more.
	_, _ = p.ask(methodRelease, editorParams{session, id}).wait(ctx)
}

// answer is the editor's to a request of the proxy's.
type answer struct {
	result json.RawMessage
	err    error
}

// question is a request of the proxy's to the editor.
type question struct {
	p    *Proxy
	done chan answer // 1 deep
}

// ask sends the editor a request.
func (p *Proxy) ask(method string, params any) *question {
	q := &question{p, make(chan answer, 1)}
	p.mu.Lock()
	p.lastID++
	id := p.idPrefix + strconv.Itoa(p.lastID)
	p.asked[id] = q
	p.mu.Unlock()
	p.toEditor(append(encode(struct {
		Version string `json:"jsonrpc"`
		ID      string `json:"id"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}{"2.0", id, method, params}), '\n'))
	return q
}

// wait returns the result. It may be called again when ctx, whose cause is its
// error then, has ended before the answer came.
func (q *question) wait(ctx context.Context) (json.RawMessage, error) {
	select {
	case a := <-q.done:
		return a.result, a.err
	case <-q.p.editorGone:
		return nil, errors.New("the editor has gone")
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// terminal is wait for the id of a terminal that the editor has made.
func (q *question) terminal(ctx context.Context) (string, error) {
	result, err := q.wait(ctx)
	if err != nil {
		return "", err
	}
	var r createResult
	if json.Unmarshal(result, &r) != nil || r.TerminalID == "" {
		return "", errors.New("it named none")
	}
	return r.TerminalID, nil
}

// answered takes the editor's answer to a request of the proxy's; false: it is
// the agent's.
func (p *Proxy) answered(m *message) bool {
	id := textOf(m.id)
	if len(id) < len(p.idPrefix) || id[:len(p.idPrefix)] != p.idPrefix {
		return false
	}
	a := answer{result: slices.Clone(m.result.of(m.line))}
	if m.result.end == 0 {
		var refused struct {
			Error ahp.Error `json:"error"`
		}
		a.err = &refused.Error
		if json.Unmarshal(m.line, &refused) != nil || refused.Error.Message == "" {
			a.err = errors.New("it was refused")
		}
	}
	p.mu.Lock()
	q := p.asked[id]
	delete(p.asked, id)
	p.mu.Unlock()
	if q != nil {
		q.done <- a
	}
	return true
}
