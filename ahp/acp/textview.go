package acp

import (
	"context"
	"slices"
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

// textView is a terminal as text, for an editor that has no terminals. It is
// guarded by Proxy.viewMu.
type textView struct {
	watched bool
	mirror  *client.Mirror // nil: not subscribed yet, or not any more
	shown   string
	final   bool // it changes no more
}

// follow keeps a tool call's text up to date as long as it changes. viewMu is
// held.
func (p *Proxy) follow(tc *toolCall) {
	changing := false
	for _, e := range tc.elements {
		t := e.terminal
		if t == nil || t.text.final {
			continue
		}
		changing = true
		if !t.text.watched {
			t.text.watched = true
			p.tasks.Go(func() { p.watch(t) })
		}
	}
	if changing {
		p.calls[tc.key] = tc
	}
}

// watch renews a terminal's text with its output, until it changes no more.
func (p *Proxy) watch(t *remote) {
	ctx, cancel := context.WithTimeout(p.ctx, answerWait)
	m, err := p.host.Subscribe(ctx, t.uri)
	cancel()
	if err == nil {
		defer m.Close()
		p.viewMu.Lock()
		t.text.mirror = m
		p.viewMu.Unlock()
	}
	pace := time.NewTimer(0)
	defer pace.Stop()
	for err == nil {
		changed := m.Changed()
		p.refresh(t)
		st := m.Terminal()
		if st.Exited || m.Err() != nil {
			break
		}
		select {
		case <-changed:
		case <-p.ctx.Done():
			return
		}
		select {
		case <-pace.C:
			pace.Reset(refreshInterval)
		case <-p.ctx.Done():
			return
		}
	}
	p.refresh(t)
	p.finish(t)
}

// refresh shows a terminal's present output where it is shown as text.
func (p *Proxy) refresh(t *remote) {
	p.viewMu.Lock()
	defer p.viewMu.Unlock()
	m := t.text.mirror
	if m == nil || t.text.final {
		return
	}
	st := m.Terminal()
	text := render(&st)
	if err := m.Err(); err != nil && !st.Exited {
		text += "\n[the connection to the host was lost]"
	}
	if text == t.text.shown {
		return
	}
	t.text.shown = text
	for _, tc := range p.calls {
		if slices.ContainsFunc(tc.elements, func(e element) bool { return e.terminal == t }) {
			p.toEditor(tc.message())
		}
	}
}

// finish says that a terminal's text changes no more.
func (p *Proxy) finish(t *remote) {
	p.viewMu.Lock()
	defer p.viewMu.Unlock()
	t.text.final, t.text.mirror = true, nil
	for key, tc := range p.calls {
		if !slices.ContainsFunc(tc.elements, func(e element) bool { return e.terminal != nil && !e.terminal.text.final }) {
			delete(p.calls, key)
		}
	}
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
}

// render returns what a terminal shows, and has shown, as plain text.
func render(st *ahp.TerminalState) string {
	screen := vt.New(max(st.Cols, 1), max(st.Rows, 1), vt.Options{ScrollbackLines: maxTextLines})
	for i := range st.Content {
		for _, chunk := range st.Content[i].Text.Chunks() {
			screen.Feed(chunk, nil)
		}
	}
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
