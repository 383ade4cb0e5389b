package host

import (
	"slices"
	"strings"
)

// agentVariable has the path of the socket of a key agent (ssh-agent(1)).
const agentVariable = "SSH_AUTH_SOCK"

// KeyAgents leads programs to the key agents of people. The programs of a terminal have one socket,
// whoever holds it. A marker is that of the programs. The methods may be called with a Term's lock
// held, so they wait for nothing, and do not call the Host.
type KeyAgents interface {
	// Open makes a socket and returns its path; "": there is none.
	Open(marker string) (path string)
	// Lead has the socket lead to the agent of a principal, by its ID; "": to nobody's. Of a marker
	// without a socket it makes none before there is such an agent.
	Lead(marker, principal string)
	// Close removes the socket.
	Close(marker string)
}

// SetKeyAgents has a lead the programs of all terminals, also of those that an earlier host has
// left. It is called once, before anybody is let in.
func (h *Host) SetKeyAgents(a KeyAgents) {
	h.keyAgents.Store(&a)
	for _, t := range h.all() {
		t.term.Lock()
		if !t.life.exited {
			t.leadAgent()
		}
		t.term.Unlock()
	}
}

// leadAgent has the terminal's socket lead to the agent of whoever holds it by hand. While an agent
// of another kind holds it, nothing in it signs with a person's keys. The Term's lock is held,
// unless nobody else knows t.
func (t *Terminal) leadAgent() {
	who := ""
	if t.keyboard.holder.byHand() {
		who = t.keyboard.holder.principal
	}
	t.host.leadAgent(t.origin.marker, who)
}

func (h *Host) leadAgent(marker, principal string) {
	if a := h.keyAgents.Load(); a != nil && marker != "" {
		(*a).Lead(marker, principal)
	}
}

// withAgent adds the variable for the socket to those of a new terminal, also if its holder has no
// agent yet: somebody may come with one. A program on pipes, and one that runs as under sshd, has
// it only if its peer has an agent. What the creator names stays, and what the machine names,
// unless the creator has an agent.
func (t *Terminal) withAgent(env []string, o CreateOptions) []string {
	switch {
	case slices.ContainsFunc(o.Env, namesAgent):
		return env
	case !o.ForwardsAgent && (o.Piped || o.Exact || slices.ContainsFunc(env, namesAgent)):
		return env
	}
	env = t.host.openAgent(t.origin.marker, env)
	t.leadAgent()
	return env
}

func namesAgent(v string) bool { return strings.HasPrefix(v, agentVariable+"=") }

// openAgent makes the socket of a marker, and returns env with its path, if there may be one.
func (h *Host) openAgent(marker string, env []string) []string {
	a := h.keyAgents.Load()
	if a == nil {
		return env
	}
	path := (*a).Open(marker)
	if path == "" {
		return env
	}
	return append(slices.DeleteFunc(env, namesAgent), agentVariable+"="+path)
}

// closeAgent removes the socket of programs that have ended.
func (h *Host) closeAgent(marker string) {
	if a := h.keyAgents.Load(); a != nil {
		(*a).Close(marker)
	}
}

// AgentHolder returns the ID of the principal whose key agent the process pid may use: the one who
// holds, by hand, the terminal that the process belongs to, or who runs it as a command; "":
// nobody.
func (h *Host) AgentHolder(pid int) string {
	marker := h.pool.Find(pid)
	if marker == "" {
		return ""
	}
	c := h.creators.of(marker)
	if c.forwards {
		return c.principal.ID
	}
	if c.listed != nil {
		<-c.listed // its first process may ask while it is being started
	}
	for _, t := range h.all() {
		if t.origin.marker != marker {
			continue
		}
		t.term.Lock()
		defer t.term.Unlock()
		if kb := &t.keyboard; kb.holder.byHand() {
			return kb.holder.principal
		}
		return ""
	}
	return ""
}
