package acp

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// liveView is a terminal of the editor's that shows one of the host's. It is
// guarded by Proxy.viewMu.
type liveView struct {
	id      string          // "": there is none
	session json.RawMessage // in which the editor has made it
	begun   chan struct{}   // closed when there is one
	ended   chan struct{}   // closed when it shows nothing new any more, or is there no more
	settled bool            // it has shown everything
	back    bool            // it has been given back
}

// begins reports whether a terminal is to be presented, which is done once. What
// was released is text: nobody would give the editor's terminal back. viewMu is
// held.
func (p *Proxy) begins(t *remote) bool {
	if t.decided != nil || t.text.final {
		return false
	}
	t.decided = make(chan struct{})
	t.live.begun, t.live.ended = make(chan struct{}), make(chan struct{})
	p.mu.Lock()
	defer p.mu.Unlock()
	t.asks = p.editorTerminals && !t.released && t.name != ""
	return true
}

// present shows a terminal that a tool call has for the first time: in one of the
// editor's own, or as text.
func (p *Proxy) present(t *remote, session json.RawMessage) {
	if t.asks && p.canShow() {
		p.tasks.Go(func() { p.show(t, session) })
		select {
		case <-t.begunLive(p):
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

// begunLive returns what is closed when the editor has a terminal for t.
func (t *remote) begunLive(p *Proxy) <-chan struct{} {
	p.viewMu.Lock()
	defer p.viewMu.Unlock()
	return t.live.begun
}

// show has the editor show a terminal in one of its own, if there is still
// something to be seen when it is its turn, and attends to that. An editor's
// answer that comes too late is not shown any more: its terminal is given back.
func (p *Proxy) show(t *remote, session json.RawMessage) {
	started := p.turn()
	defer started()
	if p.over() || !p.canShow() || !p.worthShowing(t) || p.unlisted(t) {
		close(t.decided)
		return
	}
	argv := p.cfg.Attach(t.uri)
	q := p.ask(methodCreate, struct {
		SessionID json.RawMessage `json:"sessionId"`
		Command   string          `json:"command"`
		Args      []string        `json:"args"`
	}{session, argv[0], argv[1:]})
	waiting, cancel := context.WithTimeoutCause(p.ctx, p.editorWait, errors.New("it does not answer"))
	id, err := q.terminal(waiting)
	cancel()
	if err != nil {
		p.stopShowing(err)
		close(t.decided)
		started()
		if errors.Is(err, context.Cause(waiting)) {
			if id, err = q.terminal(p.ctx); err == nil {
				p.giveBack(session, id)
			}
		}
		return
	}
	shown := p.showLive(t, session, id)
	close(t.decided)
	if !shown {
		p.giveBack(session, id)
		return
	}
	p.attend(t, started)
}

// turn waits until the editor may start one more view. started, which may be
// called again, lets the next one.
func (p *Proxy) turn() (started func()) {
	select {
	case p.starts <- struct{}{}:
	case <-p.ctx.Done():
		return func() {}
	}
	free := false
	return func() {
		if !free {
			free = true
			<-p.starts
		}
	}
}

// worthShowing reports whether a terminal may still change, and will be given
// back.
func (p *Proxy) worthShowing(t *remote) bool {
	p.viewMu.Lock()
	defer p.viewMu.Unlock()
	return p.worthShowingLocked(t)
}

func (p *Proxy) worthShowingLocked(t *remote) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !t.released && !t.text.final
}

// showLive replaces a terminal's text by the editor's own terminal; false: it is
// too late for that.
func (p *Proxy) showLive(t *remote, session json.RawMessage, id string) bool {
	p.editor.mu.Lock()
	defer p.editor.mu.Unlock()
	p.viewMu.Lock()
	if !p.worthShowingLocked(t) {
		p.viewMu.Unlock()
		return false
	}
	t.live.id, t.live.session = id, session
	close(t.live.begun)
	messages := p.renew(t)
	p.viewMu.Unlock()
	for _, m := range messages {
		p.toEditorLocked(m)
	}
	return true
}

// attend waits for the end of the editor's terminal. Where that has not shown
// everything, text takes its place.
func (p *Proxy) attend(t *remote, started func()) {
	p.ended(t) // is asked before it can be released
	p.viewMu.Lock()
	id, session, ended := t.live.id, t.live.session, t.live.ended
	p.viewMu.Unlock()
	q := p.ask(methodWait, editorParams{session, id})
	starting, cancel := context.WithTimeout(p.ctx, startWait)
	result, err := q.wait(starting)
	cancel()
	started()
	if errors.Is(err, context.DeadlineExceeded) {
		result, err = q.wait(p.ctx)
	}
	if p.over() {
		close(ended)
		return
	}
	failed := err != nil || p.cutShort(t, result)
	if failed = failed && p.fallBack(t); !failed {
		p.settleLive(t)
	}
	close(ended)
	if failed {
		p.giveBack(session, id)
		p.watch(t)
	}
}

// cutShort reports whether the view, which has ended so, has ended before its
// command, or otherwise than by that: a view ends as its command does, with 128+n
// after signal n.
func (p *Proxy) cutShort(t *remote, result json.RawMessage) bool {
	limit := time.NewTimer(exitWait)
	defer limit.Stop()
	select {
	case <-p.ended(t):
	case <-limit.C:
		return true
	}
	var view, command exitStatus
	if t.err != nil || json.Unmarshal(t.result, &command) != nil {
		// It was released, or the host is away, and with it the view.
		if t.link.Err() != nil || !p.parted(t) || t.last == nil || t.last.ExitStatus == nil {
			return false
		}
		command = *t.last.ExitStatus
	}
	if json.Unmarshal(result, &view) != nil {
		return false
	}
	want := command.ExitCode
	if command.Signal != nil {
		code := 128 + int(unix.SignalNum(*command.Signal))
		want = &code
	}
	switch {
	case view.Signal != nil:
		return true
	case view.ExitCode == nil || want == nil:
		return false
	}
	return *view.ExitCode != *want
}

// parted waits until the output of a released terminal is known; false: it is not
// released.
func (p *Proxy) parted(t *remote) bool {
	p.mu.Lock()
	released := t.released
	p.mu.Unlock()
	if !released {
		return false
	}
	select {
	case <-t.parted:
		return true
	case <-p.ctx.Done():
		return false
	}
}

// fallBack replaces the editor's terminal by text, unless it was given back: then
// what it shows stays.
func (p *Proxy) fallBack(t *remote) bool {
	p.editor.mu.Lock()
	defer p.editor.mu.Unlock()
	p.viewMu.Lock()
	if t.live.back {
		p.viewMu.Unlock()
		return false
	}
	t.live.back = true
	t.live.id, t.live.begun = "", make(chan struct{})
	messages := p.renew(t)
	p.viewMu.Unlock()
	for _, m := range messages {
		p.toEditorLocked(m)
	}
	return true
}

// settleLive follows a terminal no more whose view has shown everything.
func (p *Proxy) settleLive(t *remote) {
	p.viewMu.Lock()
	defer p.viewMu.Unlock()
	t.live.settled = true
	_ = p.renew(t) // there is nothing new
}

// let gives the editor's terminal back, if there is one, once it has drawn what
// there is: what it shows stays.
func (p *Proxy) let(t *remote) {
	p.viewMu.Lock()
	decided, ended := t.decided, t.live.ended
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
		if !p.isLive(t) {
			return
		}
		limit := time.NewTimer(lastOutputWait)
		defer limit.Stop()
		select {
		case <-ended:
		case <-limit.C:
		case <-p.ctx.Done():
			return
		}
		p.viewMu.Lock()
		id, session, back := t.live.id, t.live.session, t.live.back
		t.live.back = true
		p.viewMu.Unlock()
		if !back {
			p.giveBack(session, id)
		}
	})
}

func (p *Proxy) isLive(t *remote) bool {
	p.viewMu.Lock()
	defer p.viewMu.Unlock()
	return t.live.id != ""
}
