package mcp

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"termhost/ahp/visible"
)

// Header is the first line of a result: which terminal, how it is, and where the next read begins.
//
//	[t7 exited 1 · 2.1s · 14 lines · cursor 14]
type Header struct {
	Name   string
	State  string        // see Running and the functions beside it
	Time   time.Duration // that the command has taken, or since when it runs
	Lines  int           // that there are for this result, omitted ones included
	Cursor int64         // for the next terminal_read
}

// Running is the state of a program that goes on.
const Running = "running"

// Exited is the state of a program that has ended, with its exit status, which is 128 and the
// signal's number for one that a signal has killed.
func Exited(status int, signal string) string {
	if signal == "" {
		return "exited " + strconv.Itoa(status)
	}
	return fmt.Sprintf("exited %d (%s)", status, signal)
}

// WaitingForInput is the state of a program that waits at a prompt.
func WaitingForInput(prompt string) string {
	const most = 200 // bytes of the prompt
	prompt = strings.ReplaceAll(visible.Clean(prompt), "\t", " ")
	if len(prompt) > most {
		prompt = visible.Clean(strings.ToValidUTF8(prompt[len(prompt)-most:], ""))
	}
	return waitingForInput + strconv.Quote(prompt)
}

const (
	waitingForInput = "waiting for input: "
	heldBy          = "held by "
)

// The states of a terminal that waits for a person.
const (
	WaitingForSecret   = "waiting for a secret"
	WaitingForApproval = "waiting for approval"
)

// HeldBy is the state of a terminal whose keyboard a person has.
func HeldBy(who string, since time.Time) string {
	if since.IsZero() {
		return heldBy + who
	}
	return fmt.Sprintf(heldBy+"%s since %s", who, since.UTC().Format("15:04:05Z"))
}

// Gone is the state of a terminal that is no more.
const Gone = "gone"

// String returns the line, without a line feed.
func (h Header) String() string {
	unit := "lines"
	if h.Lines == 1 {
		unit = "line"
	}
	return fmt.Sprintf("[%s %s · %s · %d %s · cursor %d]", h.Name, h.State, duration(h.Time),
		h.Lines, unit, h.Cursor)
}

// duration writes a time with as many digits as people read: 240ms, 2.1s, 4m12s, 3h5m.
func duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d < time.Hour:
		return d.Round(time.Second).String()
	default:
		return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
	}
}

func milliseconds(ms int64) string { return duration(time.Duration(ms) * time.Millisecond) }
