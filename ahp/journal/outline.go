package journal

import (
	"maps"
	"time"

	"termhost/ahp"
)

// Outline is what listings need of a terminal, as its actions leave it.
type Outline struct {
	Title     string     `json:"title"`
	Renamed   bool       `json:"renamed,omitempty"` // a person has given the title, which stays
	Cwd       string     `json:"cwd,omitempty"`
	Cols      int        `json:"cols"`
	Rows      int        `json:"rows"`
	Holder    Holder     `json:"holder"`
	Loans     *Loans     `json:"loans,omitempty"` // nil: the holder has it as its own
	Owner     *OwnerMark `json:"owner,omitempty"` // of a client-executed terminal; nil: not yet
	Detection bool       `json:"detection,omitempty"`
	Commands  int        `json:"commands,omitempty"` // number of commands reported by the shell
	Last      *Command   `json:"last,omitempty"`     // nil: there was none
	// Missed is what each person who has viewed the terminal has missed since, by [authz.Person];
	// "": those who have never viewed it.
	Missed map[string]*Missed `json:"missed,omitempty"`
}

// Missed is the first thing that happened in a terminal while a person did not view it.
type Missed struct {
	Want  string    `json:"want,omitempty"` // the host's reason; "": nothing
	Since time.Time `json:"since,omitzero"` // when it happened
}

// ApplyMissed brings Missed up to an Event's. A person with nil is forgotten.
func (o *Outline) ApplyMissed(changed map[string]*Missed) {
	if len(changed) == 0 {
		return
	}
	o.Missed = maps.Clone(o.Missed) // copies of the outline have the old one
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

// Loans are the lenders of the claim, the last one first: its holder hands it back to the first of
// them, and so does the host.
type Loans struct {
	Prior []Holder `json:"prior,omitempty"`
	Lent  []Holder `json:"lent,omitempty"`
}

// OwnerMark is the last action of a client-executed terminal's owner that is in the log. Its output
// is N bytes long and ends at position End. If the log ends before that, the host was killed in the
// middle of it.
type OwnerMark struct {
	Seq  int64 `json:"seq"` // the clientSeq
	N    int64 `json:"n,omitempty"`
	End  int64 `json:"end,omitempty"`
	Half rune  `json:"half,omitempty"` // of a surrogate pair whose other half is still to come
	Was  rune  `json:"was,omitempty"`  // the same before the action
}

// Command is the command that was begun last.
type Command struct {
	ID         string    `json:"id"`
	Line       string    `json:"line"`
	By         string    `json:"by,omitempty"`
	Cwd        string    `json:"cwd,omitempty"`
	Timestamp  int64     `json:"timestamp"` // as it was told, in ms since 1970
	Began      time.Time `json:"began"`
	Over       bool      `json:"over,omitempty"`
	ExitCode   *int      `json:"exitCode,omitempty"`
	DurationMs *int64    `json:"durationMs,omitempty"`
}

// Executed returns the action by which the command began.
func (c *Command) Executed() ahp.TerminalCommandExecuted {
	return ahp.TerminalCommandExecuted{
		CommandID: c.ID, CommandLine: c.Line, Timestamp: c.Timestamp, By: c.By,
		Cwd: c.Cwd,
	}
}

// Finished returns the action by which the command, which is over, ended.
func (c *Command) Finished() ahp.TerminalCommandFinished {
	return ahp.TerminalCommandFinished{
		CommandID: c.ID, ExitCode: c.ExitCode, DurationMs: c.DurationMs,
	}
}

// Apply brings the outline up to an action at a time. ev has what the action itself does not say.
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
			o.Holder, o.Loans = *ev.Holder, ev.Loans
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
		}
	case ahp.TerminalCleared:
		if o.Last != nil && o.Last.Over {
			o.Last = nil
		}
	}
}
