package host

import (
	"maps"
	"slices"
	"time"

	"termhost/ahp"
	"termhost/ahp/idle"
	"termhost/ahp/journal"
	"termhost/ptypool/foreground"
)

// What the tests outside of the package need beyond its exported verbs: to control what else only
// time or a failure brings, and to see what no verb shows.

// Hold has all that is done with a terminal wait until release is called, so that a test decides
// what comes first.
func Hold(t *Terminal) (release func()) {
	t.term.Lock()
	return t.term.Unlock
}

// Tend does what is due by the host's clock, which timers and the janitor do by the real one. It
// reports whether something is left to be tried again: it is not kept on disk.
func Tend(h *Host) (again bool) {
	h.janitor.exited()
	h.forgetAbsent()
	for _, t := range h.all() {
		t.keyboard.withdrawRequests()
		t.waiting.checkQuiet()
		h.returnIdle(t)
	}
	tapes, journals := h.tendRecorders(), h.retryJournals()
	return tapes || journals
}

// FlushList publishes the root's list if it is due, for which clients wait up to listInterval.
func FlushList(h *Host) { h.list.flush() }

// RootOf returns the root's list as it is for a connection at this very moment, whether it has
// been sent or not.
func RootOf(c *Conn) []ahp.TerminalInfo { return c.root.Load().Terminals() }

// SetApprovalTime has agents wait for d, and not for minutes, for a person's decision.
func SetApprovalTime(h *Host, d time.Duration) { h.approvalTime = d }

// SetHome gives the user that terminals run as another home directory, without files of a user's.
func SetHome(h *Host, dir string) { h.account.Home = dir }

// StateDir returns where a host keeps its files, so that a test can copy or spoil them.
func StateDir(h *Host) string { return h.cfg().StateDir }

// Emit has an event of a terminal told, of which there may be more than a program can cause.
func Emit(t *Terminal, e Event) { t.emit(e) }

// EndCreators has the host know of n more terminals that have ended than there ever were.
func EndCreators(h *Host, n int) {
	for i := range n {
		h.creators.end("ended " + time.Duration(i).String())
	}
}

// SetWaiting does what the lookout does when it finds that a terminal's program waits for something,
// or does no longer. The host must be without a lookout, which would find otherwise.
func SetWaiting(t *Terminal, now Waiting) {
	t.term.Lock()
	defer t.term.Unlock()
	states := map[Waiting]foreground.State{
		WaitingNone: foreground.Busy, WaitingInput: foreground.Input, WaitingSecret: foreground.Secret}
	saw := idle.Sight{State: states[now]}
	t.waiting.tell(t.waiting.Found(t.host.now(), t.waiting.Begin(saw.Line), saw))
}

// Looked reports whether the lookout has seen what there is to see: it has looked three times since
// the program's last sign of life, or need not look any more, or the program never comes to rest.
func Looked(t *Terminal) bool {
	t.term.Lock()
	defer t.term.Unlock()
	looks, signs := t.waiting.Looks()
	return looks >= 3 || !t.waiting.Works() || signs > 100
}

// LookAtHeld says whether what agents have asked to type is looked at now and then, as it is
// otherwise.
func LookAtHeld(t *Terminal, on bool) {
	t.term.Lock()
	defer t.term.Unlock()
	t.approvals.lookPending = !on
	if on {
		t.approvals.lookAtHeldLater()
	}
}

// Question returns the line in which a terminal's program asks for a secret now; "": it does not.
// Peers are told of it a moment later.
func Question(t *Terminal) string {
	t.term.Lock()
	defer t.term.Unlock()
	if q := t.approvals.secretQuestion(); q != nil {
		return q.text
	}
	return ""
}

// Queued returns how many bytes are held that agents have typed ahead, of which peers are told a
// moment later, and whether the terminal has yet to take some that may be shown.
func Queued(t *Terminal) (held int, shown bool) { return t.term.Held(), t.term.QueuesShown() }

// TrustBegan reports whether the command has begun that a yes to all is for, or is over already.
func TrustBegan(t *Terminal) bool {
	t.term.Lock()
	defer t.term.Unlock()
	tr := &t.approvals.trust
	return tr.group != 0 || tr.agent == (agentID{})
}

