package acpproxy

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"termhost/ahp"
	"termhost/ahp/acp/wire"
)

// question is a request of the proxy's own to the editor.
type question struct {
	p    *Proxy
	done chan editorAnswer // 1 deep
}

// editorAnswer is the editor's answer to a question.
type editorAnswer struct {
	result json.RawMessage
	err    error
}

// ask sends the editor a request.
func (p *Proxy) ask(method string, params any) *question {
	q := &question{p, make(chan editorAnswer, 1)}
	p.mu.Lock()
	p.lastID++
	id := p.idPrefix + strconv.Itoa(p.lastID)
	p.asked[id] = q
	p.mu.Unlock()
	p.toEditor(append(ahp.Encode(struct {
		Version string `json:"jsonrpc"`
		ID      string `json:"id"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}{"2.0", id, method, params}), '\n'))
	return q
}

// wait returns the result. If ctx ends first, its cause is the error, and wait may be called again.
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

// terminal is wait for a request that makes a terminal of the editor's; it returns the id.
func (q *question) terminal(ctx context.Context) (string, error) {
	result, err := q.wait(ctx)
	if err != nil {
		return "", err
	}
	var r wire.CreateResult
	if json.Unmarshal(result, &r) != nil || r.TerminalID == "" {
		return "", errors.New("it named none")
	}
	return r.TerminalID, nil
}

// takeAnswer takes a response of the editor's that answers a request of the proxy's; false: the
// request was the agent's.
func (p *Proxy) takeAnswer(m *message) bool {
	id := textOf(m.id)
	if !strings.HasPrefix(id, p.idPrefix) {
		return false
	}
	a := editorAnswer{result: slices.Clone(m.result.of(m.line))}
	if !m.result.exists() {
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
