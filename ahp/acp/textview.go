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

// The size that the host gives an agent's terminals, unless a person changes it.
const (
	hostCols = 80
	hostRows = 24
)

// cutMark stands above text whose beginning is missing.
const cutMark = "[...]\n"

// What stands below a terminal's text that ends before the terminal's own end.
const (
	noteLost     = "[the connection to the host was lost, and the command has ended with it]"
	noteRemoved  = "[the terminal was removed at the host]"
	noteUnlisted = "[the host does not list this terminal any more]"
)

// textView is a terminal as text, for an editor that has no terminals. It is
// guarded by Proxy.viewMu.
type textView struct {
	shown      string
	cols, rows int           // the terminal's size, as far as it is known
	final      bool          // it changes no more
	done       chan struct{} // closed when the final text has been written
}

// watch renews a terminal's text with its output, until it changes no more, or
// the editor has a terminal for it.
func (p *Proxy) watch(t *remote) {
	live := t.begunLive(p)
	ctx, cancel := context.WithTimeout(t.link, p.answerWait)
	m, err := p.host.Subscribe(ctx, t.uri)
	cancel()
	switch {
	case p.ctx.Err() != nil:
		return
	case t.link.Err() != nil:
		p.paint(t, noteLost, true)
		return
	case err != nil:
		p.paintRest(t)
		return
	}
	defer m.Close()
	// What is listed now was listed when it was subscribed to, under its URI.
	if st := m.Terminal(); st.Claim.Kind == ahp.ClaimSession && st.Claim.Session != sessionURI(t.session) || p.unlisted(t) {
		p.paintRest(t)
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
		p.sized(t, st.Cols, st.Rows)
		p.paint(t, render(&st), false)
		select {
		case <-changed:
		case <-t.link.Done():
		case <-live:
			return
		}
		select {
		case <-pace.C:
			pace.Reset(refreshInterval)
		case <-t.exited: // the agent waits for its last output to be shown
		case <-t.link.Done():
		case <-live:
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
	if t.text.final || t.live.id != "" {
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
	shown := t.decided != nil && t.live.id == "" && !(t.asks && p.canShow())
	live := t.live.begun
	p.viewMu.Unlock()
	if !shown {
		return
	}
	limit := time.NewTimer(lastPaintWait)
	defer limit.Stop()
	select {
	case <-t.text.done:
	case <-live:
	case <-limit.C:
	case <-p.ctx.Done():
	}
}

// sized notes a terminal's size.
func (p *Proxy) sized(t *remote, cols, rows int) {
	p.viewMu.Lock()
	defer p.viewMu.Unlock()
	t.text.cols, t.text.rows = cols, rows
}

// unsettled reports whether a terminal is shown in a way that may still change.
func (p *Proxy) unsettled(t *remote) bool {
	p.viewMu.Lock()
	defer p.viewMu.Unlock()
	return t.decided != nil && t.changes()
}

// unlisted asks the host whether it does not list a terminal any more. Of one that
// is released it does not know.
func (p *Proxy) unlisted(t *remote) bool {
	out := p.output(t)
	return out != nil && out.Meta != nil && out.Meta.Termhost.Gone
}

// output returns the output that the agent can have, or nil.
func (p *Proxy) output(t *remote) *outputResult {
	ctx, cancel := context.WithTimeout(t.link, p.answerWait)
	defer cancel()
	var out outputResult
	if p.host.Call(ctx, methodOutput, terminalParams{t.session, t.id}, &out) != nil {
		return nil
	}
	return &out
}

// settle shows the last output of a released terminal that has ended, if all of
// it is known. What is not watch still sees.
func (p *Proxy) settle(t *remote) {
	if t.last != nil && t.last.ExitStatus != nil && !t.last.Truncated {
		p.paint(t, p.rendered(t, t.last), true)
	}
}

// paintRest shows what there was of a terminal that the host does not list any
// more.
func (p *Proxy) paintRest(t *remote) {
	out := p.output(t)
	if out == nil && p.parted(t) {
		out = t.last
	}
	switch {
	case p.ctx.Err() != nil:
	case out != nil:
		p.paint(t, p.rendered(t, out), true)
	case t.link.Err() != nil:
		p.paint(t, noteLost, true)
	default:
		p.paint(t, noteUnlisted, true)
	}
}

// readFailure gets the message of a command that could not be started, for it has
// no terminal to read.
func (p *Proxy) readFailure(t *remote) {
	ctx, cancel := context.WithTimeout(p.ctx, p.answerWait)
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
	return plain(screen, false)
}

// rendered is render for the output that the agent can have.
func (p *Proxy) rendered(t *remote, out *outputResult) string {
	p.viewMu.Lock()
	cols, rows := t.text.cols, t.text.rows
	p.viewMu.Unlock()
	screen := vt.New(max(cols, 1), max(rows, 1), vt.Options{ScrollbackLines: maxTextLines})
	screen.Feed([]byte(out.Output), nil)
	return plain(screen, out.Truncated)
}

// plain returns a screen and what has left it as text. cut: that has a beginning
// which the screen was not fed.
func plain(screen *vt.Terminal, cut bool) string {
	text := strings.TrimRight(string(screen.AppendHistoryText(nil)), " \n")
	if n := screen.HistoryLines(); n >= maxTextLines && screen.Scrolled() > uint64(n) {
		cut = true
	}
	if len(text) > maxText {
		text = text[len(text)-maxText:]
		if i := strings.IndexByte(text, '\n'); i >= 0 {
			text = text[i+1:]
		}
		cut = true
	}
	if cut {
		text = cutMark + text
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
