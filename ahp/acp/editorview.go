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
	// maxStarting is how many views an editor starts at once, and startWait how long
	// one counts as starting: each is a login at the host, which takes as many at
	// once from one place as a person makes.
	maxStarting = 4
	startWait   = time.Second
	// exitWait is how long after its view's end a command is known to have ended:
	// the view has been told first, by another connection.
	exitWait = time.Second
)

// canShow reports whether the editor has terminals and answers when it is asked
// for one.
func (p *Proxy) canShow() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.editorTerminals
}

// over reports whether either side has ended, after which nothing is remarkable.
func (p *Proxy) over() bool {
	select {
	case <-p.editorGone:
		return true
	default:
		return p.ctx.Err() != nil
	}
}

// stopShowing has all terminals shown as text from now on.
func (p *Proxy) stopShowing(why error) {
	p.mu.Lock()
	news := p.editorTerminals
	p.editorTerminals = false
	p.mu.Unlock()
	if news && !p.over() {
		p.cfg.Note("the editor does not show terminals, they are shown as text: " + reason(why))
	}
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
