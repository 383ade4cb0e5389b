package notify

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"termhost/ahp/host"
)

// message is what a target is told.
type message struct {
	Title  string
	Body   string
	URL    string // opens the page once; "": there is no link. It is secret.
	Urgent bool   // somebody waits
	Items  []item
}

// item is a reason for which a terminal wants somebody; in a webhook's JSON it is an element of
// "terminals".
type item struct {
	Terminal string            `json:"terminal"`
	Labels   map[string]string `json:"labels,omitempty"`
	Group    string            `json:"group,omitempty"`
	Person   string            `json:"person"`
	Why      string            `json:"why"`
	Since    time.Time         `json:"since"`
	ExitCode *int              `json:"exitCode,omitempty"`
	Text     string            `json:"text,omitempty"`
}

// maxNamed is how many reasons a message has lines for.
const maxNamed = 5

// newMessage returns a message about one terminal or several, of each the most pressing reason
// first. hostname is the machine's; "": it is left out. text: with what programs have said. A
// repository and its branch count as such, for a program says which directory is its own.
func newMessage(list []host.Unseen, hostname string, text bool, now time.Time) message {
	m := message{Title: words(&list[0])}
	terminals := map[string]bool{}
	var lines []string
	for i := range list {
		u := &list[i]
		first := !terminals[u.ID]
		terminals[u.ID] = true
		if !first && u.Why == host.WantBell { // it says nothing more
			continue
		}
		is, line := newItem(u, text)
		m.Items = append(m.Items, is)
		if waited := now.Sub(u.Since).Round(time.Second); waited >= time.Second {
			line += ", for " + waited.String()
		}
		lines = append(lines, line)
		switch is.Why {
		case "input", "secret", "approval":
			m.Urgent = true
		}
	}
	if n := len(terminals); n > 1 {
		m.Title = fmt.Sprintf("%d terminals want you", n)
	}
	if n := len(lines); n > maxNamed {
		lines = append(lines[:maxNamed], fmt.Sprintf("and %d more", n-maxNamed))
	}
	if hostname != "" {
		lines = append(lines, "on "+hostname)
	}
	m.Body = strings.Join(lines, "\n")
	return m
}

// newItem returns what a message has of one reason, and the line for it.
func newItem(u *host.Unseen, text bool) (is item, line string) {
	is = item{Terminal: u.Terminal, Labels: u.Labels.Map(), Person: u.Person, Why: reasonOf(u),
		Since: u.Since.UTC().Truncate(time.Second), ExitCode: u.ExitCode}
	is.Group, _ = u.Labels.Get("group")
	line = words(u)
	about := u.Labels.String()
	if text {
		is.Text, is.Group = u.Text, u.Group
		about = cmp.Or(about, u.Group)
	}
	if is.Text != "" {
		line += ": " + is.Text
	}
	if about != "" {
		line += " (" + about + ")"
	}
	return is, line
}

// words says what a terminal wants.
func words(u *host.Unseen) string {
	switch u.Why {
	case host.Want(host.WaitingInput):
		return u.Terminal + " waits for input"
	case host.Want(host.WaitingSecret):
		return u.Terminal + " waits for a secret"
	case host.Want(host.WaitingApproval):
		return u.Terminal + " waits for an approval"
	case host.WantFailed:
		return u.Terminal + " has failed"
	case host.WantDone, host.WantCommand:
		return u.Terminal + " is done"
	case host.WantExited:
		switch {
		case u.ExitCode == nil:
			return u.Terminal + " has ended; its status is not known"
		case u.Failed:
			return fmt.Sprintf("%s has exited with status %d", u.Terminal, *u.ExitCode)
		}
		return u.Terminal + " has exited"
	case host.WantKeyboard:
		return "somebody asks for the keyboard of " + u.Terminal
	case host.WantQuiet:
		return u.Terminal + " is quiet"
	}
	return u.Terminal + " rang"
}
