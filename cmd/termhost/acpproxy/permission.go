package acpproxy

import (
	"cmp"
	"context"
	"slices"

	"termhost/ahp"
	"termhost/ahp/acp/wire"
)

const (
	// maxPermissions bounds how many permissions the host is told of at a time. An agent asks for a
	// few, one after the other.
	maxPermissions = 64
	// maxPermissionTitle, in bytes, bounds what the host is told that a permission is for.
	maxPermissionTitle = 1 << 10
)

// permissionAsked tells the host, while the editor asks its user for a permission, that the agent
// waits for it, if the tool call shows terminals of the host: people may be there, and not at the
// editor. The editor's answer goes to the agent as ever. call and key are those of m.
func (p *Proxy) permissionAsked(m *message, call value, key callKey) {
	shown := p.terminalsOf(m, call, key)
	id := string(m.id)
	p.mu.Lock()
	defer p.mu.Unlock()
	shown = slices.DeleteFunc(shown, func(t *remote) bool { return t.released || t.uri == "" })
	if len(shown) == 0 || p.permissions[id] != nil || len(p.permissions) >= maxPermissions {
		return
	}
	decided := make(chan struct{})
	p.permissions[id] = decided
	title := textOf(call.get("title").of(m.line))
	title = cmp.Or(title[:min(len(title), maxPermissionTitle)], "a permission")
	p.tasks.Go(func() {
		p.tellPermission(shown, wire.PermissionParams{Request: id, Title: title})
		select {
		case <-decided:
			p.tellPermission(shown, wire.PermissionParams{Request: id, Over: true})
		case <-p.ctx.Done(): // it ends with the connection to the host
		}
	})
}

// terminalsOf returns the terminals that a permission's tool call shows: in the content of m, or
// where m has none, in what the call has shown last.
func (p *Proxy) terminalsOf(m *message, call value, key callKey) (shown []*remote) {
	content := call.get("content").of(m.line)
	if places, ok := items(content); ok {
		for _, e := range p.elements(content, places) {
			if e.terminal != nil {
				shown = append(shown, e.terminal)
			}
		}
		return shown
	}
	p.viewMu.Lock()
	defer p.viewMu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.terminals {
		if t.shownIn == key {
			shown = append(shown, t)
		}
	}
	return shown
}

// tellPermission tells the host about terminals. A host that is away, or too old, is not told.
func (p *Proxy) tellPermission(terminals []*remote, q wire.PermissionParams) {
	for _, t := range terminals {
		ctx, cancel := context.WithTimeout(p.ctx, p.answerWait)
		q.TerminalParams = t.params()
		_ = p.host.Call(ctx, ahp.MethodACPPermission, q, nil)
		cancel()
	}
}

// permissionDecided ends what the host is told, if m is the editor's answer to a permission.
func (p *Proxy) permissionDecided(m *message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if decided := p.permissions[string(m.id)]; decided != nil {
		delete(p.permissions, string(m.id))
		close(decided)
	}
}
