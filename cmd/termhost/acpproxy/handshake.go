package acpproxy

import (
	"encoding/json"
	"fmt"
)

// protocolVersion is the version of ACP that has client terminals.
const protocolVersion = 1

// The modes of a Proxy say what it does with messages.
//
// The editor offers the newest version that it speaks, and the agent answers with that or an older
// one (https://agentclientprotocol.com/protocol/initialization#version-negotiation). An initialize
// that offers a later version than 1 must therefore reach the agent as it is. If the agent then
// answers with version 1, it knows only what the editor has said. If that was that the editor has
// terminals, the agent will ask for terminals and gets the host's; otherwise it never will.
const (
	active      = int32(iota) // version 1 is spoken
	undecided                 // a later version is offered: nothing is changed before the answer
	transparent               // a later version is spoken: nothing is changed
)

// initialize notes whether the editor has terminals. It returns the editor's initialize, changed so
// that it announces terminals: those which the agent has through the host.
func (p *Proxy) initialize(m *message) []byte {
	if !m.params.isObject(m.line) {
		return m.line
	}
	offered := m.params.get("protocolVersion")
	caps := m.params.get("clientCapabilities")
	terminal := caps.get("terminal")
	own := string(terminal.of(m.line)) == "true"
	p.mu.Lock()
	p.initializing = string(m.id)
	p.editorTerminals = own
	p.mu.Unlock()
	if offered.exists() && isLater(offered.of(m.line)) {
		p.mode.Store(undecided)
		return m.line
	}
	p.mode.Store(active)
	var change edit
	switch {
	case own:
		return m.line
	case !caps.exists():
		change = insertMember(m.params, `"clientCapabilities":{"terminal":true}`)
	case !caps.isObject(m.line): // null
		change = edit{caps.span, []byte(`{"terminal":true}`)}
	case !terminal.exists():
		change = insertMember(caps, `"terminal":true`)
	default:
		change = edit{terminal.span, []byte("true")}
	}
	return apply(m.line, []edit{change})
}

// isLater reports whether a protocol version is a later one than has client terminals. Versions are
// numbers; what is none is a draft's, which nobody here understands.
func isLater(version []byte) bool {
	var n float64
	return json.Unmarshal(version, &n) != nil || n > protocolVersion
}

// maxSessions bounds how many sessions' directories are remembered, and how many requests that
// begin a session. An editor has a few.
const maxSessions = 1024

// sessionAsked notes the directory of a session, from the editor's session/new, session/load and
// the like.
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

// agentAnswered takes note of the agent's answers that matter to the proxy.
func (p *Proxy) agentAnswered(m *message) {
	p.mu.Lock()
	initialized := p.initializing != "" && p.initializing == string(m.id)
	cwd, session := p.starting[string(m.id)]
	delete(p.starting, string(m.id))
	if initialized {
		p.initializing = ""
	}
	p.mu.Unlock()
	if !m.result.exists() {
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

// initialized takes note of the agent's answer to initialize.
func (p *Proxy) initialized(m *message) {
	var r struct {
		ProtocolVersion json.RawMessage `json:"protocolVersion"`
		AgentInfo       struct {
			Name string `json:"name"`
		} `json:"agentInfo"`
	}
	err := json.Unmarshal(m.result.of(m.line), &r)
	const without = ": the agent's commands do not run in termhost"
	switch {
	case r.ProtocolVersion != nil && isLater(r.ProtocolVersion):
		p.mode.Store(transparent)
		const why = "editor and agent speak version %s of ACP, which has no client terminals"
		p.cfg.Notice(fmt.Sprintf(why+without, r.ProtocolVersion))
		return
	case err != nil:
		return
	case p.mode.Load() == undecided && !p.canShow():
		p.mode.Store(transparent)
		const why = "the editor offered a later version of ACP than 1, without client terminals"
		p.cfg.Notice(why + without)
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
