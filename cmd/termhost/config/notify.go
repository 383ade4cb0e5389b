package config

import (
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"termhost/cmd/termhost/notify"
)

// Notify is one [[notify]] entry: where people who are away are told that a terminal wants them.
type Notify struct {
	Principal  string   `toml:"principal"` // whose terminals; "": everybody's
	Command    []string `toml:"command"`
	Webhook    string   `toml:"webhook"`
	SecretFile string   `toml:"secret_file"` // of the webhook
	Ntfy       string   `toml:"ntfy"`
	Gotify     string   `toml:"gotify"`
	TokenFile  string   `toml:"token_file"` // of ntfy or Gotify
	After      Duration `toml:"after"`      // 0: defaultNotifyAfter
	When       []string `toml:"when"`       // none: notify.DefaultReasons
	QuietHours string   `toml:"quiet_hours"`
	Text       bool     `toml:"text"`
	URL        string   `toml:"url"` // of the page, for links; "": none
}

const (
	defaultNotifyAfter = Duration(30 * time.Second)
	minNotifyAfter     = Duration(time.Second)
	maxNotifyAfter     = Duration(24 * time.Hour)
	maxNotifies        = 64 // each has a goroutine
)

// Target returns the entry for the notifier. Its hours have been checked.
func (n *Notify) Target() notify.Target {
	t := notify.Target{Principal: n.Principal, Command: n.Command, Webhook: n.Webhook, Ntfy: n.Ntfy,
		Gotify: n.Gotify, SecretFile: n.SecretFile, TokenFile: n.TokenFile,
		After: time.Duration(n.After), When: n.When, Text: n.Text, URL: n.URL}
	if n.After == 0 {
		t.After = time.Duration(defaultNotifyAfter)
	}
	if len(n.When) == 0 {
		t.When = notify.DefaultReasons()
	}
	t.Quiet, _ = notify.ParseHours(n.QuietHours)
	return t
}

func (c *Config) checkNotify(r *report) {
	if len(c.Notify) > maxNotifies {
		r.add("notify", "there are more than %d of them", maxNotifies)
	}
	for i := range c.Notify {
		n, at := &c.Notify[i], indexKey("notify", i)
		t := n.Target()
		if err := t.Check(); err != nil {
			r.add(at, "%v", err)
		} else if n.URL != "" && !c.HTTP.answersAt(n.URL) {
			r.add(at+".url", "%q: the page would be refused there: add its host to "+
				"http.allowed_hosts, or its origin to http.allowed_origins", n.URL)
		}
		zeroOrWithin(r, at+".after", n.After, minNotifyAfter, maxNotifyAfter)
		if _, err := notify.ParseHours(n.QuietHours); err != nil {
			r.add(at+".quiet_hours", "%q: %v", n.QuietHours, err)
		}
	}
}

// answersAt reports whether the HTTP door lets in a page at that address, which is a URL.
func (h *HTTP) answersAt(page string) bool {
	u, err := url.Parse(strings.ToLower(page))
	if err != nil {
		return false
	}
	names := []string{u.Host, u.Hostname()}
	listens, _, _ := net.SplitHostPort(strings.ToLower(h.Listen))
	same := func(name string) bool { return slices.Contains(names, strings.ToLower(name)) }
	return u.Hostname() == listens || IsLoopback(net.JoinHostPort(u.Hostname(), "0")) ||
		slices.ContainsFunc(h.AllowedHosts, same) ||
		slices.ContainsFunc(h.AllowedOrigins, func(origin string) bool {
			return strings.ToLower(origin) == u.Scheme+"://"+u.Host
		})
}
