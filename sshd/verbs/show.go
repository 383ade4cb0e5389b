package verbs

import (
	"strings"

	"termhost/ahp/host"
	"termhost/ptypool"
	"termhost/sshd/viewer"
)

// session returns the viewer's view of the peer.
func (v *invocation) session() *viewer.Session {
	return &viewer.Session{IO: v.IO, Conn: v.Conn, Prefix: v.prefix(), Quiet: v.Quiet,
		Buffers: &v.buffers, CreateOptions: v.createOptions, ComeBack: v.comeBack,
		Called: v.shown,
		Remove: func(name string) string { return v.command("rm", name) },
		Ended:  v.ended, Carries: v.Carries, Taken: v.Taken, Shows: v.Shows, Others: v.otherRows(),
		WantElsewhere: v.WantElsewhere, Status: v.statusLine}
}

// attachOptions returns how the peer attaches to a terminal.
func (v *invocation) attachOptions() host.AttachOptions {
	o := host.AttachOptions{Plain: v.plainTerminal(), Keys: viewer.Keys(v, !v.verb.unasked())}
	v.fit(&o)
	if term, ok := v.Terminal(); ok && v.Carries != nil && v.Draws() {
		addr, _, _ := strings.Cut(v.Endpoints, " ")
		o.Later, o.From = true, addr+" "+term
	}
	return o
}

// unasked reports whether the peer's terminal is asked nothing: the verb's command may end at once.
func (v *verb) unasked() bool { return v.name == "run" }

// plainTerminal reports whether the peer has a terminal on which nothing is drawn.
func (v *invocation) plainTerminal() bool { return v.onTerminal() && !v.Draws() }

// show shows a terminal until its program exits, the viewer detaches or the peer is gone, and
// returns the exit status. If the viewer has switched terminals, it is that of the last one.
func (v *invocation) show(a *host.Attach, first []byte, o viewer.Options) int {
	o.Unasked = v.verb.unasked()
	o.First, o.Unheeded = v.isFirstLogin(), v.notHeeded
	if t := v.newTour(); t != nil {
		return v.touredStatus(t.run(&ready{to: stop{own: a.Terminal()}, a: a, first: first, o: o}))
	}
	v.uses.note(v.principal().ID, stop{})
	return endedStatus(viewer.Attach(v.ctx, v.session(), a, first, o))
}

// showsTerminal tells the peer which terminal of another host it is shown: see [viewer.Session].
func (v *invocation) showsTerminal(name string, readOnly bool) {
	if v.Shows != nil {
		v.Shows(name, readOnly)
	}
}

// endedStatus is the exit status of a viewer.
func endedStatus(end viewer.Ending, code int) int {
	switch end {
	case viewer.Detached:
		return StatusOK
	case viewer.Kicked:
		return StatusFailed
	case viewer.Lost:
		return StatusLost
	}
	return shownStatus(code)
}

// statusOf is a terminal's status as an exit status of SSH.
func statusOf(st ptypool.ExitStatus) int { return shownStatus(st.Code) }

// shownStatus converts a code to what SSH's clients show. SSH's status has 32 bits, of which they
// take eight: what an owner on another system calls 256 must not look like success.
func shownStatus(code int) int {
	const most = 255
	if code < 0 || code > most {
		return StatusLost
	}
	return code
}
