package sshd

import (
	"path/filepath"
	"strings"

	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/host"
	"termhost/sshd/typed"
	"termhost/sshd/verbs"
	"termhost/sshd/wire"
)

const (
	// maxEnv and maxEnvBytes bound what one SSH session may set: some locale variables, each
	// shorter than a path.
	maxEnv      = 32
	maxEnvBytes = 4 << 10
	// maxTerm bounds a terminal's name, in bytes; terminfo's are shorter.
	maxTerm = 64
	// maxWindow bounds a window, in cells in each direction: what is drawn for one is bounded with
	// it. It is larger than a terminal may be (host.MaxCols, host.MaxRows), so that a viewer knows
	// that its window is: it shows the terminal in the top left corner.
	maxWindow = 4096
	// maxModes bounds terminal modes, in bytes: all opcodes of RFC 4254 section 8 that have an
	// argument, with it, twice.
	maxModes = 2 * 160 * 5
	// maxLine bounds a command line in bytes: what execve takes as one argument (MAX_ARG_STRLEN).
	maxLine = 128 << 10
)

// requests answers the peer's requests until the channel ends.
func (s *sshSession) requests(reqs <-chan *gossh.Request) {
	for req := range reqs {
		ok, run := s.request(req)
		_ = req.Reply(ok, nil) // fails with the connection
		if run != nil {
			s.started = true
			s.Go("running an SSH session", func() { s.finish(run()) })
		}
	}
}

// request decides about one request. run, if not nil, is what it starts; it returns how that
// ended.
func (s *sshSession) request(req *gossh.Request) (ok bool, run func() verbs.Exit) {
	if s.ctx.Err() != nil {
		return false, nil // the connection is being closed
	}
	switch req.Type {
	case "window-change":
		return s.windowChange(req.Payload), nil
	case "signal":
		return s.signal(req.Payload), nil
	case wire.EndOfWrite:
		return s.endOfWrite(), nil
	case wire.WantElsewhere:
		return s.countElsewhere(req.Payload), nil
	}
	if s.started { // the others set up what is started, or start it
		return false, nil
	}
	switch req.Type {
	case "pty-req":
		return s.ptyReq(req.Payload), nil
	case "env":
		return s.setEnv(req.Payload), nil
	case agentRequest:
		return s.agentReq(), nil
	case wire.Arrives:
		s.arrival = new(wire.Arrival)
		may := s.c.carried != nil || s.c.ofTermhost()
		return may && gossh.Unmarshal(req.Payload, s.arrival) == nil, nil
	case wire.Listed:
		s.listed = s.c.carried != nil
		return s.listed, nil
	case wire.Typed:
		if s.c.carried != nil && s.pty != nil && s.typed == nil {
			s.typed = typed.NewReader(s.in, s.c.carried.Late, s.notTyped)
		}
		return s.typed != nil, nil
	case wire.InputTaken:
		s.counts = s.c.ofTermhost()
		return s.counts, nil
	case "shell":
		if len(req.Payload) == 0 {
			return true, func() verbs.Exit {
				s.showRefusals()
				return s.c.cfg.verbs.Shell(s.ctx, s.caller())
			}
		}
	case "exec":
		if command, ok := stringPayload(req.Payload); ok {
			return true, func() verbs.Exit {
				s.showRefusals()
				return s.c.cfg.verbs.Exec(s.ctx, s.caller(), command)
			}
		}
	case "subsystem":
		name, ok := stringPayload(req.Payload)
		if s.c.carried != nil && name != ahpSubsystem { // another host carries verbs and AHP only
			return false, nil
		}
		if sub, known := subsystemNamed(name); ok && known {
			return true, func() verbs.Exit { return verbs.Exit{Status: s.subsystem(sub)} }
		}
	}
	return false, nil // X11 forwarding among them
}

// ptyRequest is what an SSH session asks for with pty-req (RFC 4254 section 6.2).
type ptyRequest struct {
	term  string
	modes string // those of section 8, encoded; for new terminals only
	draws bool   // see viewer.IO
}

