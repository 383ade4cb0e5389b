package acp

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"termhost/ahp"
	"termhost/ahp/client"
	"termhost/ptypool/vt"
)

const (
	// refreshInterval is how often the text of a terminal is renewed in the editor
	// at most: often enough to look alive, seldom enough for an editor that draws
	// the whole text anew each time.
	refreshInterval = 200 * time.Millisecond
	// maxText is how much of a terminal's text the editor gets, in bytes: it is
	// sent anew with every change.
	maxText = 32 << 10
	// maxTextLines is how many lines a terminal's text is made from.
	maxTextLines = 2000
)

// lastPaintWait is how long the agent's wait for an exit goes on for the text of
// the last output to be drawn: milliseconds, unless the editor does not read.
const lastPaintWait = time.Second

// What stands below a terminal's text that ends before the terminal's own end.
const (
	noteLost     = "[the connection to the host was lost, and the command has ended with it]"
	noteRemoved  = "[the terminal was removed at the host]"
	noteUnlisted = "[the host does not list this terminal any more]"
)

// textView is a terminal as text, for an editor that has no terminals. It is
// guarded by Proxy.viewMu.
type textView struct {
	shown string
	final bool          // it changes no more
	done  chan struct{} // closed when the final text has been written
}

// watch renews a terminal's text with its output, until it changes no more, or
// the editor has a terminal for it.
func (p *Proxy) watch(t *remote) {
	ctx, cancel := context.WithTimeout(t.link, answerWait)
	m, err := p.host.Subscribe(ctx, t.uri)
	cancel()
	switch {
	case p.ctx.Err() != nil:
		return
	case t.link.Err() != nil:
		p.paint(t, noteLost, true)
		return
	case err != nil:
		p.paint(t, noteUnlisted, true)
		return
	}
	defer m.Close()
	if st := m.Terminal(); st.Claim.Kind == ahp.ClaimSession && st.Claim.Session != sessionURI(t.session) {
		p.paint(t, noteUnlisted, true) // another's, with the same NAME
		return
	}
	pace := time.NewTimer(0)
	defer pace.Stop()
	for {
		changed := m.Changed()
		st := m.Terminal()
		switch {
		case p.ctx.Err() != nil:
			return
		case st.Exited:
			p.paint(t, render(&st), true)
			return
		case errors.Is(m.Err(), client.ErrGone) && t.link.Err() == nil:
			p.paint(t, joined(render(&st), noteRemoved), true)
			return
		case m.Err() != nil, t.link.Err() != nil:
			p.paint(t, joined(render(&st), noteLost), true)
			return
		}
		p.paint(t, render(&st), false)
		select {
		case <-changed:
		case <-t.link.Done():
		case <-t.live:
			return
		}
		select {
		case <-pace.C:
			pace.Reset(refreshInterval)
		case <-t.exited: // the agent waits for its last output to be shown
		case <-t.link.Done():
		case <-t.live:
			return
		}
	}
}

// joined returns a text with a note below it.
func joined(text, note string) string {
	if text == "" {
		return note
	}
	return text + "\n" + note
}

// paint shows a terminal's text wherever it is shown as such.
func (p *Proxy) paint(t *remote, text string, final bool) {
	p.editor.mu.Lock()
	defer p.editor.mu.Unlock()
	p.viewMu.Lock()
	if t.text.final || t.editorID != "" {
		p.viewMu.Unlock()
		return
	}
	var messages [][]byte
	news := text != t.text.shown
	t.text.shown, t.text.final = text, final
	if renewed := p.renew(t); news {
		messages = renewed
	}
	p.viewMu.Unlock()
	for _, m := range messages {
		p.toEditorLocked(m)
	}
	if final {
		close(t.text.done)
	}
}

// painted waits, within lastPaintWait, until a terminal that has exited shows its
// last output in the editor, if it is shown as text.
func (p *Proxy) painted(t *remote) {
	p.viewMu.Lock()
	shown := t.decided != nil && t.editorID == "" && !(t.asks && p.canShow())
	p.viewMu.Unlock()
	if !shown {
		return
	}
	limit := time.NewTimer(lastPaintWait)
	defer limit.Stop()
	select {
	case <-t.text.done:
	case <-t.live:
	case <-limit.C:
	case <-p.ctx.Done():
	}
}

// gone asks the host whether it does not list a terminal any more, and then shows
// the output that the agent can still have.
func (p *Proxy) gone(t *remote) bool {
	p.mu.Lock()
	released := t.released
	p.mu.Unlock()
	if released {
		return false // nobody knows it by its id; watch sees
	}
	ctx, cancel := context.WithTimeout(t.link, answerWait)
	defer cancel()
	var out outputResult
	if p.host.Call(ctx, methodOutput, terminalParams{t.session, t.id}, &out) != nil || out.Meta == nil || !out.Meta.Termhost.Gone {
		return false
	}
	p.paint(t, joined(rendered(out.Output), noteUnlisted), true)
	return true
}

// readFailure gets the message of a command that could not be started, for it has
// no terminal to read.
func (p *Proxy) readFailure(t *remote) {
	ctx, cancel := context.WithTimeout(p.ctx, answerWait)
	defer cancel()
	var out outputResult
	if p.host.Call(ctx, methodOutput, terminalParams{t.session, t.id}, &out) == nil {
		t.text.shown = strings.TrimRight(out.Output, "\r\n")
	}
	t.text.final = true // nobody else knows t yet
	close(t.text.done)
}

// render returns what a terminal shows, and has shown, as plain text.
func render(st *ahp.TerminalState) string {
	screen := vt.New(max(st.Cols, 1), max(st.Rows, 1), vt.Options{ScrollbackLines: maxTextLines})
	for i := range st.Content {
		for _, chunk := range st.Content[i].Text.Chunks() {
			screen.Feed(chunk, nil)
		}
	}
	return plain(screen)
}

// rendered is render for output of which nothing else is known.
func rendered(output string) string {
	const cols, rows = 80, 24 // what the host gives an agent's terminals
	screen := vt.New(cols, rows, vt.Options{ScrollbackLines: maxTextLines})
	screen.Feed([]byte(output), nil)
	return plain(screen)
}

func plain(screen *vt.Terminal) string {
	text := strings.TrimRight(string(screen.AppendHistoryText(nil)), " \n")
	if len(text) > maxText {
		text = text[len(text)-maxText:]
		if i := strings.IndexByte(text, '\n'); i >= 0 {
			text = text[i+1:]
		}
		text = "[...]\n" + text
	}
	if !utf8.ValidString(text) {
		text = string([]rune(text))
	}
	return text
}

// fenced returns text as a Markdown code block (CommonMark section 4.5), which is
// what editors take text for.
func fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + text + "\n" + fence
}
