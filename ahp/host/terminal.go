package host

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"termhost/ahp"
	"termhost/ahp/store"
	"termhost/authz"
	"termhost/ptypool"
)

// Terminal is one terminal of the host.
type Terminal struct {
	host    *Host
	uri     string
	name    string
	ch      *store.Channel
	created time.Time
	creator authz.Principal
	// transient terminals are disposed once exited while their creator watches.
	transient bool
	// forced: made by a key's forced command.
	forced bool

	term    *ptypool.Term
	started chan struct{} // closed when output may be read
	done    chan struct{} // closed when it has exited
	gone    chan struct{} // closed when it has been disposed

	brake brake

	// Guarded by the Term's lock.
	holder    holder  // who holds the claim
	prior     *holder // whose claim the holder took, to hand back
	claimedAt time.Time
	claimedBy *Conn // whose terminal/claimed set the holder; nil: nobody's
	renamed   bool  // a person's title sticks
	exited    bool
	commands  int // how many were executed
	running   string
	runningAt time.Time
	lastTitle string

	exit atomic.Pointer[ptypool.ExitStatus] // nil: running
	// exitedAt is set before exit is.
	exitedAt time.Time
}

// holder is a claim and the principal it is bound to.
type holder struct {
	claim     ahp.Claim
	principal string // its ID
	name      string // its Name, for people
}

// Name returns the terminal's NAME.
func (t *Terminal) Name() string { return t.name }

// URI returns the terminal's channel.
func (t *Terminal) URI() string { return t.uri }

// Creator returns who made the terminal.
func (t *Terminal) Creator() authz.Principal { return t.creator }

// Done is closed when the terminal has exited and its last output is in the store.
func (t *Terminal) Done() <-chan struct{} { return t.done }

// Gone is closed when the terminal has been disposed.
func (t *Terminal) Gone() <-chan struct{} { return t.gone }

// Exit returns the exit status once Done is closed.
func (t *Terminal) Exit() (ptypool.ExitStatus, bool) {
	if st := t.exit.Load(); st != nil {
		return *st, true
	}
	return ptypool.ExitStatus{}, false
}

func (t *Terminal) exitedNow() bool { return t.exit.Load() != nil }

// target returns the facts about t that the policy asks for. The Term's lock is
// held.
func (t *Terminal) target(p authz.Principal) authz.Target {
	return authz.Target{
		Executor:    authz.Server,
		Holds:       t.holder.principal == p.ID,
		InputShared: t.host.cfg.InputShared,
		Forced:      t.forced && t.creator.ID == p.ID,
	}
}

// events receives what a Term finds. All methods but Ready run under the Term's
// lock.
type events struct{ t *Terminal }

// Started is called first, before the Term is known to anybody else.
func (e events) Started(term *ptypool.Term) { e.t.term = term }

// Ready waits until the Term is known to its terminal, and as long as a reader
// that must not lose anything is far behind.
func (e events) Ready() {
	<-e.t.started
	e.t.brake.wait(e.t.ch)
}

func (e events) Data(p []byte) {
	if e.t.ch.AppendData(p) {
		e.t.ch.Checkpoint(nil)
	}
}

func (e events) Reply(p []byte) { _ = e.t.term.Input(p) } // a program that does not read its answers gets none

func (e events) Clipboard([]byte) {}

func (e events) Bell() {}

func (e events) Title(s string) {
	t := e.t
	s = CleanTitle(s)
	if t.renamed || s == "" || s == t.lastTitle {
		return
	}
	t.lastTitle = s
	t.ch.Append(ahp.TerminalTitleChanged{Title: s}, nil)
	t.host.list.changed()
}

func (e events) Cwd(uri string) { e.t.ch.Append(ahp.TerminalCwdChanged{Cwd: uri}, nil) }

func (e events) CommandDetection() {
	e.t.ch.Append(ahp.TerminalCommandDetectionAvailable{}, nil)
}

func (e events) PromptStart() { e.finish(nil) }

func (e events) CommandExecuted(line string) {
	t := e.t
	e.finish(nil)
	t.commands++
	t.running = t.name + "-" + strconv.Itoa(t.commands)
	t.runningAt = t.host.now()
	t.ch.Append(ahp.TerminalCommandExecuted{CommandID: t.running, CommandLine: line, Timestamp: t.runningAt.UnixMilli()}, nil)
}

func (e events) CommandFinished(code int, known bool) {
	if known {
		e.finish(&code)
		return
	}
	e.finish(nil)
}

// finish ends the running command, if there is one.
func (e events) finish(code *int) {
	t := e.t
	if t.running == "" {
		return
	}
	ms := t.host.now().Sub(t.runningAt).Milliseconds()
	t.ch.Append(ahp.TerminalCommandFinished{CommandID: t.running, ExitCode: code, DurationMs: &ms}, nil)
	t.running = ""
}

func (e events) Exited(st ptypool.ExitStatus) {
	t := e.t
	code := st.Code
	e.finish(&code)
	t.exited = true
	t.ch.Append(ahp.TerminalExited{ExitCode: &code}, nil)
	t.exitedAt = t.host.now()
	t.exit.Store(&st)
	close(t.done)
	t.host.list.changed()
	t.host.scheduleSweep()
}

// maxTitle is the longest title in bytes: more than fits any tab or list.
const maxTitle = 256

// CleanTitle returns s without control characters and not longer than 256 bytes.
func CleanTitle(s string) string {
	s = Printable(s)
	if len(s) > maxTitle {
		s = s[:maxTitle]
		for !utf8.ValidString(s) {
			s = s[:len(s)-1]
		}
	}
	return strings.TrimSpace(s)
}

// Printable returns s as valid UTF-8 without control characters (C0, DEL, C1)
// and without the marks that turn the direction of what follows, so that it can
// be shown in somebody's terminal.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r < 0x20, r >= 0x7f && r < 0xa0, r == utf8.RuneError:
			return -1
		case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069: // Unicode TR 9, explicit directions
			return -1
		}
		return r
	}, s)
}

// brake lets readers that must not lose anything hold the pty's reader back.
// There are none but for the creator of `run`, whose output a pipe may take.
type brake struct {
	on atomic.Int32

	mu      sync.Mutex
	cond    *sync.Cond
	readers map[*Attach]struct{}
	off     bool // the terminal is being ended: nobody holds it back
}

func (b *brake) add(a *Attach) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.readers == nil {
		b.readers = map[*Attach]struct{}{}
		b.cond = sync.NewCond(&b.mu)
	}
	b.readers[a] = struct{}{}
	b.on.Store(int32(len(b.readers)))
}

func (b *brake) remove(a *Attach) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.readers, a)
	b.on.Store(int32(len(b.readers)))
	if b.cond != nil {
		b.cond.Broadcast()
	}
}

// release lets the reader go on for good, to the terminal's end.
func (b *brake) release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.off = true
	if b.cond != nil {
		b.cond.Broadcast()
	}
}

// progressed says that a reader has written something.
func (b *brake) progressed() {
	if b.on.Load() > 0 {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.cond.Broadcast()
	}
}

// wait returns when no reader lags by more than half of its channel's log.
func (b *brake) wait(c *store.Channel) {
	if b.on.Load() == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for !b.off && b.farBehindLocked(c) {
		b.cond.Wait()
	}
}

func (b *brake) farBehindLocked(c *store.Channel) bool {
	for a := range b.readers {
		if a.sub.Lag(c) > c.LogBytes()/2 {
			return true
		}
	}
	return false
}

// String names the terminal in logs.
func (t *Terminal) String() string { return fmt.Sprintf("terminal %s", t.name) }
