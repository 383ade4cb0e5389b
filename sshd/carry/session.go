package carry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"termhost/sshd/verbs"
	"termhost/sshd/wire"
)

// session is an SSH session on another host, joined with a peer.
type session struct {
	from *verbs.Arrival // nil: its person has begun with it
	size verbs.Window   // that the host was told first
	// heard returns the number of the host's last heartbeat that was heard; 0: it has none.
	heard func() uint64
	// named notes that the host may have a NAME that it had not.
	named func()
	typed bool // what is typed goes in messages: see package typed
	link  *link
	ch    gossh.Channel

	ended   chan struct{} // closed when the channel has ended
	came    chan struct{} // closed when a terminal is shown
	outputs sync.WaitGroup

	mu    sync.Mutex   // a leaf
	peer  verbs.Caller // may be replaced before the session is joined
	exit  verbs.Exit
	known bool // how it has ended
	// dismissed: the host has ended the login, and has told the person why.
	dismissed bool
	shown     wire.Shows
	changed   func(wire.Shows) // is told; nil: nobody is
	dropped   func(keys int)   // is told how many keys the host has dropped; nil: nobody is
}

// errNoEnd is for a session of which nobody knows how it has ended.
var errNoEnd = errors.New("the connection to it was lost")

// begin starts a command line on the host.
func (r *run) begin(ctx context.Context, line string, from *verbs.Arrival) (*session, error) {
	l, err := r.dial(ctx, r.peer, r.host)
	if err != nil {
		return nil, err
	}
	ch, reqs, err := l.OpenChannel("session", nil)
	if err != nil {
		l.close()
		return nil, l.notBegun(ctx, err)
	}
	s := &session{peer: r.peer, from: from, link: l, ch: ch, ended: make(chan struct{}),
		came: make(chan struct{}), heard: func() uint64 { return r.Fleet.Heard(r.host) }}
	s.named = func() { r.Fleet.MayName(r.host) }
	r.mayName(r.host, line)
	go s.requests(reqs)
	if err := s.start(line); err != nil {
		l.close()
		<-s.ended
		return nil, l.notBegun(ctx, err)
	}
	l.begun()
	return s, nil
}

// awaitShown waits until the host shows a terminal. If it does not, the session is closed, and the
// error has the first line of why.
func (s *session) awaitShown(ctx context.Context) error {
	late := time.NewTimer(connectTime)
	defer late.Stop()
	err := fmt.Errorf("%s does not answer", s.link.host)
	select {
	case <-s.came:
		return nil
	case <-s.ended:
		text, _ := io.ReadAll(io.LimitReader(s.ch.Stderr(), maxComplaint))
		why, _, _ := strings.Cut(string(text), "\n")
		why = strings.TrimPrefix(strings.TrimSpace(why), "termhost: error: ")
		err = fmt.Errorf("%s: %s", s.link.host, cmp.Or(why, "it shows nothing"))
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-late.C:
	}
	s.link.close()
	return err
}

// isFor has the session joined with another peer.
func (s *session) isFor(peer verbs.Caller) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.peer = peer
}

// showsNow returns what the session shows.
func (s *session) showsNow() wire.Shows {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown
}

// end returns how the session has ended; known is false if nobody knows.
func (s *session) end() (exit verbs.Exit, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.exit, s.known
}

// isDismissed reports whether the host has ended the person's login, and goes on itself.
func (s *session) isDismissed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dismissed
}

// over reports whether the terminal has ended that was shown last.
func (s *session) over() bool {
	select {
	case <-s.came:
		return s.showsNow().Name == ""
	default:
		return false
	}
}

// shows notes what the host says that it shows.
func (s *session) shows(now wire.Shows) {
	s.mu.Lock()
	s.shown = now
	changed := s.changed
	s.mu.Unlock()
	if now.Name == "" {
		return
	}
	s.named()
	select {
	case <-s.came:
	default:
		close(s.came)
	}
	if changed != nil {
		changed(now)
	}
}

// drops notes that the host has dropped keys that have come too late.
func (s *session) drops(keys int) {
	s.mu.Lock()
	dropped := s.dropped
	s.mu.Unlock()
	if dropped != nil {
		dropped(keys)
	}
}

// follow has f called with what is shown, now and whenever that changes.
func (s *session) follow(f func(wire.Shows)) {
	s.mu.Lock()
	s.changed = f
	now := s.shown
	s.mu.Unlock()
	if now.Name != "" {
		f(now)
	}
}

// lost returns why the end of the session is not known.
func (s *session) lost(c *Carrier) error {
	if err := streamError(s.link.nc); err != nil {
		return err
	}
	if err := c.Fleet.Reachable(s.link.host); err != nil {
		return err
	}
	return errNoEnd
}

