package verbs

import (
	"time"

	"termhost/ahp/host"
	"termhost/ptypool"
)

// attachOptions says how the peer looks at a terminal.
func (v *invocation) attachOptions() host.AttachOptions {
	size := v.Window()
	return host.AttachOptions{Cols: size.Cols, Rows: size.Rows}
}

// show shows a terminal until its program exits, the viewer detaches or the peer is gone, and
// returns the exit status. If the viewer has gone to others, it is that of the one shown last.
func (v *invocation) show(a *host.Attach, first []byte, prepare func(*inputLoop)) int {
	w := &viewer{showing: showing{a: a, t: a.Terminal()}, v: v, out: v.Stdout(),
		window: v.Window(), interactive: v.onTerminal(), readOnly: a.ReadOnly(),
		events: make(chan event, eventBacklog), stale: make(chan struct{}, 1)}
	defer func() { w.a.Close() }()
	var plain *fromCRLF
	if !w.interactive {
		plain = &fromCRLF{w: w.out}
		w.out = plain
	}
	if v.mayAsk() {
		w.answers = newAnswers(time.Now(), a.Holds(), true)
	}
	l := newInputLoop(w, v.Stdin())
	w.typed = l
	w.att.known = time.Now()
	w.notifier.Store(int32(v.ownNotifier()))
	if prepare != nil {
		prepare(l)
	}
	w.enter()
	v.Go("reading what is typed", l.run)
	end := w.watch(first)
	if plain != nil {
		_ = plain.flush()
	}
	if end == exited {
		w.awaitAnswers()
	}
	w.finish(end)
	switch end {
	case detached:
		return StatusOK
	case kicked:
		return StatusFailed
	case cutOff:
		return StatusLost
	}
	st, _ := w.t.Exit()
	return statusOf(st)
}

// statusOf is a terminal's status as an exit status of SSH.
func statusOf(st ptypool.ExitStatus) int { return shownStatus(st.Code) }

// shownStatus brings a code into what SSH's clients show. The status has 32 bits, of which they
// take eight: what an owner on another system calls 256 must not come out as success.
func shownStatus(code int) int {
	const most = 255
	if code < 0 || code > most {
		return StatusLost
	}
	return code
}
