package acp

import (
	"encoding/json"
)

// callKey names a tool call of a session. Both are as the agent has written them.
type callKey struct{ session, call string }

// toolCall is one whose content shows terminals as text, which the proxy renews.
type toolCall struct {
	key      callKey
	elements []element // its content
}

// element is a part of a tool call's content: as the agent has sent it, or the
// text of a terminal.
type element struct {
	raw      []byte
	terminal *remote // nil: raw
}

// embedding is a terminal of the host's in a tool call of a message.
type embedding struct {
	terminal *remote
	element  span
	id       span // of the terminal, within the element
}

// update passes a message on in which a tool call may show terminals:
// session/update, or session/request_permission.
func (p *Proxy) update(m *message) {
	call, key, ok := callOf(m)
	if !ok {
		p.toEditor(m.line)
		return
	}
	content, has := call["content"]
	elements, isList := array(m.line, content.start)
	if !has || !isList {
		p.toEditor(m.line)
		return
	}
	found := p.embedded(m.line, elements)
	for _, e := range found {
		p.show(e.terminal, key.session)
	}
	p.viewMu.Lock()
	defer p.viewMu.Unlock()
	delete(p.calls, key) // its content is another now
	if len(found) == 0 {
		p.toEditor(m.line)
		return
	}
	tc := &toolCall{key: key}
	var edits []edit
	for _, place := range elements {
		part := element{raw: append([]byte(nil), place.of(m.line)...)}
		if len(found) > 0 && found[0].element == place {
			e := found[0]
			found = found[1:]
			if id := e.terminal.shown.editorID(); id != "" {
				ed := edit{e.id, encode(id)}
				edits = append(edits, ed)
				inner := edit{span{e.id.start - place.start, e.id.end - place.start}, ed.text}
				part.raw = apply(part.raw, []edit{inner})
			} else {
				part.terminal = e.terminal
				edits = append(edits, edit{place, textContent(e.terminal.text.shown)})
			}
		}
		tc.elements = append(tc.elements, part)
	}
	p.toEditor(apply(m.line, edits))
	p.follow(tc)
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
	return call, key, true
}

// embedded returns the terminals of the host's among a tool call's content.
func (p *Proxy) embedded(line []byte, elements []span) (found []embedding) {
	for _, place := range elements {
		members, ok := object(line, place.start)
		if !ok || textOf(members["type"].of(line)) != "terminal" {
			continue
		}
		id := members["terminalId"]
		p.mu.Lock()
		t := p.terminals[textOf(id.of(line))]
		p.mu.Unlock()
		if t != nil {
			found = append(found, embedding{t, place, id})
		}
	}
	return found
}

// textContent returns a part of a tool call's content that is text.
func textContent(text string) json.RawMessage {
	type block struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	return encode(struct {
		Type    string `json:"type"`
		Content block  `json:"content"`
	}{"content", block{"text", fenced(text)}})
}

// message returns the update that shows a tool call as it is now.
func (tc *toolCall) message() []byte {
	list := make([]json.RawMessage, len(tc.elements))
	for i, e := range tc.elements {
		if list[i] = e.raw; e.terminal != nil {
			list[i] = textContent(e.terminal.text.shown)
		}
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