// start asks for what the peer has, and for the command.
func (s *session) start(line string) error {
	term, terminal := s.peer.Terminal()
	if terminal {
		w := s.peer.Window()
		s.size = w
		request := struct {
			Term                      string
			Cols, Rows, Width, Height uint32
			Modes                     string
		}{Term: term, Cols: uint32(w.Cols), Rows: uint32(w.Rows),
			Width: uint32(w.Pixels.Width), Height: uint32(w.Pixels.Height), Modes: s.peer.Modes()}
		if _, err := s.ch.SendRequest("pty-req", false, gossh.Marshal(&request)); err != nil {
			return err
		}
	}
	if terminal && s.heard() != 0 {
		var err error
		if s.typed, err = s.ch.SendRequest(wire.Typed, true, nil); err != nil {
			return err
		}
	}
	for _, v := range s.peer.Env() {
		name, value, _ := strings.Cut(v, "=")
		request := struct{ Name, Value string }{name, value}
		if _, err := s.ch.SendRequest("env", false, gossh.Marshal(&request)); err != nil {
			return err
		}
	}
	if s.from != nil {
		arrival := gossh.Marshal(&wire.Arrival{Text: s.from.Text, Away: s.from.Away})
		if _, err := s.ch.SendRequest(wire.Arrives, false, arrival); err != nil {
			return err
		}
		if s.from.Listed {
			if _, err := s.ch.SendRequest(wire.Listed, false, nil); err != nil {
				return err
			}
		}
	}
	command := struct{ Line string }{line}
	ok, err := s.ch.SendRequest("exec", true, gossh.Marshal(&command))
	if err == nil && !ok {
		err = fmt.Errorf("%s does not run commands", s.link.host)
	}
	return err
}

// requests takes what the other host says of the session, until its channel ends.
func (s *session) requests(reqs <-chan *gossh.Request) {
	defer close(s.ended)
	for req := range reqs {
		switch req.Type {
		case "exit-status":
			var status struct{ Status uint32 }
			if gossh.Unmarshal(req.Payload, &status) == nil {
				s.exits(verbs.Exit{Status: int(status.Status)})
			}
		case "exit-signal":
			var end struct {
				Name           string
				Core           bool
				Text, Language string
			}
			if gossh.Unmarshal(req.Payload, &end) == nil {
				sig, _ := wire.SignalNumber(end.Name)
				s.exits(verbs.Exit{Status: verbs.StatusLost, Signal: sig, Core: end.Core})
			}
		case wire.ShowsTerminal:
			var shown wire.Shows
			if gossh.Unmarshal(req.Payload, &shown) == nil && len(shown.Name) <= maxShown {
				s.shows(shown)
			}
		case wire.NotTyped:
			var keys wire.Keys
			if gossh.Unmarshal(req.Payload, &keys) == nil {
				s.drops(int(keys.Count))
			}
		case wire.Dismissed:
			s.mu.Lock()
			s.dismissed = true
			s.mu.Unlock()
		case wire.EndOfWrite:
			s.mu.Lock()
			peer := s.peer
			s.mu.Unlock()
			peer.RefuseInput()
		}
		if req.WantReply {
			// Any answer says that this side is alive (RFC 4254 section 4).
			_ = req.Reply(false, nil)
		}
	}
}

// maxShown bounds the NAME of what is shown, in bytes.
const maxShown = 1 << 10

func (s *session) exits(how verbs.Exit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.exit, s.known = how, true
}

// join passes the session's output on to the run's peer.
func (s *session) join(r *run) {
	s.outputs.Add(2)
	out := func(to io.Writer, from io.Reader, refused bool) {
		s.peer.Go("passing output from another host", func() {
			defer s.outputs.Done()
			if _, err := io.Copy(to, from); err != nil && refused {
				_, _ = s.ch.SendRequest(wire.EndOfWrite, false, nil)
			}
			_, _ = io.Copy(io.Discard, from) // until it ends
		})
	}
	out(r.out.stdout(), s.ch, true)
	out(r.out.stderr(), s.ch.Stderr(), false)
	s.mu.Lock()
	s.dropped = r.dropped
	s.mu.Unlock()
	if g := r.keys.guide; g != nil {
		s.follow(func(now wire.Shows) { g.Shown(now.Name, now.ReadOnly) })
	}
}

// pass passes on the peer's window and signals, and how many terminals want its person elsewhere,
// until stop is closed.
func (s *session) pass(elsewhere *verbs.Count, stop <-chan struct{}) {
	if elsewhere.Now() > 0 {
		s.wantElsewhere(elsewhere)
	}
	if _, ok := s.peer.Terminal(); ok && s.peer.Window() != s.size {
		s.redraw()
	}
	for {
		select {
		case <-stop:
			return
		case <-s.peer.Resized():
			s.redraw()
		case <-elsewhere.Changes():
			s.wantElsewhere(elsewhere)
		case sig := <-s.peer.Signals():
			name := struct{ Name string }{wire.SignalName(sig)}
			_, _ = s.ch.SendRequest("signal", false, gossh.Marshal(&name))
		case <-s.peer.OutputRefused():
			_, _ = s.ch.SendRequest(wire.EndOfWrite, false, nil)
			<-stop
			return
		}
	}
}

// wantElsewhere tells the host how many terminals of others want the peer's person.
func (s *session) wantElsewhere(n *verbs.Count) {
	count := gossh.Marshal(&wire.Count{Count: uint32(n.Now())})
	_, _ = s.ch.SendRequest(wire.WantElsewhere, false, count)
}

// redraw tells the host of the peer's window, for which a viewer draws its picture anew.
func (s *session) redraw() {
	w := s.peer.Window()
	size := struct{ Cols, Rows, Width, Height uint32 }{uint32(w.Cols), uint32(w.Rows),
		uint32(w.Pixels.Width), uint32(w.Pixels.Height)}
	_, _ = s.ch.SendRequest("window-change", false, gossh.Marshal(&size))
}
