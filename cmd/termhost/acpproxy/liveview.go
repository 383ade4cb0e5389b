package acpproxy

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"golang.org/x/sys/unix"

	"termhost/ahp/acp/wire"
)

const (
	// editorWait is how long an editor may take to make a terminal; the content is shown as text
	// meanwhile. An editor that takes longer is not asked for terminals again.
	editorWait = 5 * time.Second
	// textAfter is how long nothing is shown while the editor makes a terminal. Most editors are
	// done within that time, and then no text flashes up before the live view.
	textAfter = 300 * time.Millisecond
	// lastOutputWait is how long a live view may take to draw the last output of a released
	// terminal before it is given back.
	lastOutputWait = 15 * time.Second
	// maxStarting is how many live views an editor starts at once. Each logs in to the host, which
	// admits as many logins at once from one address as a person would make.
	maxStarting = 4
	// startWait is how long a live view counts as starting.
	startWait = time.Second
	// exitWait is how long after its live view a command may end for the two ends to count as one.
	// The view has a connection of its own to the host and may be told of the end first.
	exitWait = time.Second
)

// liveView is a terminal of the editor's that shows one of the host's. It is guarded by
// Proxy.viewMu.
type liveView struct {
	id      string          // of the editor's terminal; "": there is none
	session json.RawMessage // the session in which it was made
	begun   chan struct{}   // closed when there is one
	ended   chan struct{}   // closed when it has ended, and shows nothing new any more
	settled bool            // it has shown everything
	back    bool            // it has been given back to the editor
}

// editorParams name a terminal of the editor's.
type editorParams struct {
	SessionID  json.RawMessage `json:"sessionId"`
	TerminalID string          `json:"terminalId"`
}

// canShow reports whether the editor has terminals and makes one when it is asked.
func (p *Proxy) canShow() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.editorTerminals
}

// over reports whether the editor or the agent has ended. What fails then is not worth a notice.
func (p *Proxy) over() bool {
	select {
	case <-p.editorGone:
		return true
	default:
		return p.ctx.Err() != nil
	}
}

// stopShowing has all further terminals shown as text.
func (p *Proxy) stopShowing(why error) {
	p.mu.Lock()
	changed := p.editorTerminals
	p.editorTerminals = false
	p.mu.Unlock()
	if changed && !p.over() {
		const what = "the editor does not show terminals, they are shown as text: "
		p.cfg.Notice(what + reason(why))
	}
}

// giveBack releases a terminal of the editor's.
func (p *Proxy) giveBack(session json.RawMessage, id string) {
	ctx, cancel := context.WithTimeout(p.ctx, editorWait)
	defer cancel()
	// An error says that the editor does not have the terminal any more.
	_, _ = p.ask(wire.MethodRelease, editorParams{session, id}).wait(ctx)
}

// beginView records that a tool call shows a terminal, and returns true if it is the first one. A
// terminal that has been released gets no live view: nobody would give it back. viewMu is held.
func (p *Proxy) beginView(t *remote) bool {
	if t.decided != nil || t.text.final {
		return false
	}
	t.decided = make(chan struct{})
	t.live.begun, t.live.ended = make(chan struct{}), make(chan struct{})
	p.mu.Lock()
	defer p.mu.Unlock()
	t.wantsLive = p.editorTerminals && !t.released && t.name != ""
	return true
}

// present gives a terminal its first view.
func (p *Proxy) present(t *remote, session json.RawMessage) {
	if t.wantsLive && p.canShow() {
		p.tasks.Go(func() { p.showLive(t, session) })
		select {
		case <-p.liveBegun(t):
			return
		case <-t.decided:
		case <-time.After(textAfter):
		case <-p.ctx.Done():
			return
		}
	} else {
		close(t.decided)
	}
	p.followText(t)
}

// liveBegun returns what is closed when t has a live view.
func (p *Proxy) liveBegun(t *remote) <-chan struct{} {
	p.viewMu.Lock()
	defer p.viewMu.Unlock()
	return t.live.begun
}

