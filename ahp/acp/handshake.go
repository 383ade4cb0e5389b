package acp

import (
	"encoding/json"
	"fmt"
)

// protocolVersion is the version of ACP that has client terminals.
const protocolVersion = 1

// initialize returns the editor's initialize with the client terminals that the
// agent has through the host, and notes whether the editor has its own.
func (p *Proxy) initialize(m *message) []byte {
	params, ok := object(m.line, m.params.start)
	if m.params.end == 0 || !ok {
		return m.line
	}
	p.mu.Lock()
	p.initializing = string(m.id)
	p.editorTerminals = false
	p.mu.Unlock()
	caps, has := params["clientCapabilities"]
	members, ok := object(m.line, caps.start)
	if !has || !ok {
		const member = `"clientCapabilities":{"terminal":true}`
		if has { // null
			return apply(m.line, []edit{{caps, []byte(`{"terminal":true}`)}})
		}
		return apply(m.line, []edit{insertMember(m.line, m.params, member, len(params) == 0)})
	}
	terminal, has := members["terminal"]
	if !has {
		return apply(m.line, []edit{insertMember(m.line, caps, `"terminal":true`, len(members) == 0)})
	}
	if string(terminal.of(m.line)) == "true" {
		p.mu.Lock()
		p.editorTerminals = true
		p.mu.Unlock()
		return m.line
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
	if r.ProtocolVersion > protocolVersion && !p.transparent.Swap(true) {
		p.cfg.Note(fmt.Sprintf("editor and agent speak version %d of ACP, which has no client terminals: the agent's commands do not run in termhost",
			r.ProtocolVersion))
	}
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
