package acpproxy

import (
	"context"
	"errors"
	"strings"
	"time"

	"termhost/ahp"
	"termhost/ahp/acp/wire"
	"termhost/ahp/client"
)

const (
	// refreshInterval is how often a text view is renewed at most: often enough to look alive,
	// seldom enough for an editor that draws the whole text anew each time.
	refreshInterval = 200 * time.Millisecond
	// finalTextWait bounds how long the answer to the agent's wait for an exit is held back until
	// the text view shows the last output. That takes milliseconds, unless the editor does not
	// read.
	finalTextWait = time.Second
)

// The size that the host gives an agent's terminals, until a person changes it.
const (
	hostCols = 80
	hostRows = 24
)

// What stands below the text of a terminal if the proxy did not see its end.
const (
	noteLost     = "[the connection to the host was lost, and the command has ended with it]"
	noteRemoved  = "[the terminal was removed at the host]"
	noteUnlisted = "[the host does not list this terminal any more]"
)

// textView is the content of a terminal as text. It is guarded by Proxy.viewMu.
type textView struct {
	shown      string
	cols, rows int           // the terminal's size, as far as it is known
	final      bool          // the text does not change any more
	done       chan struct{} // closed when the final text has been written to the editor
}

// followText renews a terminal's text as its output comes, until the text is final or there is a
// live view.
func (p *Proxy) followText(t *remote) {
	live := p.liveBegun(t)
	m, err := p.host.Subscribe(t.ctx, t.uri)
	for p.mayRepeat(err) {
		m, err = p.host.Subscribe(t.ctx, t.uri)
	}
	switch {
	case p.ctx.Err() != nil:
		return
	case t.ctx.Err() != nil:
		p.showText(t, noteLost, true)
		return
	case err != nil:
		p.showRest(t)
		return
	}
	defer m.Close()
	// The URI may be another terminal's by now. If t is still listed after the subscription, it was
	// listed when that was made.
	claim := m.Terminal().Claim
	another := claim.Kind == ahp.ClaimSession && claim.Session != wire.SessionURI(t.session)
	if another || p.isUnlisted(t) {
		p.showRest(t)
		return
	}
	pace := time.NewTimer(0)
	defer pace.Stop()
	for {
		changed := m.Changed()
		if p.showMirror(t, m) {
			return
		}
		select {
		case <-changed:
		case <-t.ctx.Done():
		case <-live:
			return
		}
		select {
		case <-pace.C:
			pace.Reset(refreshInterval)
		case <-t.exited: // the agent's wait is held back until the last output is shown
		case <-t.ctx.Done():
		case <-live:
			return
		}
	}
}

// showMirror shows the content of a terminal's mirror. It returns true if that was the last time.
func (p *Proxy) showMirror(t *remote, m *client.Mirror) (last bool) {
	st := m.Terminal()
	switch {
	case p.ctx.Err() != nil:
		return true
	case st.Exited:
		p.showText(t, render(&st), true)
		return true
	case errors.Is(m.Err(), client.ErrGone) && t.ctx.Err() == nil:
		p.showText(t, joined(render(&st), noteRemoved), true)
		return true
	case m.Err() != nil, t.ctx.Err() != nil:
		p.showText(t, joined(render(&st), noteLost), true)
		return true
	}
	p.setSize(t, st.Cols, st.Rows)
	p.showText(t, render(&st), false)
	return false
}

// joined returns a text with a note below it.
func joined(text, note string) string {
	if text == "" {
		return note
	}
	return text + "\n" + note
}

// showText makes text the content of t's text view, wherever there is one. final: it does not
// change any more.
func (p *Proxy) showText(t *remote, text string, final bool) {
	p.editor.mu.Lock()
	defer p.editor.mu.Unlock()
	p.viewMu.Lock()
	if t.text.final || t.live.id != "" {
		p.viewMu.Unlock()
		return
	}
	unseen := t.unseen()
	changed := text != t.text.shown
	t.text.shown, t.text.final = text, final
	changed = changed || unseen != t.unseen()
	messages := p.renew(t)
	p.viewMu.Unlock()
	if changed {
		p.toEditorLocked(messages...)
	}
	if final {
		close(t.text.done)
	}
}

// awaitFinalText waits until the text view of a terminal that has exited shows the last output. It
// returns at once if there is no text view, or is going to be a live one.
func (p *Proxy) awaitFinalText(t *remote) {
	p.viewMu.Lock()
	shown := t.decided != nil && t.live.id == "" && !(t.wantsLive && p.canShow())
	live := t.live.begun
	p.viewMu.Unlock()
	if !shown {
		return
	}
	limit := time.NewTimer(finalTextWait)
	defer limit.Stop()
	select {
	case <-t.text.done:
	case <-live:
	case <-limit.C:
	case <-p.ctx.Done():
	}
}

// setSize notes a terminal's size.
func (p *Proxy) setSize(t *remote, cols, rows int) {
	p.viewMu.Lock()
	defer p.viewMu.Unlock()
	t.text.cols, t.text.rows = cols, rows
}

// viewMayChange reports whether t has a view that may still change.
func (p *Proxy) viewMayChange(t *remote) bool {
	p.viewMu.Lock()
	defer p.viewMu.Unlock()
	return t.decided != nil && t.changes()
}

// isUnlisted asks the host whether it has taken a terminal from its list. A released terminal it
// does not know any more, which counts as no.
func (p *Proxy) isUnlisted(t *remote) bool {
	out := p.output(t)
	return out != nil && out.Meta != nil && out.Meta.Termhost.Gone
}

// output returns the output that the agent would get, or nil.
func (p *Proxy) output(t *remote) *wire.OutputResult {
	ctx, cancel := context.WithTimeout(t.ctx, p.answerWait)
	defer cancel()
	var out wire.OutputResult
	if p.send(ctx, t, wire.MethodOutput, &out)() != nil {
		return nil
	}
	return &out
}

// showLastOutput shows the output that a terminal had when it was released, if that is all there
// will ever be. Otherwise followText sees the rest.
func (p *Proxy) showLastOutput(t *remote) {
	if out := t.lastOutput; out != nil && out.ExitStatus != nil && !out.Truncated {
		p.showText(t, p.renderOutput(t, out), true)
	}
}

// showRest shows what is known of a terminal that cannot be followed at the host.
func (p *Proxy) showRest(t *remote) {
	out := p.output(t)
	if out == nil && p.awaitRelease(t) {
		out = t.lastOutput
	}
	switch {
	case p.ctx.Err() != nil:
	case out != nil:
		p.showText(t, p.renderOutput(t, out), true)
	case t.ctx.Err() != nil:
		p.showText(t, noteLost, true)
	default:
		p.showText(t, noteUnlisted, true)
	}
}

// readFailure makes the message of a command that could not be started its text view: there is no
// terminal to follow. The host need not keep it. Nobody else knows t yet.
func (p *Proxy) readFailure(t *remote) {
	ctx, cancel := context.WithTimeout(p.ctx, p.answerWait)
	defer cancel()
	var out wire.OutputResult
	if p.host.Call(ctx, wire.MethodOutput, t.params(), &out) == nil && out.ExitStatus != nil {
		t.text.shown = strings.TrimRight(out.Output, "\r\n")
		t.failed = &out
		t.once.Do(func() {
			t.result = ahp.Encode(out.ExitStatus)
			close(t.exited)
		})
		// It fails if the connection is lost, with which the host forgets it, too.
		_ = p.host.Call(ctx, wire.MethodRelease, t.params(), nil)
	}
	t.text.final = true
	close(t.text.done)
}
