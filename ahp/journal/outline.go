package journal

import (
	"maps"
	"time"

	"termhost/ahp"
	"termhost/ptypool"
)

// Outline is the state of a terminal that listings show, after the actions so far.
type Outline struct {
	Title   string `json:"title"`
	Renamed bool   `json:"renamed,omitempty"` // a person has set the title, for good
	Cwd     string `json:"cwd,omitempty"`
	Cols    int    `json:"cols"`
	Rows    int    `json:"rows"`

	Pixels   ptypool.Pixels `json:"pixels,omitzero"`    // of the window
	Clusters bool           `json:"clusters,omitempty"` // mode 2027 is known

	Holder    Holder     `json:"holder"`
	Loans     *Loans     `json:"loans,omitempty"` // nil: the claim is not on loan
	Owner     *OwnerMark `json:"owner,omitempty"` // of a client-executed terminal; nil: not yet
	Detection bool       `json:"detection,omitempty"`
	Commands  int        `json:"commands,omitempty"` // number of commands reported by the shell
	Last      *Command   `json:"last,omitempty"`     // nil: there was none
	// Ran has the newest commands that have ended, the oldest first, without Cwd, also those whose
	// text is gone. Copies of the outline share it.
	Ran []Command `json:"ran,omitempty"`
	// Missed has each person's misses since their last view of the terminal, by [authz.Person]. The
	// key "" stands for everybody who has never viewed it.
	Missed map[string]*Missed `json:"missed,omitempty"`
	Status *Status            `json:"status,omitempty"` // nil: the program has not said
	Waits  *Waits             `json:"waits,omitempty"`  // nil: it waits for nothing
	// Decided: the host that wrote this keeps [Decisions], which are not older. Hosts of earlier
	// versions leave them as they were.
	Decided bool `json:"decided,omitempty"`
}

// Waits is what a terminal waits for.
type Waits struct {
	For      string    `json:"for,omitempty"`      // the host's word; "": nothing
	Question string    `json:"question,omitempty"` // what it asks, for display; "": nothing
	Since    time.Time `json:"since,omitzero"`
}

// ApplyWaits applies an Event's Waits: one without a word takes it away.
func (o *Outline) ApplyWaits(w *Waits) {
	switch {
	case w == nil:
	case w.For == "":
		o.Waits = nil
	default:
		o.Waits = w
	}
}

// Status is what a terminal's program says of itself: see the host's.
type Status struct {
	State    string    `json:"state"`
	Text     string    `json:"text,omitempty"`
	Since    time.Time `json:"since"`
	About    string    `json:"about,omitempty"`
	Until    string    `json:"until,omitempty"`    // what ends it, in the host's word
	Answered bool      `json:"answered,omitempty"` // it waited, and somebody has typed since
}

// ApplyStatus applies an Event's Status: one without a state takes it away.
func (o *Outline) ApplyStatus(s *Status) {
	switch {
	case s == nil:
	case s.State == "":
		o.Status = nil
	default:
		o.Status = s
	}
}

// Missed is what happened in a terminal while a person did not view it.
type Missed struct {
	Want  string    `json:"want,omitempty"` // the host's reason; "": nothing
	Since time.Time `json:"since,omitzero"` // when it happened first
	At    time.Time `json:"at,omitzero"`    // when it was news last; zero: at Since
	Text  string    `json:"text,omitempty"` // what the program said; "": nothing
	More  []Missed  `json:"more,omitempty"` // what else happened

	Looking bool      `json:"looking,omitempty"` // the person views the terminal
	Seen    time.Time `json:"seen,omitzero"`     // when the person looked away; zero: unknown
}

// ApplyMissed applies an Event's Missed: it replaces the entries of the people in it, and deletes
// those with nil.
func (o *Outline) ApplyMissed(changed map[string]*Missed) {
	if len(changed) == 0 {
		return
	}
	o.Missed = maps.Clone(o.Missed) // copies of the outline share the old map
	if o.Missed == nil {
		o.Missed = map[string]*Missed{}
	}
	for person, m := range changed {
		if o.Missed[person] = m; m == nil {
			delete(o.Missed, person)
		}
	}
}

