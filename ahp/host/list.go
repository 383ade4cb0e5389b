package host

import (
	"encoding/json"
	"time"

	"termhost/ahp"
	"termhost/ahp/history"
	"termhost/authz"
)

// The states of a terminal in listings.
const (
	StateRunning = "running"
	StateExited  = "exited"
)

// Info is a terminal as listings show it; its JSON is an element of `ls --json`. Its strings are
// free of control characters, but for those of Claim and LastCommand.
type Info struct {
	Name      string    `json:"name"`
	URI       string    `json:"uri"`
	Title     string    `json:"title"`
	State     string    `json:"state"`
	ExitCode  *int      `json:"exitCode,omitempty"` // once exited; nil: unknown
	Executor  string    `json:"executor"`           // ahp.ExecutorServer or ahp.ExecutorClient
	Claim     ahp.Claim `json:"claim"`              // in JSON with "holder", the holder's name
	Cols      int       `json:"cols"`
	Rows      int       `json:"rows"`
	Viewers   int       `json:"viewers"`
	CreatedAt time.Time `json:"createdAt"` // in UTC
	IsPty     bool      `json:"isPty"`     // it shows a terminal's output, not a plain stream
	Waiting   Waiting   `json:"waiting,omitempty"`
	Guarded   bool      `json:"guarded"` // what agents type waits for a person's approval
	// GuardedWhy is why the host has guarded it by itself when it started; "": it has not.
	GuardedWhy string `json:"guardedWhy,omitempty"`

	// Program is the command line of the program that the terminal was made for, as a shell would
	// read it, and at most maxProgram bytes of it; "": a shell, or unknown.
	Program string `json:"program,omitempty"`
	// Cwd is the path of the working directory, on the machine where the program runs; "": unknown.
	Cwd string `json:"cwd,omitempty"`
	// Home is the home directory of the host's account, if Cwd is on this host.
	Home string `json:"-"`

	Labels ahp.Labels `json:"labels,omitempty"`
	// Group is the value of the label "group", or the git repository and branch of the working
	// directory: see [groups].
	Group string `json:"group,omitempty"`
	// Status is what the program says of itself; zero: it has not said.
	Status Status `json:"status,omitzero"`
	// Notice is what the program has said since the principal looked last: the text of a desktop
	// notification, of a status or of its question, for people; "": nothing.
	Notice string `json:"notice,omitempty"`

	// Quiet: what runs has printed nothing for long; see quiet_after.
	Quiet bool `json:"quiet,omitempty"`
	// Stopped: somebody has stopped its output with ctrl-S. StoppedBy says who, for people; "":
	// that is unknown.
	Stopped   bool   `json:"stopped,omitempty"`
	StoppedBy string `json:"stoppedBy,omitempty"`
	// Progress is what the program says of its progress (OSC 9;4); zero: nothing.
	Progress ahp.Progress `json:"progress,omitzero"`
	// PrintedAt is when the program has printed something last, in UTC; zero: it is not known.
	PrintedAt time.Time `json:"printedAt,omitzero"`
	// AskedBy is who asks for the keyboard, the first one first; for people.
	AskedBy   []string `json:"askedBy,omitempty"`
	Recording bool     `json:"recording"` // what it shows is recorded

	WantsYou bool `json:"wantsYou"` // the principal that asked: see Wanting
	// Wants and WantsSince say why and, in UTC, since when.
	Wants      Want      `json:"wants,omitempty"`
	WantsSince time.Time `json:"wantsSince,omitzero"`

	// AwaySince is since when the owner of a client-executed terminal is away, in UTC.
	AwaySince time.Time `json:"awaySince,omitzero"`

	// NotKept is why what it prints is not kept on disk at the moment; "": it is, or need not be.
	NotKept string `json:"notKept,omitempty"`
	// LogDamaged: some of what it printed before the host was started is lost.
	LogDamaged bool `json:"logDamaged,omitempty"`
	// Ended is why the terminal ended, if its program did not exit by itself: see
	// [Terminal.EndedBy].
	Ended string `json:"ended,omitempty"`

	LastCommand *history.Command `json:"lastCommand,omitempty"` // nil: none is retained
	// Usage is set by those who list it: see [Conn.Usage].
	Usage *Usage `json:"usage,omitempty"`

	Holder string `json:"-"` // for people: see names.go
	// HeldSince is since when; zero: since the beginning.
	HeldSince time.Time `json:"-"`
	HeldBy    string    `json:"-"` // the holder's principal, by its ID
	Mine      bool      `json:"-"` // held by the person that asked, with an SSH session
}

