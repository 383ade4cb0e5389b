package host

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"termhost/ahp"
	"termhost/authz"
	"termhost/ptypool/vt/width"
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
	Claim     ahp.Claim `json:"claim"`
	Cols      int       `json:"cols"`
	Rows      int       `json:"rows"`
	Viewers   int       `json:"viewers"`
	CreatedAt time.Time `json:"createdAt"` // in UTC
	IsPty     bool      `json:"isPty"`     // it shows a terminal's output, not a plain stream
	Waiting   Waiting   `json:"waiting,omitempty"`
	Guarded   bool      `json:"guarded"` // what agents type waits for a person's approval

	Recording bool `json:"recording"` // what it shows is recorded

	WantsYou bool `json:"wantsYou"` // the principal that asked: see Wanting

	// NotKept is why what it prints is not kept on disk at the moment; "": it is, or need not be.
	NotKept string `json:"notKept,omitempty"`
	// Ended is why the terminal ended, if its program did not exit by itself: see
	// [Terminal.EndedBy].
	Ended string `json:"ended,omitempty"`

	LastCommand *Command `json:"lastCommand,omitempty"` // nil: none is retained

	Holder string `json:"-"` // the name of the principal that holds it, and of its agent
	Agent  string `json:"-"` // what the holding agent calls itself; "": it has not said
	Mine   bool   `json:"-"` // held by the principal that asked
	Cwd    string `json:"-"`
}

// List returns the terminals, oldest first, as p sees them. It returns *authz.Denied if p may not
// list.
func (h *Host) List(p authz.Principal) ([]Info, error) {
	if err := authz.Check(p, authz.List, authz.Target{}); err != nil {
		return nil, err
	}
	h.mu.Lock()
	order := h.visibleLocked(p)
	h.mu.Unlock()
	list := make([]Info, len(order))
	for i, t := range order {
		list[i] = t.Info(p)
	}
	return list, nil
}

// Info returns t as p sees it in listings.
func (t *Terminal) Info(p authz.Principal) Info {
	t.term.Lock()
	s := t.ch.Summary()
	holder, viewers := t.holder, s.Readers
	_, wanted := t.wants(p)
	recording := t.tape != nil
	if t.streams != nil {
		viewers++
	}
	t.term.Unlock()
	info := Info{
		Name: t.name, URI: t.uri, Title: s.Title, State: StateRunning, Executor: ahp.ExecutorServer,
		Claim: s.Claim, Cols: s.Cols, Rows: s.Rows, Viewers: viewers, CreatedAt: t.created.UTC(),
		IsPty: t.exec.isPty(), Waiting: Waiting(s.Termhost.Waiting), Guarded: s.Termhost.Guarded,
		WantsYou: wanted, Recording: recording,
		Holder: Printable(holder.name), Agent: Printable(holder.agent),
		Mine: holder.principal == p.ID,
		Cwd:  Printable(s.Cwd),
	}
	if s.LastCommand != nil {
		info.LastCommand = NewCommand(s.LastCommand)
	}
	info.NotKept = t.journal.notKept()
	if s.Client {
		info.Executor = ahp.ExecutorClient
	}
	if s.Exited {
		info.State, info.ExitCode, info.Ended = StateExited, s.ExitCode, Printable(t.EndedBy())
	}
	return info
}

// Table returns the listing for people: a row of column names, then one for each terminal. wide has
// room for the URIs of agent sessions.
func (h *Host) Table(list []Info, wide bool) [][]string {
	now := h.now()
	rows := make([][]string, 1, 1+len(list))
	rows[0] = []string{"NAME", "STATE", "CLAIM", "SIZE", "EXECUTOR", "VIEWERS", "AGE", "TITLE"}
	for _, i := range list {
		rows = append(rows, []string{i.Name, i.markedState(), i.HolderText(wide),
			fmt.Sprintf("%dx%d", i.Cols, i.Rows), i.Executor, strconv.Itoa(i.Viewers),
			Age(now.Sub(i.CreatedAt)), i.TitleText()})
	}
	return rows
}

// StateText returns the state for people: "running", "waits" or "waits: secret" where a person has
// to do something, and of an exited terminal its exit code: "exited 1", or "exited ?". Of one that
// is not kept on disk it says why: "running (disk full)".
func (i Info) StateText() string {
	switch {
	case i.State == StateExited:
		return i.State + " " + codeText(i.ExitCode)
	case i.Waiting == WaitingInput:
		return "waits"
	case i.Waiting != WaitingNone:
		return "waits: " + string(i.Waiting)
	}
	if i.NotKept != "" {
		return i.State + " (" + i.NotKept + ")"
	}
	return i.State
}

// markedState is StateText with what holds for a terminal that runs, "running (recorded, guarded)",
// and a mark if it wants the one who asks.
func (i Info) markedState() string {
	text := i.StateText()
	if i.State == StateRunning {
		var is []string
		if i.Recording {
			is = append(is, "recorded")
		}
		if i.Guarded {
			is = append(is, "guarded")
		}
		if len(is) > 0 {
			text += " (" + strings.Join(is, ", ") + ")"
		}
	}
	if i.WantsYou {
		text += " !"
	}
	return text
}

// codeText shows an exit code.
func codeText(code *int) string {
	if code == nil {
		return "?"
	}
	return strconv.Itoa(*code)
}

// maxSession is how much of an agent session's URI is shown, in cells: enough to tell the sessions
// of one agent apart.
const maxSession = 32

// HolderText returns who holds the terminal; wide: an agent with its session's URI.
func (i Info) HolderText(wide bool) string {
	switch {
	case i.Agent != "" && !wide:
		return i.Agent
	case i.Claim.Kind == ahp.ClaimSession:
		session := width.Cut(Printable(i.Claim.Session), maxSession, "…")
		return strings.TrimSpace(i.Agent + " " + session)
	case i.Mine:
		return "you"
	case i.Holder == "":
		return Printable(i.Claim.Holder())
	}
	return i.Holder
}

// TitleText returns the title, the last command where the title does not name it, and why the
// terminal ended if its program did not exit by itself.
func (i Info) TitleText() string {
	text := i.Title
	if i.LastCommand != nil {
		if line := i.LastCommand.LineText(); line != "" && line != text {
			text += ": " + line
		}
	}
	if i.State == StateExited && i.Ended != "" {
		text += " (ended " + i.Ended + ")"
	}
	return text
}

// Age writes a duration in its largest unit.
func Age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", max(0, int(d.Seconds())))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}