// Holder is who holds a terminal.
type Holder struct {
	Claim     Claim  `json:"claim"`
	Principal string `json:"principal"` // its ID
	Name      string `json:"name"`      // for people
	Agent     string `json:"agent,omitempty"`
}

// Claim is a claim as stored; AHP's encoding adds what a version requires.
type Claim ahp.Claim

// Loans are the lenders of a claim, the last one first. The claim returns to the first of Prior.
type Loans struct {
	Prior []Holder `json:"prior,omitempty"`
	Lent  []Holder `json:"lent,omitempty"`
}

// OwnerMark identifies the last action of a client-executed terminal's owner in the log. Its output
// is N bytes long and ends at position End. If the log ends before End, the host was killed while
// it logged the output.
type OwnerMark struct {
	Seq  int64 `json:"seq"` // the clientSeq
	N    int64 `json:"n,omitempty"`
	End  int64 `json:"end,omitempty"`
	Half rune  `json:"half,omitempty"` // the first half of a surrogate pair that is not complete
	Was  rune  `json:"was,omitempty"`  // Half before the action
}

// Command is the command that began last.
type Command struct {
	ID         string    `json:"id"`
	Line       string    `json:"line"`
	By         string    `json:"by,omitempty"`
	Cwd        string    `json:"cwd,omitempty"`
	Timestamp  int64     `json:"timestamp"` // as reported, in ms since 1970
	Began      time.Time `json:"began"`
	Over       bool      `json:"over,omitempty"`
	ExitCode   *int      `json:"exitCode,omitempty"`
	DurationMs *int64    `json:"durationMs,omitempty"`
}

// Executed returns the action that reported the command's beginning.
func (c *Command) Executed() ahp.TerminalCommandExecuted {
	return ahp.TerminalCommandExecuted{
		CommandID: c.ID, CommandLine: c.Line, Timestamp: c.Timestamp, By: c.By,
		Cwd: c.Cwd,
	}
}

// Finished returns the action that reported the command's end. The command must be over.
func (c *Command) Finished() ahp.TerminalCommandFinished {
	return ahp.TerminalCommandFinished{
		CommandID: c.ID, ExitCode: c.ExitCode, DurationMs: c.DurationMs,
	}
}

// Apply updates the outline by an action at a time. ev has the parts that AHP's action lacks.
func (o *Outline) Apply(a ahp.Action, ev Event, at time.Time) {
	switch a := a.(type) {
	case ahp.TerminalTitleChanged:
		o.Title, o.Renamed = a.Title, ev.Renamed
	case ahp.TerminalCwdChanged:
		o.Cwd = a.Cwd
	case ahp.TerminalResized:
		o.Cols, o.Rows = a.Cols, a.Rows
	case ahp.TerminalClaimed:
		if ev.Holder != nil {
			o.Holder, o.Loans, o.Decided = *ev.Holder, ev.Loans, ev.Decided
		}
	case ahp.TerminalCommandDetectionAvailable:
		o.Detection = true
	case ahp.TerminalCommandExecuted:
		o.Detection = true
		if ev.Parsed {
			o.Commands++
		}
		o.Last = &Command{ID: a.CommandID, Line: a.CommandLine, By: a.By, Cwd: a.Cwd,
			Timestamp: a.Timestamp, Began: at}
	case ahp.TerminalCommandFinished:
		if o.Last != nil && o.Last.ID == a.CommandID {
			last := *o.Last
			last.Over, last.ExitCode, last.DurationMs = true, a.ExitCode, a.DurationMs
			o.Last = &last
			o.ran(last)
		}
	case ahp.TerminalCleared:
		o.Ran = nil
		if o.Last != nil && o.Last.Over {
			o.Last = nil
		}
	}
}
