package host

import (
	"net/url"
	"slices"
	"strings"

	"termhost/authz"
	"termhost/keys"
)

// MintToken makes a bearer token for g's key. The secret is returned once and kept nowhere. Errors
// are those of [authz.Authority.MintToken].
func (c *Conn) MintToken(g authz.Grant, r authz.TokenRequest) (
	secret string, token keys.Token, err error,
) {
	return c.host.cfg().Authority.MintToken(g, r)
}

// RevokeToken ends a token of g's key, and what is connected with it. Errors are those of
// [authz.Authority.RevokeToken].
func (c *Conn) RevokeToken(g authz.Grant, name string) error {
	return c.host.cfg().Authority.RevokeToken(g, name)
}

// PageRequest is what a web page is asked for with.
type PageRequest struct {
	// URL is where the browser finds this host; "": where the host itself listens.
	URL string
	// Role is the page's; NoRole: operator, or the asker's own role if that is lower.
	Role authz.Role
	// Terminals are the NAMEs that the page shows first.
	Terminals []string
}

// OpenPage returns a URL with a ticket: the page that is opened with it, once and soon, gets in as
// g's. Errors are *PageURLError and those of [authz.Authority.OpenPage].
func (c *Conn) OpenPage(g authz.Grant, r PageRequest) (string, error) {
	h := c.host
	u, err := h.pageURL(r.URL)
	if err != nil {
		return "", err
	}
	origin := u.Scheme + "://" + u.Host
	ticket, err := h.cfg().Authority.OpenPage(g, r.Role, origin)
	if err != nil {
		return "", err
	}
	h.auditLog.Info(authz.AuditPage, append([]any{"who", g.Principal.Name, "origin", origin},
		g.From.Attrs(g.Principal)...)...)
	return c.pageLink(u, ticket, r.Terminals), nil
}

// PageAddress returns where a browser finds the page, as [PageRequest] has it, or a *PageURLError.
func (c *Conn) PageAddress(base string) (*url.URL, error) { return c.host.pageURL(base) }

// GuestPage returns the URL that a guest opens who comes with a browser: the page at an address of
// PageAddress, and secret is the invitation's.
func (c *Conn) GuestPage(u *url.URL, secret string, terminals []string) string {
	return c.pageLink(u, c.host.cfg().Authority.GuestTicket(secret), terminals)
}

func (h *Host) pageURL(base string) (*url.URL, error) {
	if base == "" {
		base = h.cfg().PageURL
	}
	if base == "" {
		return nil, &PageURLError{"this host has no HTTP port of its own: name the address of a " +
			"forwarded one with --url, or use termhost page"}
	}
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil ||
		u.RawQuery != "" || u.Fragment != "" {
		return nil, &PageURLError{"the URL must be http://HOST:PORT/ or https://HOST/, " +
			"with a path if a proxy has one"}
	}
	if !strings.HasSuffix(u.Path, "/") {
		u.Path += "/"
	}
	u.Host = withoutDefaultPort(u)
	return u, nil
}

// pageLink returns the URL that opens the page with a ticket, and shows some terminals.
func (c *Conn) pageLink(u *url.URL, ticket string, terminals []string) string {
	text := u.String() + "#t=" + ticket // what follows the # is never sent to a server
	if len(terminals) == 0 {
		return text
	}
	names := slices.Clone(terminals)
	for i, name := range names { // a page knows terminals by their URIs
		if t, err := c.Find(name); err == nil {
			names[i] = t.ID()
		}
	}
	return text + "&/" + url.PathEscape(strings.Join(names, ","))
}

// withoutDefaultPort returns a URL's host as browsers write it into the Origin header.
func withoutDefaultPort(u *url.URL) string {
	name := strings.ToLower(u.Host)
	port := u.Port()
	if u.Scheme == "http" && port == "80" || u.Scheme == "https" && port == "443" {
		return strings.TrimSuffix(name, ":"+port)
	}
	return name
}

// PageURLError says why no page can be opened at an address. Its text may be shown to the peer.
type PageURLError struct{ Reason string }

func (e *PageURLError) Error() string { return e.Reason }

// Tokens returns the live tokens of g's key, the oldest first. It returns *authz.Denied if g may
// not list them.
func (c *Conn) Tokens(g authz.Grant) ([]keys.Token, error) {
	return c.host.cfg().Authority.ListTokens(g)
}
