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
// rsync and git, and nobody can watch it. On a terminal others can.
func (v *invocation) ordinary(o host.CreateOptions) int {
	if v.onTerminal() {
		return v.exact(o)
	}
	return v.plain(authz.Create, o)
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
	if why := v.ended(); why != nil {
		v.lastLine("[%s; the program ends with its connection]", whyLost(why))
	}
	return StatusLost
}
