package page

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"termhost/ahp/ws"
	"termhost/authz"
	"termhost/keys"
)

// Authority lets pages in; it is *authz.Authority.
type Authority interface {
	// EnterPage exchanges a ticket for a token of a browser's key.
	EnterPage(ticket, origin string, browser []byte, remote net.Addr) (string, keys.Token, error)
	// PageHostKey returns the key with which the host proves itself to the page.
	PageHostKey() []byte
	// ProveHost signs the answer to a page.
	ProveHost(proof authz.PageProof, status int, reason string) string
	// PageChallenge returns what a page signs when it connects.
	PageChallenge() string
	// AuthenticatePage checks whether a page may connect.
	AuthenticatePage(secret string, proof authz.PageProof, remote net.Addr) (authz.Grant, error)
}

// Config is what the routes are made from.
type Config struct {
	Authority Authority
	// Room returns why a page gets no WebSocket now, as a *ws.Refusal; nil: it would get one.
	Room    func(authz.Grant, ws.Peer) error
	AHPPath string // where the WebSocket is: "/ahp"
	Log     *slog.Logger
}

// Routes returns the page's rows of the HTTP door's table.
func Routes(cfg Config) []ws.Route {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	d := &door{cfg}
	return []ws.Route{
		{Path: "/", Access: ws.Public, Handle: d.file},
		{Path: "/page/challenge", Access: ws.Anyone, Handle: d.challenge},
		{Path: "/page/enter", Methods: []string{http.MethodPost}, Access: ws.Anyone,
			Handle: d.enter},
		{Path: "/page/check", Methods: []string{http.MethodPost}, Access: ws.Anyone,
			Handle: d.check},
	}
}

type door struct{ Config }

// policy restricts the page's documents (CSP level 3): they load from and connect to this host
// only. Styles are in files or made through the CSSOM.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
	"connect-src 'self'; manifest-src 'self'; font-src 'self'; frame-ancestors 'none'; " +
	"base-uri 'none'; form-action 'none'; " +
	"require-trusted-types-for 'script'; trusted-types 'none'"

