package acpproxy

import (
	"bytes"
	"encoding/json"
	"slices"

	"termhost/ahp"
)

// callKey names a tool call of a session. Both are JSON, as the agent has written it.
type callKey struct{ session, call string }

// toolCall is a tool call whose content has views that may still change. The proxy renews its
// content when they do.
type toolCall struct {
	key      callKey
	elements []element // of its content
}

// element is an element of a tool call's content: what the agent has sent, or the view of a
// terminal.
type element struct {
	raw      []byte  // as the agent has sent it
	terminal *remote // nil: the element is no terminal of the host's
	id       span    // the place of the terminal's id in raw
	meta     []byte  // the element's _meta; nil: there is none
}

// now returns the element as the editor gets it; nil: not yet. viewMu is held.
func (e *element) now() json.RawMessage {
	if e.terminal == nil {
		return e.raw
	}
	switch {
	case e.terminal.unseen():
		return nil
	case e.terminal.live.id != "":
		return apply(e.raw, []edit{{e.id, ahp.Encode(e.terminal.live.id)}})
	}
	return textContent(e.terminal.text.shown, e.meta)
}

// update passes on a message that may show terminals in a tool call, a session/update or a
// session/request_permission. It waits for nothing but the editor's reading: which view a terminal
// gets is settled later, by updates of the proxy's own.
func (p *Proxy) update(m *message) {
	call, key, ok := callOf(m)
	if !ok {
		p.toEditor(m.line)
		return
	}
	if m.method == methodPermission && m.isRequest() {
		p.permissionAsked(m, call, key)
	}
	content := call.get("content")
	places, ok := items(content.of(m.line))
	if !ok {
		p.toEditor(m.line)
		return
	}
	tc := &toolCall{key: key, elements: p.elements(content.of(m.line), places)}
	p.editor.mu.Lock()
	defer p.editor.mu.Unlock()
	p.viewMu.Lock()
	delete(p.calls, key) // this message replaces its content
	var first []*remote
	for i := range tc.elements {
		t := tc.elements[i].terminal
		if t == nil {
			continue
		}
		t.shownIn = key
		if p.beginView(t) {
			first = append(first, t)
		}
	}
	line := m.line
	if tc.elements != nil {
		line = apply(m.line, []edit{{content.span, tc.now()}})
	}
	p.follow(tc)
	p.viewMu.Unlock()
	p.toEditorLocked(line)
	for _, t := range first {
		p.tasks.Go(func() { p.present(t, json.RawMessage(key.session)) })
	}
}

// callOf returns the tool call that a message is about.
func callOf(m *message) (call value, key callKey, ok bool) {
	if m.method == methodPermission {
		call = m.params.get("toolCall")
	} else {
		call = m.params.get("update")
		switch textOf(call.get("sessionUpdate").of(m.line)) {
		case "tool_call", "tool_call_update":
		default:
			return call, key, false
		}
	}
	session, id := m.params.get("sessionId"), call.get("toolCallId")
	key = callKey{string(session.of(m.line)), string(id.of(m.line))}
	return call, key, session.exists() && id.exists()
}

// elements returns a tool call's content, whose elements stand at places of it; nil if none of them
// is a terminal of the host's. content is copied.
func (p *Proxy) elements(content []byte, places []span) []element {
	content = slices.Clone(content)
	list := make([]element, len(places))
	found := false
	for i, place := range places {
		e := &list[i]
		e.raw = place.of(content)
		members, err := locate(e.raw, 1)
		if err != nil || textOf(members.get("type").of(e.raw)) != "terminal" {
			continue
		}
		e.id = members.get("terminalId").span
		e.meta = members.get("_meta").of(e.raw)
		p.mu.Lock()
		e.terminal = p.terminals[textOf(e.id.of(e.raw))]
		p.mu.Unlock()
		found = found || e.terminal != nil
	}
	if !found {
		return nil
	}
	return list
}

// textContent returns an element that is text, with the _meta of the element in whose place it is.
func textContent(text string, meta json.RawMessage) json.RawMessage {
	type block struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	return ahp.Encode(struct {
		Type    string          `json:"type"`
		Content block           `json:"content"`
		Meta    json.RawMessage `json:"_meta,omitempty"`
	}{"content", block{"text", fenced(text)}, meta})
}

// now returns the content as the editor gets it. What the agent has sent is left as it is. viewMu
// is held.
func (tc *toolCall) now() json.RawMessage {
	var list [][]byte
	for i := range tc.elements {
		if e := tc.elements[i].now(); e != nil {
			list = append(list, e)
		}
	}
	return slices.Concat([]byte("["), bytes.Join(list, []byte(",")), []byte("]"))
}

// message returns the update that shows a tool call's content as it is now. viewMu is held.
func (tc *toolCall) message() []byte {
	type update struct {
		Kind       string          `json:"sessionUpdate"`
		ToolCallID json.RawMessage `json:"toolCallId"`
		Content    json.RawMessage `json:"content"`
	}
	type params struct {
		SessionID json.RawMessage `json:"sessionId"`
		Update    update          `json:"update"`
	}
	return append(ahp.Encode(struct {
		Version string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  params `json:"params"`
	}{"2.0", methodUpdate, params{json.RawMessage(tc.key.session),
		update{"tool_call_update", json.RawMessage(tc.key.call), tc.now()}}}), '\n')
}

// shows reports whether a terminal is in a tool call's content.
func (tc *toolCall) shows(t *remote) bool {
	return slices.ContainsFunc(tc.elements, func(e element) bool { return e.terminal == t })
}

// unseen reports whether nothing of t is shown yet: its output may come in a live view, and an
// empty text would flash up before that. viewMu is held.
func (t *remote) unseen() bool {
	waits := t.wantsLive && t.live.id == "" && !t.live.back
	return waits && t.text.shown == "" && !t.text.final
}

// changes reports whether t's view may still change. viewMu is held.
func (t *remote) changes() bool {
	if t.live.id != "" {
		return !t.live.settled
	}
	return !t.text.final
}

// changes reports whether any view in the tool call may still change. viewMu is held.
func (tc *toolCall) changes() bool {
	return slices.ContainsFunc(tc.elements, func(e element) bool {
		return e.terminal != nil && e.terminal.changes()
	})
}

// follow has a tool call's content renewed as long as it changes. viewMu is held.
func (p *Proxy) follow(tc *toolCall) {
	if tc.changes() {
		p.calls[tc.key] = tc
	}
}

// renew returns the messages that show a terminal's view as it is now, in every tool call that has
// it. Tool calls that do not change any more are not followed further. viewMu is held.
func (p *Proxy) renew(t *remote) (messages [][]byte) {
	for key, tc := range p.calls {
		if !tc.shows(t) {
			continue
		}
		messages = append(messages, tc.message())
		if !tc.changes() {
			delete(p.calls, key)
		}
	}
	return messages
}
