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

// item is a terminal that wants somebody; in a webhook's JSON it is an element of "terminals".
type item struct {
	Terminal string            `json:"terminal"`
	Labels   map[string]string `json:"labels,omitempty"`
	Group    string            `json:"group,omitempty"`
	Person   string            `json:"person"`
	Why      string            `json:"why"`
	Since    time.Time         `json:"since"`
	Text     string            `json:"text,omitempty"`
}

// maxNamed is how many terminals a message names.
const maxNamed = 5

// newMessage returns a message about one terminal or several. hostname is the machine's; "": it is
// left out.
func newMessage(list []host.Unseen, hostname string, text bool, now time.Time) message {
	m := message{}
	var lines []string
	for i := range list {
		u := &list[i]
		is := item{Terminal: u.Terminal, Labels: u.Labels.Map(), Group: u.Group, Person: u.Person,
			Why: reasons[u.Why], Since: u.Since.UTC().Truncate(time.Second)}
		line := words(u)
		if text && u.Text != "" {
			is.Text = u.Text
			line += ": " + u.Text
		}
		m.Items = append(m.Items, is)
		if about := cmp.Or(u.Labels.String(), u.Group); about != "" {
			line += " (" + about + ")"
		}
		if waited := now.Sub(u.Since).Round(time.Second); waited >= time.Second {
			line += ", for " + waited.String()
		}
		if i < maxNamed {
			lines = append(lines, line)
		}
		switch is.Why {
		case "input", "secret", "approval":
			m.Urgent = true
		}
	}
	m.Title = words(&list[0])
	if n := len(list); n > 1 {
		m.Title = fmt.Sprintf("%d terminals want you", n)
		if n > maxNamed {
			lines = append(lines, fmt.Sprintf("and %d more", n-maxNamed))
		}
	}
	if hostname != "" {
		lines = append(lines, "on "+hostname)
	}
	m.Body = strings.Join(lines, "\n")
	return m
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
		return u.Terminal + " has exited"
	case host.WantKeyboard:
		return "somebody asks for the keyboard of " + u.Terminal
	case host.WantQuiet:
		return u.Terminal + " is quiet"
	}
	return u.Terminal + " rang"
}
