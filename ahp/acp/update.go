package acp

import (
	"encoding/json"
	"slices"
)

// callKey names a tool call of a session. Both are as the agent has written them.
type callKey struct{ session, call string }

// toolCall is one whose content shows terminals in a way that still changes, and
// that the proxy renews.
type toolCall struct {
	key      callKey
	elements []element // its content
}

// element is a part of a tool call's content: as the agent has sent it, or what
// shows a terminal of the host's.
type element struct {
	raw      []byte
	terminal *remote // nil: raw
	id       span    // of the terminal, within raw
	meta     []byte  // the part's _meta; nil: it has none
}

// now returns the part as the editor gets it. viewMu is held.
func (e *element) now() json.RawMessage {
	switch {
	case e.terminal == nil:
		return e.raw
	case e.terminal.live.id != "":
		return apply(e.raw, []edit{{e.id, encode(e.terminal.live.id)}})
	}
	return textContent(e.terminal.text.shown, e.meta)
}

// update passes a message on in which a tool call may show terminals:
// session/update, or session/request_permission. It waits for nobody but the
// editor's reading: how a terminal is shown is settled later, by an update of the
// proxy's own.
func (p *Proxy) update(m *message) {
	call, key, ok := callOf(m)
	if !ok {
		p.toEditor(m.line)
		return
	}
	content, has := call["content"]
	places, isList := array(m.line, content.start)
	if !has || !isList {
		p.toEditor(m.line)
		return
	}
	tc := &toolCall{key: key, elements: p.elements(m.line, places)}
	p.editor.mu.Lock()
	defer p.editor.mu.Unlock()
	p.viewMu.Lock()
	delete(p.calls, key) // its content is another now
	var edits []edit
	var first []*remote
	for i := range tc.elements {
		e := &tc.elements[i]
		if e.terminal == nil {
			continue
		}
		edits = append(edits, edit{places[i], e.now()})
		if p.begins(e.terminal) {
			first = append(first, e.terminal)
		}
	}
	p.follow(tc)
	p.viewMu.Unlock()
	p.toEditorLocked(apply(m.line, edits))
	for _, t := range first {
		p.tasks.Go(func() { p.present(t, json.RawMessage(key.session)) })
	}
}

// callOf returns the tool call that a message is about.
func callOf(m *message) (call map[string]span, key callKey, ok bool) {
	params, ok := object(m.line, m.params.start)
	if m.params.end == 0 || !ok {
		return nil, key, false
	}
	place := params["update"]
	if m.method == methodPermission {
		place = params["toolCall"]
	}
	if place.end == 0 {
		return nil, key, false
	}
	if call, ok = object(m.line, place.start); !ok {
		return nil, key, false
	}
	if m.method == methodUpdate {
		switch textOf(call["sessionUpdate"].of(m.line)) {
		case "tool_call", "tool_call_update":
		default:
			return nil, key, false
		}
	}
	key = callKey{string(params["sessionId"].of(m.line)), string(call["toolCallId"].of(m.line))}
	return call, key, key.session != "" && key.call != ""
}

// elements returns a tool call's content, if it has terminals of the host's.
func (p *Proxy) elements(line []byte, places []span) []element {
	list := make([]element, len(places))
	found := false
	for i, place := range places {
		e := &list[i]
		e.raw = place.of(line)
		members, ok := object(e.raw, 0)
		if !ok || textOf(members["type"].of(e.raw)) != "terminal" {
			continue
		}
		e.id = members["terminalId"]
		p.mu.Lock()
		e.terminal = p.terminals[textOf(e.id.of(e.raw))]
		p.mu.Unlock()
		found = found || e.terminal != nil
	}
	if !found || !json.Valid(line) { // of what is no JSON nothing can be made
		return nil
	}
	for i := range list { // the line is the reader's
		e := &list[i]
		e.raw = slices.Clone(e.raw)
		if members, ok := object(e.raw, 0); ok && e.terminal != nil {
			e.meta = members["_meta"].of(e.raw)
		}
	}
	return list
}

// textContent returns a part of a tool call's content that is text, with the
// _meta of the part that it stands for.
func textContent(text string, meta json.RawMessage) json.RawMessage {
	type block struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	return encode(struct {
		Type    string          `json:"type"`
		Content block           `json:"content"`
		Meta    json.RawMessage `json:"_meta,omitempty"`
	}{"content", block{"text", fenced(text)}, meta})
}

// message returns the update that shows a tool call as it is now. viewMu is held.
func (tc *toolCall) message() []byte {
	list := make([]json.RawMessage, len(tc.elements))
	for i := range tc.elements {
		list[i] = tc.elements[i].now()
	}
	type update struct {
		Kind       string            `json:"sessionUpdate"`
		ToolCallID json.RawMessage   `json:"toolCallId"`
		Content    []json.RawMessage `json:"content"`
	}
	type params struct {
		SessionID json.RawMessage `json:"sessionId"`
		Update    update          `json:"update"`
	}
	return append(encode(struct {
		Version string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  params `json:"params"`
	}{"2.0", methodUpdate, params{json.RawMessage(tc.key.session),
		update{"tool_call_update", json.RawMessage(tc.key.call), list}}}), '\n')
}

// shows reports whether a terminal is in a tool call's content.
func (tc *toolCall) shows(t *remote) bool {
	return slices.ContainsFunc(tc.elements, func(e element) bool { return e.terminal == t })
}

// changes reports whether what shows a terminal may still change. viewMu is held.
func (t *remote) changes() bool {
	if t.live.id != "" {
		return !t.live.settled
	}
	return !t.text.final
}

// changes reports whether any terminal's view in it may still change. viewMu is
// held.
func (tc *toolCall) changes() bool {
	return slices.ContainsFunc(tc.elements, func(e element) bool {
		return e.terminal != nil && e.terminal.changes()
	})
}

// follow keeps a tool call's content up to date as long as it changes. viewMu is
// held.
func (p *Proxy) follow(tc *toolCall) {
	if tc.changes() {
		p.calls[tc.key] = tc
	}
}

// renew returns the messages that show a terminal as it is now, wherever it is
// shown, and follows no more what is settled by that. viewMu is held.
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
