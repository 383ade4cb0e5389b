package verbs

import (
	"context"

	"termhost/ahp/host"
	"termhost/authz"
	"termhost/ptypool"
)

// Files serves SFTP on the peer's streams. For ctx and the result see Exec.
func (r *Runner) Files(ctx context.Context, c Caller) int {
	v := r.invoke(ctx, c)
	return v.plain(authz.Files, host.CreateOptions{Argv: r.FileServer})
}

// ordinary runs a command as sshd would: with the shell's -c, on a terminal if the peer has one,
// else on pipes. On pipes it is no terminal of the host's: its output is for programs, such as
// rsync and git, and nobody can watch it, unless it waits for a person's yes: then it is one, as
// with `run`, so that the person sees what they agree to. On a terminal others can.
func (v *invocation) ordinary(o host.CreateOptions) int {
	switch {
	case v.onTerminal():
		return v.exact(o)
	case v.Conn.HoldsStart(o):
		return v.held(o)
	}
	return v.plain(authz.Create, o)
}

// held is plain for a program that waits for a person's yes.
func (v *invocation) held(o host.CreateOptions) int {
	o.Transient, o.Piped = true, true
	made, err := v.Conn.Create(o)
	if err != nil {
		return v.notStarted(err)
	}
	defer made.Streams.Close()
	if !v.join(made.Streams) {
		return v.endsWithPeer()
	}
	status := v.streamed(made.Terminal)
	v.died, _ = made.Terminal.Exit()
	return status
}

// ordinaryEnd returns the status of a command that has run as under sshd, and notes how it ended.
func (v *invocation) ordinaryEnd(st ptypool.ExitStatus) int {
	v.died = st
	return statusOf(st)
}

// plain runs a program on pipes, without a terminal, and joins them with those of the peer. When
// the peer is lost before the program's end, the program is hung up.
func (v *invocation) plain(needs authz.Verb, o host.CreateOptions) int {
	s, err := v.Conn.StartProcess(needs, o)
	if err != nil {
		return v.notStarted(err)
	}
	defer s.Close()
	if v.join(s) {
		return v.ordinaryEnd(s.Exit())
	}
	return v.endsWithPeer()
}

// endsWithPeer tells a peer whose connection the host ends why, and what becomes of its program.
func (v *invocation) endsWithPeer() int {
	if why := v.ended(); why != nil {
		v.lastLine("[%s; the program ends with its connection]", whyLost(why))
	}
	return StatusLost
}