// EndTrust ends the time for which what a terminal's agent types is trusted, as if minutes had gone.
func EndTrust(t *Terminal) {
	t.term.Lock()
	defer t.term.Unlock()
	t.approvals.trust.end = time.Now()
}

// Pid returns the ID of a terminal's program, which no peer is told.
func Pid(t *Terminal) int { return t.term.Pid() }

// Holding is who holds a terminal, by the principal and not only by name.
type Holding struct {
	Claim           ahp.Claim
	Principal, Name string
	Lenders, Priors string // to whom the claim goes back, and can be handed back: see chain
	ClaimedAt       uint64 // the serverSeq of the last claim
}

// HolderOf returns who holds a terminal.
func HolderOf(t *Terminal) Holding {
	t.term.Lock()
	defer t.term.Unlock()
	is := Holding{Claim: t.keyboard.holder.claim, Principal: t.keyboard.holder.principal, Name: t.keyboard.holder.name,
		ClaimedAt: t.keyboard.last.seq, Lenders: t.keyboard.lent.chain(), Priors: t.keyboard.prior.chain()}
	return is
}

// chain returns the principals that have lent a claim, the last one first.
func (l *loan) chain() string {
	switch {
	case l == nil:
		return ""
	case l.earlier == nil:
		return l.from.principal
	}
	return l.from.principal + " < " + l.earlier.chain()
}

// Keeps counts the host's records for principals that have left, which show in nothing but its
// memory.
type Keeps struct {
	Uses     int      // principals of which it knows the terminal that they used last
	Events   bool     // for readers of events
	Absences int      // client-executed terminals that wait for their owner
	Paces    []string // accounts whose requests are counted
}

// KeptOf returns what a host keeps.
func KeptOf(h *Host) Keeps {
	h.mu.Lock()
	defer h.mu.Unlock()
	k := Keeps{Uses: len(h.lastUsed), Events: h.feed.ring != nil || h.feed.readers.Load() != 0,
		Paces: slices.Sorted(maps.Keys(h.paces))}
	for _, t := range h.order {
		if e, ok := t.exec.(*clientExecutor); ok && e.away != nil {
			k.Absences++
		}
	}
	return k
}

// WaitsLeft returns what is kept for waits for lines, once all look-ups are done; "": nothing.
func WaitsLeft(h *Host, t *Terminal) (left string) {
	h.lookers.Wait()
	t.term.Lock()
	if t.waiting.list != nil {
		left += " a terminal that hands out what it prints"
	}
	t.term.Unlock()
	if !h.turns.Idle() {
		left += " turns"
	}
	return left
}

// Memory returns how many bytes a terminal keeps in memory of what it has printed.
func Memory(t *Terminal) int {
	t.term.Lock()
	defer t.term.Unlock()
	return t.output.countMemory()
}

// GiveBack has a terminal give memory back as if the host's were used up, and reports whether it
// could.
func GiveBack(t *Terminal) bool {
	t.term.Lock()
	defer t.term.Unlock()
	return t.output.giveBack()
}

// Relieve has the host's terminals give memory back until they keep no more than limit bytes.
func Relieve(h *Host, limit int64) {
	h.memory.limit = limit
	h.relieveMemory()
}

// LogRead reports whether the log has been read that an earlier host has left of a terminal.
func LogRead(t *Terminal) bool { return t.kept.past.Load() == nil }

// TakePart has the host die, as far as its files tell, when it has kept only p of size bytes that
// the owner of a client-executed terminal has sent at once.
func TakePart(t *Terminal, size int, p []byte) {
	e := t.exec.(*clientExecutor)
	t.term.Lock()
	defer t.term.Unlock()
	e.taken++
	t.log.recordEvent(journal.Event{Owner: e.mark(size, 0)}, time.Now())
	e.feed(p)
}

// Typists returns how many clientIds the host knows that have typed into terminals that are there.
func Typists(h *Host) int {
	h.typists.mu.Lock()
	defer h.typists.mu.Unlock()
	return len(h.typists.byClient)
}

// PatternBytes returns what the patterns take that are in use, in bytes.
func PatternBytes(h *Host) int {
	h.patterns.mu.Lock()
	defer h.patterns.mu.Unlock()
	return h.patterns.all
}
