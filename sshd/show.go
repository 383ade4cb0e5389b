package sshd

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"termhost/ahp/host"
	"termhost/ptypool"
)

// shell is what `ssh HOST` without a command runs: a new terminal with the
// user's shell. Without a pty the shell is a stream.
func (s *sshSession) shell() int {
	if s.c.principal().Command != "" {
		return s.forced("")
	}
	v := s.invoke()
	away := v.detachedOnes()
	o := s.createOptions()
	o.Transient = true
	return v.create(o, func(t *typist) {
		t.shell = true
		if away != "" {
			t.w.overlay = notice("%s", away)
			t.w.overlay.until = time.Now().Add(2 * noticeTime) // read between other things
		}
	})
}

// forced runs the only command that the key may run. What the client asked for
// is in SSH_ORIGINAL_COMMAND, as sshd has it.
func (s *sshSession) forced(original string) int {
	v := s.invoke()
	o := s.createOptions()
	o.Line = s.c.principal().Command
	o.Forced = true
	o.Transient = true
	if original != "" {
		o.Env = append(o.Env, "SSH_ORIGINAL_COMMAND="+original)
	}
	return v.create(o, nil)
}

// createOptions returns what the peer's pty and environment say about a new
// terminal.
func (s *sshSession) createOptions() host.CreateOptions {
	o := host.CreateOptions{ClientEnv: s.env}
	if from := s.c.endpoints(); from != "" {
		o.Env = append(o.Env, "SSH_CONNECTION="+from)
	}
	if s.pty != nil {
		w := s.size()
		o.Cols, o.Rows, o.Term = w.cols, w.rows, s.pty.term
		o.TTYVar = "SSH_TTY"
	}
	return o
}

// endpoints returns both ends of the connection as sshd's SSH_CONNECTION has
// them, by which prompts and editors know that they are used from elsewhere; ""
// if it is no TCP connection. A terminal keeps those of the connection that made
// it.
func (c *conn) endpoints() string {
	client, ok := c.nc.RemoteAddr().(*net.TCPAddr)
	server, ok2 := c.nc.LocalAddr().(*net.TCPAddr)
	if !ok || !ok2 {
		return ""
	}
	return fmt.Sprintf("%s %d %s %d", client.IP, client.Port, server.IP, server.Port)
}

// detachedOnes names the peer's running terminals that nobody looks at; "": none.
func (v *invocation) detachedOnes() string {
	list, err := v.host().List(v.principal())
	if err != nil {
		return ""
	}
	var names []string
	for _, t := range list {
		if t.Mine && !t.Exited && !t.Client && t.Viewers == 0 {
			names = append(names, t.Name)
		}
	}
	const most = 5
	switch n := len(names); {
	case n == 0:
		return ""
	case n == 1:
		return fmt.Sprintf("1 terminal is running: %s; `%s` shows it", names[0], v.s.c.comeBack(names[0]))
	case n > most:
		return fmt.Sprintf("%d terminals are running: %s, ...; `ssh HOST ls` lists them", n, strings.Join(names[:most], ", "))
	default:
		return fmt.Sprintf("%d terminals are running: %s; `ssh -t HOST attach NAME` shows one", n, strings.Join(names, ", "))
	}
}

// attachOptions says how the peer looks at a terminal.
func (s *sshSession) attachOptions() host.AttachOptions {
	if s.pty == nil {
		return host.AttachOptions{}
	}
	w := s.size()
	return host.AttachOptions{Cols: w.cols, Rows: w.rows}
}

// create makes a terminal and shows it to its end. Without a pty the reader is
// waited for, so that a pipe gets everything, and what comes from one is not
// echoed into its output. prepare, if not nil, adjusts the
// typist before it starts.
func (v *invocation) create(o host.CreateOptions, prepare func(*typist)) int {
	ao := v.s.attachOptions()
	ao.Lossless, o.NoEcho = v.s.pty == nil, v.s.pty == nil
	a, first, err := v.conn().CreateAttached(o, ao)
	if err != nil {
		return v.notStarted(err)
	}
	return v.show(a, first, prepare)
}

// notStarted reports why a terminal was not created, with the statuses that a
// shell has for it.
func (v *invocation) notStarted(err error) int {
	status := v.failed(err)
	switch {
	case errors.Is(err, ptypool.ErrNotFound):
		return statusUnknown
	case errors.Is(err, ptypool.ErrNotExecutable):
		return 126
	}
	return status
}

// show shows a terminal until its program exits, the viewer detaches or the SSH
// session ends, and returns the exit status.
func (v *invocation) show(a *host.Attach, first []byte, prepare func(*typist)) int {
	defer a.Close()
	s := v.s
	w := &viewer{s: s, a: a, t: a.Terminal(), out: s.stdout, window: s.viewerWindow(), interactive: s.pty != nil, events: make(chan event, eventBacklog)}
	var plain *fromCRLF
	if s.pty == nil {
		plain = &fromCRLF{w: w.out}
		w.out = plain
	}
	if a.Holds() && v.asksColors() {
		w.colors = newColorAnswers(time.Now())
	}
	t := newTypist(w, s.ch)
	if prepare != nil {
		prepare(t)
	}
	if w.interactive {
		// What comes first was drawn for the window, if it is another one.
		w.drawn = w.differs()
		w.resized = w.drawn
		w.dirty = w.drawn || w.overlay.lines != nil
	}
	s.running.Go(func() {
		defer s.c.recovered("reading what is typed")
		t.run()
	})
	end := w.watch(first)
	if plain != nil {
		_ = plain.flush()
	}
	if end == exited {
		w.awaitColors()
	}
	w.part(end)
	switch end {
	case detached:
		return statusOK
	case cutOff:
		return statusLost
	}
	st, _ := a.Terminal().Exit()
	return statusOf(st)
}

// viewerWindow is the window of a pty, or nothing.
func (s *sshSession) viewerWindow() window {
	if s.pty == nil {
		return window{}
	}
	return s.size()
}

// statusOf is a terminal's status as an exit status of SSH.
func statusOf(st ptypool.ExitStatus) int { return shownStatus(st.Code) }

// shownStatus brings a code into what SSH's clients show. The status has 32 bits, of
// which they take eight: what an owner on another system calls 256 must not come out
// as success.
func shownStatus(code int) int {
	const most = 255
	if code < 0 || code > most {
		return statusLost
	}
	return code
}