// SetHeaders sets the headers that all answers to a browser have.
func SetHeaders(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// file answers with a file of the page.
func (d *door) file(w http.ResponseWriter, r *http.Request, _ ws.Peer) error {
	SetHeaders(w.Header())
	a := assets()[strings.TrimPrefix(r.URL.Path, "/")]
	if a == nil {
		return &ws.Refusal{Status: http.StatusNotFound,
			Reason: "there is nothing here; the page is at / and AHP at " + d.AHPPath}
	}
	a.serve(w, r)
	return nil
}

// challenge answers with what the page must sign.
func (d *door) challenge(w http.ResponseWriter, _ *http.Request, _ ws.Peer) error {
	return reply(w, d.next())
}

// next returns what the page has to sign to connect, and where it then connects to, below its own
// address.
func (d *door) next() map[string]string {
	return map[string]string{
		"challenge": d.Authority.PageChallenge(),
		"ahp":       strings.TrimPrefix(d.AHPPath, "/"),
	}
}

func reply(w http.ResponseWriter, v any) error {
	SetHeaders(w.Header())
	w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(v)
}

// maxBody bounds what a page sends with its ticket or token, in bytes.
const maxBody = 4 << 10

// receive reads what a page sends, as JSON.
func receive(w http.ResponseWriter, r *http.Request, v any) error {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil || json.Unmarshal(text, v) != nil {
		return refusal(http.StatusBadRequest, "what was sent is not the JSON that belongs here")
	}
	return nil
}

// check tells a page why its WebSocket was refused, which browsers hide. The answer is signed, so
// that no other program can tell the page that it is refused.
func (d *door) check(w http.ResponseWriter, r *http.Request, p ws.Peer) error {
	var ask struct{ Token, Challenge, Signature, Nonce string }
	if err := receive(w, r, &ask); err != nil {
		return err
	}
	proof := authz.PageProof{Origin: r.Header.Get("Origin"), Challenge: ask.Challenge,
		Signature: ask.Signature, Nonce: ask.Nonce}
	verdict := d.verdict(ask.Token, proof, p)
	return reply(w, map[string]any{
		"status": verdict.Status, "reason": verdict.Reason,
		"proof": d.Authority.ProveHost(proof, verdict.Status, verdict.Reason),
	})
}

// verdict returns how a page's WebSocket would be answered now.
func (d *door) verdict(token string, proof authz.PageProof, p ws.Peer) *ws.Refusal {
	g, err := d.Authority.AuthenticatePage(token, proof, p.Remote)
	if err != nil {
		d.Log.Info("page refused", "door", p.Door, "remote", p.Remote.String(), "reason",
			err.Error())
		reason := "it lasts 8 hours, or until it is revoked or its key is removed"
		switch {
		case strings.HasPrefix(token, keys.InvitePrefix):
			reason = invitationOver
		case strings.HasPrefix(token, keys.LinkPrefix):
			reason = "what a link opens lasts an hour, or until it is revoked or its key is removed"
		}
		return &ws.Refusal{Status: http.StatusUnauthorized, Reason: reason}
	}
	var full *ws.Refusal
	if errors.As(d.Room(g, p), &full) {
		return full
	}
	return &ws.Refusal{Status: http.StatusOK}
}

// invitationOver is what the page of a guest is told that is not let in.
const invitationOver = "the invitation has ended, or is for somebody else"

// enter exchanges a ticket for a token.
func (d *door) enter(w http.ResponseWriter, r *http.Request, p ws.Peer) error {
	var ask struct{ Ticket, Key string }
	if err := receive(w, r, &ask); err != nil {
		return err
	}
	if p.Inside() { // a page is its person, and never an agent
		return refusal(http.StatusForbidden, authz.RuleInside)
	}
	point, err := base64.RawURLEncoding.DecodeString(ask.Key)
	if err != nil {
		return refusal(http.StatusBadRequest, "the key is not base64url")
	}
	secret, token, err := d.Authority.EnterPage(ask.Ticket, r.Header.Get("Origin"), point, p.Remote)
	if err != nil {
		d.Log.Info("page refused", "door", p.Door, "remote", p.Remote.String(), "reason",
			err.Error())
		return explain(err)
	}
	d.Log.Info("page let in", "door", p.Door, "remote", p.Remote.String(), "token", token.Name,
		"key", token.Identity.Fingerprint)
	answer := d.next() // it connects at once
	answer["token"], answer["name"], answer["role"] = secret, token.Name, token.Role
	answer["expires"] = token.Expires.Format(time.RFC3339)
	answer["host"] = base64.RawURLEncoding.EncodeToString(d.Authority.PageHostKey())
	return reply(w, answer)
}

// explain returns a refused page's text, with a way on.
func explain(err error) error {
	switch {
	case errors.Is(err, authz.ErrBadTicket), errors.Is(err, authz.ErrTicketOrigin):
		return refusal(http.StatusUnauthorized, strings.TrimPrefix(err.Error(), "authz: "))
	case errors.Is(err, authz.ErrPageKey):
		return refusal(http.StatusBadRequest, strings.TrimPrefix(err.Error(), "authz: "))
	case errors.Is(err, keys.ErrBadLink), errors.Is(err, keys.ErrLinkUsed),
		errors.Is(err, keys.ErrLinkOrigin):
		text, _, _ := strings.Cut(err.Error(), "\n") // a fault of the disk is not for the page
		return refusal(http.StatusUnauthorized, strings.TrimPrefix(text, "keys: "))
	case errors.Is(err, keys.ErrTooManyTokens):
		return refusal(http.StatusServiceUnavailable, strings.TrimPrefix(err.Error(), "keys: "))
	case errors.Is(err, keys.ErrBadInvite):
		return refusal(http.StatusUnauthorized, invitationOver)
	}
	return refusal(http.StatusUnauthorized, "whoever made the ticket may not come in any more")
}

func refusal(status int, reason string) error { return &ws.Refusal{Status: status, Reason: reason} }
