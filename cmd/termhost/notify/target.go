package notify

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"termhost/ahp/host"
)

// Target is one [[notify]] entry of the configuration.
type Target struct {
	Principal string // whose terminals; "": everybody's
	// One of these is set.
	Command []string
	Webhook string
	Ntfy    string // the URL of a topic
	Gotify  string // the URL of a server
	// URL is where a phone finds the page: each message gets a link to it; "": none does.
	URL string

	// SecretFile has what signs a webhook's requests, TokenFile the token of ntfy or of Gotify.
	SecretFile, TokenFile string

	After time.Duration // how long something is unseen before it is sent
	When  []string      // which reasons count, as in Reasons
	Quiet Hours         // when nothing is sent
	Text  bool          // what programs print is sent, too
}

// Reasons returns what a target may be told of.
func Reasons() []string {
	return []string{"input", "secret", "approval", "failed", "done", "bell", "quiet"}
}

// DefaultReasons returns what a target is told of unless it says otherwise.
func DefaultReasons() []string {
	return []string{"input", "secret", "approval", "failed", "done", "bell"}
}

// reasons are the host's reasons, by the configuration's. A notification counts as a bell, and the
// end of a long command or of the program as done, but see reasonOf.
var reasons = map[host.Want]string{
	host.Want(host.WaitingInput): "input", host.Want(host.WaitingSecret): "secret",
	host.Want(host.WaitingApproval): "approval", host.WantFailed: "failed", host.WantDone: "done",
	host.WantCommand: "done", host.WantExited: "done", host.WantBell: "bell",
	host.WantNotice: "bell", host.WantKeyboard: "input", host.WantQuiet: "quiet",
}

// reasonOf returns the configuration's reason for something.
func reasonOf(u *host.Unseen) string {
	if u.Why == host.WantExited && u.Failed {
		return "failed"
	}
	return reasons[u.Why]
}

// wants reports whether something is for the target.
func (t *Target) wants(u *host.Unseen) bool {
	return (t.Principal == "" || t.Principal == u.Person) &&
		slices.Contains(t.When, reasonOf(u))
}

// String names the target for people and logs, without what may be secret in it.
func (t *Target) String() string {
	kind, address := t.kind()
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		address = u.Host
	}
	return kind + " " + address
}

func (t *Target) kind() (kind, address string) {
	switch {
	case len(t.Command) > 0:
		return "command", t.Command[0]
	case t.Webhook != "":
		return "webhook", t.Webhook
	case t.Ntfy != "":
		return "ntfy", t.Ntfy
	}
	return "gotify", t.Gotify
}

// Check returns what is wrong with a target; nil: nothing.
func (t *Target) Check() error {
	ways := 0
	for _, way := range []bool{
		len(t.Command) > 0, t.Webhook != "", t.Ntfy != "", t.Gotify != "",
	} {
		if way {
			ways++
		}
	}
	if ways != 1 {
		return errors.New("needs one of command, webhook, ntfy and gotify")
	}
	kind, address := t.kind()
	if kind != "command" {
		u, err := url.Parse(address)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return fmt.Errorf("%s must be an http or https URL", kind)
		}
	}
	if err := t.checkURL(); err != nil {
		return err
	}
	switch {
	case t.SecretFile != "" && kind != "webhook":
		return errors.New("secret_file is for a webhook")
	case t.TokenFile != "" && kind != "ntfy" && kind != "gotify":
		return errors.New("token_file is for ntfy and gotify")
	case t.TokenFile == "" && kind == "gotify":
		return errors.New("gotify needs the token of an application, in token_file")
	}
	for _, when := range t.When {
		if !slices.Contains(Reasons(), when) {
			return fmt.Errorf("when has %q, which is none of %s", when,
				strings.Join(Reasons(), ", "))
		}
	}
	return nil
}

// checkURL returns what is wrong with the page's address; nil: nothing.
func (t *Target) checkURL() error {
	if t.URL == "" {
		return nil
	}
	u, err := url.Parse(t.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil ||
		u.RawQuery != "" || u.Fragment != "" {
		return errors.New("url must be the page's address, https://HOST/, with a path if a proxy " +
			"has one")
	}
	ip := net.ParseIP(u.Hostname())
	if u.Scheme == "http" && u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return errors.New("url must begin with https: browsers give other pages no keys")
	}
	if t.Principal == "" {
		return errors.New("url needs a principal: a link lets whoever opens it act as that person")
	}
	return nil
}

// Hours are a part of each day, by the clock of the host's machine. The zero Hours are none.
type Hours struct{ From, To time.Duration } // since midnight; To may be before From

// ParseHours parses "22:00-07:00"; "": none.
func ParseHours(text string) (h Hours, err error) {
	if text == "" {
		return h, nil
	}
	from, to, _ := strings.Cut(text, "-")
	if h.From, err = clock(from); err == nil {
		h.To, err = clock(to)
	}
	if err != nil || h.From == h.To {
		return Hours{}, errors.New(`hours are written as "22:00-07:00"`)
	}
	return h, nil
}

func clock(text string) (time.Duration, error) {
	at, err := time.Parse("15:04", strings.TrimSpace(text))
	if err != nil {
		return 0, err
	}
	return time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute, nil
}

// has reports whether a time is within the hours.
func (h Hours) has(now time.Time) bool {
	if h.From == h.To {
		return false
	}
	hour, minute, second := now.Clock()
	at := time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute +
		time.Duration(second)*time.Second
	if h.From < h.To {
		return at >= h.From && at < h.To
	}
	return at >= h.From || at < h.To
}
