package acp

import (
	"encoding/json"
	"fmt"
)

// protocolVersion is the version of ACP that has client terminals.
const protocolVersion = 1

// What a Proxy does with messages. The editor offers the newest version that it
// speaks, and the agent answers with that or an older one
// (https://agentclientprotocol.com/protocol/initialization#version-negotiation),
// so that an initialize of a later version than 1 must reach the agent as it is.
// If the agent then answers with 1, it knows only what the editor has said: with
// terminals of the editor's announced it asks for terminals, and gets the host's;
// without, it never will.
const (
	active      = int32(iota) // version 1
	undecided                 // a later version is offered: nothing is changed, until the agent answers
	transparent               // a later version is spoken: nothing is changed
)

// initialize returns the editor's initialize, with the client terminals that the
// agent has through the host, and notes whether the editor has its own.
func (p *Proxy) initialize(m *message) []byte {
	params, ok := object(m.line, m.params.start)
	if m.params.end == 0 || !ok {
		return m.line
	}
	var offered float64
	_ = json.Unmarshal(params["protocolVersion"].of(m.line), &offered) // none is the first
	caps, has := params["clientCapabilities"]
	members, isObject := object(m.line, caps.start)
	isObject = has && isObject
	own := isObject && string(members["terminal"].of(m.line)) == "true"
	p.mu.Lock()
	p.initializing = string(m.id)
	p.editorTerminals = own
	p.mu.Unlock()
	if offered > protocolVersion {
		p.mode.Store(undecided)
		return m.line
	}
	p.mode.Store(active)
	terminal, named := members["terminal"]
	switch {
	case own:
		return m.line
	case !has:
		return apply(m.line, []edit{insertMember(m.line, m.params, `"clientCapabilities":{"terminal":true}`, len(params) == 0)})
	case !isObject: // null
		return apply(m.line, []edit{{caps, []byte(`{"terminal":true}`)}})
	case !named:
		return apply(m.line, []edit{insertMember(m.line, caps, `"terminal":true`, len(members) == 0)})
	}
	return apply(m.line, []edit{{terminal, []byte("true")}})
}

// maxSessions bounds the sessions whose working directory is remembered, and the
// requests that begin one: an editor has a few.
const maxSessions = 1024

// sessionAsked notes where a session works, from the editor's session/new,
// session/load and the like.
func (p *Proxy) sessionAsked(m *message) {
	var q struct {
		SessionID string `json:"sessionId"`
		Cwd       string `json:"cwd"`
	}
	if json.Unmarshal(m.params.of(m.line), &q) != nil || q.Cwd == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if q.SessionID != "" && len(p.sessions) < maxSessions {
		p.sessions[q.SessionID] = q.Cwd
	}
	if len(p.starting) < maxSessions {
		p.starting[string(m.id)] = q.Cwd
	}
}

// agentAnswered looks at the answers that the proxy has to know of.
func (p *Proxy) agentAnswered(m *message) {
	p.mu.Lock()
	initialized := p.initializing != "" && p.initializing == string(m.id)
	cwd, session := p.starting[string(m.id)]
	delete(p.starting, string(m.id))
	if initialized {
		p.initializing = ""
	}
	p.mu.Unlock()
	if m.result.end == 0 {
		return
	}
	switch {
	case initialized:
		p.initialized(m)
	case session:
		var r struct {
			SessionID string `json:"sessionId"`
		}
		if json.Unmarshal(m.result.of(m.line), &r) == nil && r.SessionID != "" {
			p.mu.Lock()
			if len(p.sessions) < maxSessions {
				p.sessions[r.SessionID] = cwd
			}
			p.mu.Unlock()
		}
	}
}

// initialized takes what the agent says of itself.
func (p *Proxy) initialized(m *message) {
	var r struct {
		ProtocolVersion int `json:"protocolVersion"`
		AgentInfo       struct {
			Name string `json:"name"`
		} `json:"agentInfo"`
	}
	if json.Unmarshal(m.result.of(m.line), &r) != nil {
		return
	}
	const without = ": the agent's commands do not run in termhost"
	switch {
	case r.ProtocolVersion > protocolVersion:
		p.mode.Store(transparent)
		p.cfg.Note(fmt.Sprintf("editor and agent speak version %d of ACP, which has no client terminals"+without, r.ProtocolVersion))
		return
	case p.mode.Load() == undecided && !p.canShow():
		p.mode.Store(transparent)
		p.cfg.Note("the editor offered a later version of ACP than 1, without client terminals" + without)
		return
	}
	p.mode.Store(active)
	if r.AgentInfo.Name != "" {
		p.mu.Lock()
		p.agentName = r.AgentInfo.Name
		p.mu.Unlock()
	}
}

// directory returns where a session's commands start.
func (p *Proxy) directory(session string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if dir := p.sessions[session]; dir != "" {
		return dir
	}
	return p.cfg.Dir
}