// List returns the terminals, oldest first, as the principal sees them. It returns *authz.Denied
// if the principal may not list.
func (c *Conn) List() ([]Info, error) {
	order, err := c.Terminals()
	list := make([]Info, len(order))
	for i, t := range order {
		list[i] = t.Info(c.principal)
	}
	return list, err
}

// Changes returns a number that is another one after something has changed that [Conn.List]
// returns, but for ages, or after a terminal has printed something. It costs next to nothing.
func (c *Conn) Changes() uint64 {
	h := c.host
	return h.store.Seq() + h.list.changes.Load() + h.watchers.told.Load()
}

// Terminals returns the terminals, oldest first, that exist for the principal. It returns
// *authz.Denied if the principal may not list.
func (c *Conn) Terminals() ([]*Terminal, error) {
	if err := authz.Check(c.principal, authz.List, authz.Target{}); err != nil {
		return nil, err
	}
	c.host.mu.Lock()
	defer c.host.mu.Unlock()
	return c.host.visibleLocked(c.principal), nil
}

// Info returns t as p sees it in listings.
func (t *Terminal) Info(p authz.Principal) Info {
	t.term.Lock()
	s := t.ch.Summary()
	holder, viewers := t.keyboard.holder, s.Readers
	heldSince := t.keyboard.last.at
	want, wanted := t.attention.wants(p)
	status := t.status.now
	recording := t.recorder.Recording() != nil
	_, quiet := t.waiting.Quiet()
	printed, program := t.waiting.LastPrinted(), t.programLocked()
	guardedWhy := t.approvals.onWhy
	var askedBy []string
	for _, k := range t.keyboard.requests {
		askedBy = append(askedBy, k.to.text())
	}
	if t.streams != nil {
		viewers++
	}
	t.term.Unlock()
	info := Info{
		Name: t.Name(), URI: t.uri, Title: s.Title, State: StateRunning,
		Executor: ahp.ExecutorServer,
		Claim:    s.Claim, Cols: s.Cols, Rows: s.Rows, Viewers: viewers,
		CreatedAt: t.origin.created.UTC(),
		IsPty:     t.exec.isPty(), Waiting: Waiting(s.Termhost.Waiting),
		Guarded: s.Termhost.Guarded, GuardedWhy: guardedWhy, WantsYou: wanted, Recording: recording,
		Labels: t.Labels(), Status: status, Notice: want.Text,
		Quiet: quiet, AskedBy: askedBy,
		Holder: holder.text(), Mine: holder.yours(p),
		Stopped: s.Termhost.Stopped, StoppedBy: Printable(s.Termhost.StoppedBy),
		Progress:  s.Termhost.Progress,
		HeldSince: heldSince, HeldBy: holder.principal, Program: program,
	}
	if s.LastCommand != nil {
		info.LastCommand = history.NewCommand(s.LastCommand)
	}
	info.Group = t.host.groups.of(t, s.Cwd)
	if dir, ok := ahp.FilePath(s.Cwd); ok {
		info.Cwd = Printable(dir)
	}
	if !s.Client {
		info.Home = t.host.homeDir()
	}
	if !printed.IsZero() {
		info.PrintedAt = printed.UTC()
	}
	info.NotKept, info.LogDamaged = t.log.journal.NotKept(), t.log.damage != ""
	if wanted {
		info.Wants, info.WantsSince = want.Why, want.Since.UTC()
	}
	if at := t.AwaySince(); !at.IsZero() {
		info.AwaySince = at.UTC()
	}
	if s.Client {
		info.Executor = ahp.ExecutorClient
	}
	if s.Exited {
		info.State, info.ExitCode, info.Ended = StateExited, s.ExitCode, Printable(t.EndedBy())
	}
	return info
}

// MarshalJSON adds the holder's name to the claim.
func (i Info) MarshalJSON() ([]byte, error) {
	type info Info // without this method
	claim := i.Claim.AppendJSON(nil, ahp.ShapeLifecycle)
	claim = append(claim[:len(claim)-1], `,"holder":`...)
	claim = append(ahp.AppendJSONString(claim, i.Holder), '}')
	return json.Marshal(struct {
		info
		Claim json.RawMessage `json:"claim"`
	}{info(i), claim})
}
