package sshd

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"termhost/ahp"
	"termhost/ahp/host"
)

// listed is a terminal as `ls --json` shows it.
type listed struct {
	Name      string    `json:"name"`
	URI       string    `json:"uri"`
	Title     string    `json:"title"`
	State     string    `json:"state"`
	ExitCode  *int      `json:"exitCode,omitempty"`
	Executor  string    `json:"executor"`
	Claim     ahp.Claim `json:"claim"`
	Cols      int       `json:"cols"`
	Rows      int       `json:"rows"`
	Viewers   int       `json:"viewers"`
	CreatedAt time.Time `json:"createdAt"`
}

// The two states of a terminal in `ls`.
const (
	stateRunning = "running"
	stateExited  = "exited"
)

func runList(v *invocation) int {
	fs := v.flags()
	asJSON := fs.Bool("json", false, "")
	if _, status, done := v.parse(fs, 0, 0); done {
		return status
	}
	list, err := v.host().List(v.principal())
	if err != nil {
		return v.failed(err)
	}
	if *asJSON {
		return v.printJSON(listJSON(list))
	}
	if len(list) == 0 {
		fmt.Fprintln(v.stderr, "no terminals; `ssh HOST` makes one")
		return statusOK
	}
	rows := [][]string{{"NAME", "STATE", "CLAIM", "SIZE", "EXECUTOR", "VIEWERS", "AGE", "TITLE"}}
	width := 0
	if v.s.pty != nil {
		width = v.s.size().cols
	}
	now := v.s.c.srv.cfg.Now()
	for _, t := range list {
		rows = append(rows, listRow(t, now, width == 0 || width >= wideTable))
	}
	writeTable(v.stdout, rows, width)
	return statusOK
}

func listJSON(list []host.Info) []listed {
	out := make([]listed, len(list))
	for i, t := range list {
		out[i] = listed{Name: t.Name, URI: t.URI, Title: host.Printable(t.Title), State: stateRunning,
			Executor: executorOf(t), Claim: t.Claim, Cols: t.Cols, Rows: t.Rows, Viewers: t.Viewers,
			CreatedAt: t.Created.UTC()}
		if t.Exited {
			out[i].State = stateExited
			out[i].ExitCode = t.ExitCode
		}
	}
	return out
}

// codeText shows the exit code of what has exited.
func codeText(code *int) string {
	if code == nil {
		return "?"
	}
	return strconv.Itoa(*code)
}

func executorOf(t host.Info) string {
	if t.Client {
		return ahp.ExecutorClient
	}
	return ahp.ExecutorServer
}

// maxSession is how much of an agent session's URI is in the table, in cells:
// enough to tell the sessions of one agent apart. --json has all of it.
const maxSession = 32

// wideTable is how many cells a line must have for an agent's session to be in
// the table besides its name: in fewer it would leave no room for the titles.
const wideTable = 120

// listRow returns t's row of the table; wide: with an agent's session.
func listRow(t host.Info, now time.Time, wide bool) []string {
	state := stateRunning
	if t.Exited {
		state = stateExited + " " + codeText(t.ExitCode)
	}
	claim := t.Holder
	switch {
	case t.Agent != "" && !wide:
		claim = t.Agent
	case t.Claim.Kind == ahp.ClaimSession:
		claim = strings.TrimSpace(t.Agent + " " + ansi.Truncate(t.Claim.Session, maxSession, "…"))
	case t.Mine:
		claim = "you"
	case claim == "":
		claim = t.Claim.Holder()
	}
	title := t.Title
	if t.LastCommand != "" && t.LastCommand != title {
		title += ": " + t.LastCommand
	}
	return []string{t.Name, state, claim, fmt.Sprintf("%dx%d", t.Cols, t.Rows), executorOf(t),
		strconv.Itoa(t.Viewers), age(now.Sub(t.Created)), title}
}

// age writes a duration with its largest unit.
func age(d time.Duration) string {
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

// writeTable aligns the columns. Whatever the cells hold, nothing in them acts
// on a terminal. Lines are cut at width, if it is not 0.
func writeTable(w io.Writer, rows [][]string, width int) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i := range row {
			row[i] = host.Printable(row[i])
			widths[i] = max(widths[i], ansi.StringWidth(row[i]))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		var l strings.Builder
		for i, cell := range row {
			l.WriteString(cell)
			if i < len(row)-1 {
				l.WriteString(strings.Repeat(" ", widths[i]-ansi.StringWidth(cell)+2))
			}
		}
		text := strings.TrimRight(l.String(), " ")
		if width > 0 {
			text = ansi.Truncate(text, width, "")
		}
		b.WriteString(text + "\n")
	}
	io.WriteString(w, b.String())
}

// printJSON writes a value as indented JSON.
func (v *invocation) printJSON(value any) int {
	b, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return v.failed(err)
	}
	if _, err := v.stdout.Write(append(b, '\n')); err != nil {
		return statusFailed
	}
	return statusOK
}
