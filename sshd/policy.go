package sshd

// Policy is what of an ordinary SSH server there is besides terminals. What a peer may use of that
// is for package authz to say. The zero Policy has nothing but the forward to ahp:80.
type Policy struct {
	// Forwarding is where forwards may lead and listen.
	Forwarding Forwarding
	// AgentForwarding lets programs in new terminals use the key agent of the SSH client.
	AgentForwarding bool
	// SFTP is the subsystem for files.
	SFTP bool
	// Shell runs a command that is no verb as sshd would.
	Shell bool
	// LoginLast: a login without a command shows the terminal that the person has used last.
	LoginLast bool
	// Quiet: viewers are not told that other terminals want them.
	Quiet bool
	// Status: viewers have a status line, unless their person has chosen otherwise.
	Status bool
}

// Forwarding is where the forwards of `ssh -L`, -D and -R may lead and listen.
type Forwarding int

// The values of Forwarding.
const (
	// ForwardNowhere: there are none.
	ForwardNowhere Forwarding = iota
	// ForwardLoopback: this machine's loopback addresses, and unix sockets.
	ForwardLoopback
	// ForwardAnywhere: every address.
	ForwardAnywhere
)

// SetPolicy replaces the policy. It counts for what is asked for from now on: open forwards and
// transfers stay.
func (s *Server) SetPolicy(p Policy) {
	s.policy.Store(&p)
	s.agents.fit()
}
