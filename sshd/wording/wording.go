// Package wording has the words in which people read of terminals, alike in the tables of package
// verbs and on the screens of package viewer. It decides nothing and prints nothing.
package wording

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"termhost/ahp"
	"termhost/ahp/age"
	"termhost/ahp/host"
	"termhost/ptypool/vt/width"
)

// State returns a terminal's state: "running", or as its program says "running: done"; "waits" or
// "waits: secret" where a person has to do something; and of an exited terminal its exit code:
// "exited 1", or "exited ?". What else holds stands behind it:
// "running (disk full, recorded, guarded)", "exited 1 (log damaged)".
func State(i host.Info) string {
	text := i.State
	var is []string
	if i.LogDamaged {
		is = append(is, "log damaged")
	}
	switch {
	case i.State == host.StateExited:
		text += " " + ExitCode(i.ExitCode)
		i.NotKept, i.Stopped, i.Recording, i.Guarded = "", false, false, false
	case i.Waiting == host.WaitingInput:
		text = "waits"
	case i.Waiting != host.WaitingNone:
		text = "waits: " + string(i.Waiting)
	case i.Status.State != host.StatusNone && i.Status.State != host.StatusWaiting: // answered
		text += ": " + string(i.Status.State)
	}
	if i.NotKept != "" {
		is = append(is, i.NotKept)
	}
	if !i.AwaySince.IsZero() {
		is = append(is, "away since "+Clock(i.AwaySince))
	}
	if i.Stopped {
		is = append(is, host.StoppedText(i.StoppedBy))
	}
	if i.Quiet {
		is = append(is, "quiet")
	}
	if len(i.AskedBy) > 0 {
		is = append(is, i.AskedBy[0]+" asks for the keyboard")
	}
	if i.Recording {
		is = append(is, "recorded")
	}
	switch {
	case i.Guarded && i.GuardedWhy != "":
		is = append(is, "guarded: "+i.GuardedWhy)
	case i.Guarded:
		is = append(is, "guarded")
	}
	if len(is) > 0 {
		text += " (" + strings.Join(is, ", ") + ")"
	}
	return text
}

// ExitCode returns an exit code, or "?" for nil: nobody knows it.
func ExitCode(code *int) string {
	if code == nil {
		return "?"
	}
	return strconv.Itoa(*code)
}

// maxSession is how much of an agent session's URI is shown, in cells: enough to tell the sessions
// of one agent apart.
const maxSession = 32

// Holder returns who holds a terminal; wide: an agent with its session's URI.
func Holder(i host.Info, wide bool) string {
	switch {
	case i.Mine:
		return "you"
	case i.Claim.Kind == ahp.ClaimSession && wide:
		session := width.Cut(host.Printable(i.Claim.Session), maxSession, "…")
		return i.Holder + " " + session
	}
	return i.Holder
}

// Title returns a terminal's title, with why it ended if its program did not exit by itself, or
// what its program says.
func Title(i host.Info) string {
	says := Says(i)
	switch {
	case i.State == host.StateExited && i.Ended != "":
		return i.Title + " (ended " + i.Ended + ")"
	case says != "" && says != i.Title:
		return i.Title + ": " + says
	}
	return i.Title
}

// Says returns the words of a terminal's program: its question, also with its status; "": none.
func Says(i host.Info) string {
	asks := i.Waiting == host.WaitingInput || i.Waiting == host.WaitingSecret
	s := i.Status
	switch {
	case i.Notice == "":
		return s.Text
	case asks && s.Text != "" && s.Text != i.Notice && s.State != host.StatusWaiting:
		return i.Notice + " (" + string(s.State) + ": " + s.Text + ")"
	}
	return i.Notice
}

// About returns a terminal's title with what runs there, where the title does not name it.
func About(i host.Info) string {
	text := Title(i)
	if line := Runs(i); line != "" && line != i.Title {
		text += ": " + line
	}
	return text
}

// Runs returns the line of the last command or, where no shell tells of any, of the terminal's
// program; "": nothing is known.
func Runs(i host.Info) string {
	if i.LastCommand != nil {
		return i.LastCommand.LineText()
	}
	return i.Program
}

// Folder returns the working directory as a prompt does, from the home directory on; "": unknown.
func Folder(i host.Info) string {
	rest, inside := strings.CutPrefix(i.Cwd, i.Home)
	if inside && len(i.Home) > 1 && (rest == "" || rest[0] == '/') {
		return "~" + rest
	}
	return i.Cwd
}

// Clock returns a time of the last day, by the clock of the host's machine.
func Clock(at time.Time) string { return at.Local().Format("15:04:05") }

// Age returns a duration in its largest unit: "41s", "2d".
func Age(d time.Duration) string { return age.Text(d) }

// Counted returns a number with a noun: "1 line", "2 lines".
func Counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