func (s *sshSession) ptyReq(payload []byte) bool {
	var msg struct {
		Term                      string
		Cols, Rows, Width, Height uint32
		Modes                     string
	}
	if s.pty != nil || s.c.principal().ReadOnly || gossh.Unmarshal(payload, &msg) != nil {
		return false
	}
	s.pty = &ptyRequest{}
	if len(msg.Term) <= maxTerm && isPlain(msg.Term) {
		s.pty.term = msg.Term
	}
	if len(msg.Modes) <= maxModes {
		s.pty.modes = msg.Modes
	}
	s.setWindow(msg.Cols, msg.Rows, msg.Width, msg.Height)
	s.pty.draws = s.pty.term != "" && s.pty.term != "dumb" && s.window != (verbs.Window{})
	return true
}

// isPlain reports whether s is made of graphic ASCII characters.
func isPlain(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f }) < 0
}

func (s *sshSession) endOfWrite() bool {
	select {
	case <-s.refused:
	default:
		close(s.refused)
	}
	return true
}

// maxElsewhere bounds how many terminals want somebody on other hosts.
const maxElsewhere = 1_000_000

// countElsewhere notes how many do.
func (s *sshSession) countElsewhere(payload []byte) bool {
	var msg wire.Count
	if s.c.carried == nil || gossh.Unmarshal(payload, &msg) != nil {
		return false
	}
	s.elsewhere.Set(int(min(msg.Count, maxElsewhere)))
	return true
}

// windowChange notes the newest window. Nobody needs the older ones that have not been read.
func (s *sshSession) windowChange(payload []byte) bool {
	var msg struct{ Cols, Rows, Width, Height uint32 }
	if s.pty == nil || gossh.Unmarshal(payload, &msg) != nil {
		return false
	}
	s.setWindow(msg.Cols, msg.Rows, msg.Width, msg.Height)
	select {
	case s.resized <- struct{}{}:
	default:
	}
	return true
}

// setWindow brings a window into bounds. Without columns or rows, the peer does not know
// its window, and what it said before stays.
func (s *sshSession) setWindow(cols, rows, width, height uint32) {
	if cols == 0 || rows == 0 {
		return
	}
	const most = 1<<16 - 1 // of a winsize
	w := verbs.Window{Cols: int(min(cols, maxWindow)), Rows: int(min(rows, maxWindow)),
		Pixels: host.Pixels{Width: int(min(width, most)), Height: int(min(height, most))}}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.window = w
}

// setEnv takes the variables that sshd_config's AcceptEnv usually names: the locale and COLORTERM.
// Others are refused, which clients do not complain about. A peer on this machine also says where
// it is, with PWD, and which configuration it names, with [wire.ConfigVariable].
func (s *sshSession) setEnv(payload []byte) bool {
	var msg struct{ Name, Value string }
	switch {
	case gossh.Unmarshal(payload, &msg) != nil:
		return false
	case len(s.env) >= maxEnv, len(msg.Name)+len(msg.Value) > maxEnvBytes:
		return false
	case msg.Name == "PWD" && s.c.proven != nil && filepath.IsAbs(msg.Value):
		s.dir = msg.Value
		return true
	case msg.Name == wire.ConfigVariable && s.c.proven != nil &&
		msg.Value == host.Printable(msg.Value):
		s.config = msg.Value
		return true
	case msg.Name != "LANG" && msg.Name != "COLORTERM" && !strings.HasPrefix(msg.Name, "LC_"):
		return false
	case !isPlain(msg.Name), strings.Contains(msg.Name, "="), strings.Contains(msg.Value, "\x00"):
		return false
	}
	s.env = append(s.env, msg.Name+"="+msg.Value)
	return true
}

// signal passes a signal on to the verb that runs, if it reads signals.
func (s *sshSession) signal(payload []byte) bool {
	name, ok := stringPayload(payload)
	sig, known := wire.SignalNumber(name)
	if !ok || !known || !s.started {
		return false
	}
	select {
	case s.signals <- sig:
	default: // nobody reads them
	}
	return true
}

// stringPayload reads a request's payload that is one string.
func stringPayload(payload []byte) (value string, ok bool) {
	var msg struct{ Value string }
	if gossh.Unmarshal(payload, &msg) != nil {
		return "", false
	}
	value = msg.Value
	return value, len(value) <= maxLine && !strings.Contains(value, "\x00")
}
