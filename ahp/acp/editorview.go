package acp

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"termhost/ahp"
)

const (
	// editorWait is how long an editor may take to make a terminal, while what the
	// agent says waits for it. After that the terminal is shown as text.
	editorWait = 5 * time.Second
	// lastOutputWait is how long the editor's terminal has to draw the last output
	// of one that was released, before it is released itself.
	lastOutputWait = 15 * time.Second
)

// editorView is the editor's own terminal that shows one of the host's.
type editorView struct {
	mu    sync.Mutex // leaf
	tried bool
	id    string // the editor's; "": it has none
}

func (v *editorView) editorID() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.id
}

// show has the editor show a terminal in one of its own, if it has terminals. It
// returns when it does, or does not. The agent's reader calls it, one at a time.
func (p *Proxy) show(t *remote, session string) {
	p.mu.Lock()
	able := p.editorTerminals
	p.mu.Unlock()
	if !able || t.name == "" || t.shown.tried {
		return
	}
	t.shown.tried = true
	argv := p.cfg.Attach(t.name)
	ctx, cancel := context.WithTimeoutCause(p.ctx, editorWait, errors.New("it does not answer"))
	defer cancel()
	var r createResult
	err := p.ask(ctx, methodCreate, struct {
		SessionID json.RawMessage `json:"sessionId"`
		Command   string          `json:"command"`
		Args      []string        `json:"args"`
	}{json.RawMessage(session), argv[0], argv[1:]}, &r)
	if err == nil && r.TerminalID == "" {
		err = errors.New("it named none")
	}
	if err != nil {
		p.cfg.Note("the editor could not show a terminal, it is shown as text: " + err.Error())
		return
	}
	t.shown.mu.Lock()
	defer t.shown.mu.Unlock()
	t.shown.id = r.TerminalID
}

// let gives the editor's terminal back, once it has drawn what there is: what it
// shows stays.
func (p *Proxy) let(t *remote) {
	id := t.shown.editorID()
	if id == "" {
		return
	}
	p.tasks.Go(func() {
		q := terminalParams{t.session, id}
		waiting, cancel := context.WithTimeout(p.ctx, lastOutputWait)
		defer cancel()
		// Whether it has ended by itself or not, it is released.
		_ = p.ask(waiting, methodWait, q, nil)
		releasing, stop := context.WithTimeout(p.ctx, editorWait)
		defer stop()
		_ = p.ask(releasing, methodRelease, q, nil)
	})
}

// answer is the editor's to a request of the proxy's.
type answer struct {
	result json.RawMessage
	err    error
}

// ask sends the editor a request and waits for the answer.
func (p *Proxy) ask(ctx context.Context, method string, params, result any) error {
	done := make(chan answer, 1)
	p.mu.Lock()
	p.lastID++
	id := p.idPrefix + strconv.Itoa(p.lastID)
	p.asked[id] = done
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(p.asked, id)
		p.mu.Unlock()
	}()
	p.toEditor(append(encode(struct {
		Version string `json:"jsonrpc"`
		ID      string `json:"id"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}{"2.0", id, method, params}), '\n'))
	select {
	case a := <-done:
		if a.err != nil || result == nil {
			return a.err
		}
		return json.Unmarshal(a.result, result)
	case <-p.editorGone:
		return errors.New("the editor has gone")
	case <-ctx.Done():
		return context.Cause(ctx)
	}
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
	done := p.asked[id]
	delete(p.asked, id)
	p.mu.Unlock()
	if done != nil {
		done <- a
	}
	return true
}