// showLive has the editor make a terminal that shows t, unless there is nothing more to be seen by
// then, and follows it to its end. If the editor makes one too late, it is given back at once.
func (p *Proxy) showLive(t *remote, session json.RawMessage) {
	started := p.awaitStart()
	defer started()
	if p.over() || !p.canShow() || !p.worthShowing(t) || p.isUnlisted(t) {
		close(t.decided)
		return
	}
	argv := p.cfg.Attach(t.uri)
	q := p.ask(wire.MethodCreate, struct {
		SessionID json.RawMessage `json:"sessionId"`
		Command   string          `json:"command"`
		Args      []string        `json:"args"`
	}{session, argv[0], argv[1:]})
	silent := errors.New("it does not answer")
	waiting, cancel := context.WithTimeoutCause(p.ctx, p.editorWait, silent)
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
	shown := p.switchToLive(t, session, id)
	close(t.decided)
	if !shown {
		p.giveBack(session, id)
		return
	}
	p.followLive(t, started)
}

// awaitStart waits until the editor may start one more live view. started says that this one has
// been started; it may be called more than once.
func (p *Proxy) awaitStart() (started func()) {
	select {
	case p.starts <- struct{}{}:
	case <-p.ctx.Done():
		return func() {}
	}
	done := false
	return func() {
		if !done {
			done = true
			<-p.starts
		}
	}
}

// worthShowing reports whether a live view would show something new, and will be given back.
func (p *Proxy) worthShowing(t *remote) bool {
	p.viewMu.Lock()
	defer p.viewMu.Unlock()
	return p.worthShowingLocked(t)
}

// worthShowingLocked is worthShowing for a caller that holds viewMu.
func (p *Proxy) worthShowingLocked(t *remote) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !t.released && !t.text.final
}

// switchToLive replaces a terminal's text by the editor's terminal id; false: that is not worth it
// any more.
func (p *Proxy) switchToLive(t *remote, session json.RawMessage, id string) bool {
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
	p.toEditorLocked(messages...)
	return true
}

// followLive waits for the end of a live view, and calls started when it has surely been started.
// If the view has not shown everything, text takes its place.
func (p *Proxy) followLive(t *remote, started func()) {
	p.ended(t) // the host is asked now: later the terminal may have been released
	p.viewMu.Lock()
	id, session, ended := t.live.id, t.live.session, t.live.ended
	p.viewMu.Unlock()
	q := p.ask(wire.MethodWait, editorParams{session, id})
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
	if failed = failed && p.switchToText(t); !failed {
		p.settleLive(t)
	}
	close(ended)
	if failed {
		p.giveBack(session, id)
		p.followText(t)
	}
}

// cutShort reports whether a live view, whose exit status is result, has ended before its command
// or for another reason. A view that shows everything ends as its command does, with status 128+n
// after signal n.
func (p *Proxy) cutShort(t *remote, result json.RawMessage) bool {
	limit := time.NewTimer(exitWait)
	defer limit.Stop()
	select {
	case <-p.ended(t):
	case <-limit.C:
		return true
	}
	var view, command wire.ExitStatus
	if t.err != nil || json.Unmarshal(t.result, &command) != nil {
		// The terminal has been released, or the host is away; then the view's end means nothing.
		known := t.ctx.Err() == nil && p.awaitRelease(t)
		if !known || t.lastOutput == nil || t.lastOutput.ExitStatus == nil {
			return false
		}
		command = *t.lastOutput.ExitStatus
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

// awaitRelease waits until lastOutput is set; false: t has not been released.
func (p *Proxy) awaitRelease(t *remote) bool {
	p.mu.Lock()
	released := t.released
	p.mu.Unlock()
	if !released {
		return false
	}
	select {
	case <-t.lastKnown:
		return true
	case <-p.ctx.Done():
		return false
	}
}

// switchToText replaces the editor's terminal by text; false: it has been given back, and what it
// shows stays.
func (p *Proxy) switchToText(t *remote) bool {
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
	p.toEditorLocked(messages...)
	return true
}

// settleLive records that a live view has shown everything.
func (p *Proxy) settleLive(t *remote) {
	p.viewMu.Lock()
	defer p.viewMu.Unlock()
	t.live.settled = true
	_ = p.renew(t) // which stops following t's tool calls; the messages say nothing new
}

// giveBackWhenDrawn gives the editor's terminal back after t's release, once it has drawn the last
// output. What it shows stays.
func (p *Proxy) giveBackWhenDrawn(t *remote) {
	p.viewMu.Lock()
	decided, ended := t.decided, t.live.ended
	p.viewMu.Unlock()
	if decided == nil {
		return // t was never shown
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

// isLive reports whether t has a live view.
func (p *Proxy) isLive(t *remote) bool {
	p.viewMu.Lock()
	defer p.viewMu.Unlock()
	return t.live.id != ""
}
