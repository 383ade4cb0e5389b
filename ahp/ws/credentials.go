package ws

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/gorilla/websocket"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/authz"
	"termhost/authz/admit"
)

var (
	// errNoToken says that a peer has sent no credentials.
	errNoToken = &Refusal{http.StatusUnauthorized, "a token is needed: " +
		"get one with ssh HOST token, and send it as Authorization: Bearer TOKEN"}
	errPenalty = &Refusal{http.StatusTooManyRequests,
		"too many bad tokens from this address; wait a little"}
	// errBadToken does not tell what is wrong with a token.
	errBadToken = &Refusal{http.StatusUnauthorized,
		"the token is not valid; get another with: ssh HOST token"}
	// errPageNeedsToken is for pages that this host has served.
	errPageNeedsToken = &Refusal{http.StatusForbidden,
		"a page of this host needs a token: open it with ssh HOST page"}
)

// peer returns who makes a request, as far as the access to the route asks.
func (s *Server) peer(access Access, r *http.Request, d *door) (Peer, error) {
	switch {
	case access == Anyone, access == Public,
		access == ThisMachine && fromHere(r, d) && !s.isOwnPage(r, d):
		return Peer{Door: d.name, Remote: d.remote, source: d.source, inside: d.isInside}, nil
	case access == UnixPeer:
		return d.peer()
	}
	secret, err := token(r)
	if err != nil {
		return Peer{}, err
	}
	if secret == "" && s.isOwnPage(r, d) {
		return Peer{}, errPageNeedsToken
	}
	// A token is used even where the connection already proves who the peer is: a peer that sends
	// one wants only its rights.
	if secret == "" {
		return d.peer()
	}
	return s.bearer(secret, pageProof(r), d)
}

// penalized returns why a request without good credentials is refused, for err. A source of many
// bad tokens must wait before it learns more; a request with good ones is answered all the same.
func (s *Server) penalized(err error, d *door) error {
	if d.name != host.DoorWebSocket {
		return err
	}
	source := admit.SourceOf(d.remote)
	if errors.Is(err, errBadToken) {
		s.penalties.Add(source, admit.AuthPenalty)
	}
	if s.penalties.Refused(source) {
		return errPenalty
	}
	return err
}

// bearer returns the peer that a token stands for.
func (s *Server) bearer(secret string, proof authz.PageProof, d *door) (Peer, error) {
	if s.cfg().Authority == nil {
		return Peer{}, errBadToken
	}
	g, err := s.cfg().Authority.AuthenticatePage(secret, proof, d.remote)
	if err != nil {
		s.log.Info("token refused", "door", d.name, "remote", d.remote.String(),
			"reason", err.Error())
		return Peer{}, errBadToken
	}
	g = throughDoor(g, d.name)
	g.Principal.Inside = d.isInside()
	if g.Principal.Inside {
		g = g.AtMost(s.cfg().Host.Counts(g.Principal, d.source.Within).Role)
	}
	g.From = d.source
	s.penalties.Forgive(admit.SourceOf(d.remote))
	follow := func(end func(error)) func() { return s.cfg().Authority.Track(g, end) }
	return Peer{Principal: g.Principal, Door: d.name, Remote: d.remote, source: d.source,
		proof: follow, lost: lostToken}, nil
}

// throughDoor returns a grant as limited by its door.
func throughDoor(g authz.Grant, door string) authz.Grant {
	if door == host.DoorForward {
		return g.AtMost(authz.Operator)
	}
	return g
}

// lostToken returns what a peer reads whose token has ended. The log has the details.
func lostToken(err error) error {
	if errors.Is(err, authz.ErrChanged) {
		return errors.New("your rights have changed: connect again")
	}
	return errors.New("your token is no longer valid")
}

// fromHere reports whether a request comes from this machine over TCP, and does
// not say that a proxy has passed it on.
func fromHere(r *http.Request, d *door) bool {
	if d.name != host.DoorWebSocket {
		return false // the connection itself proves who the peer is
	}
	addr, _, err := net.SplitHostPort(d.remote.String())
	return err == nil && isLoopback(addr) && !proxied(r)
}

// proxied reports whether a request has a header that proxies add (RFC 9110 section 7.6.3, RFC
// 7239, and older ones).
func proxied(r *http.Request) bool {
	for name := range r.Header {
		switch name {
		case "Forwarded", "Via", "X-Real-Ip", "X-Client-Ip", "True-Client-Ip", "Cf-Connecting-Ip":
			return true
		}
		if strings.HasPrefix(name, "X-Forwarded-") {
			return true
		}
	}
	return false
}

// token returns the bearer token of a request, or "" if there is none. It stands in one place only:
// the Authorization header, a subprotocol, or the address.
func token(r *http.Request) (string, error) {
	offered, err := offeredToken(r)
	switch {
	case err != nil:
		return "", err
	case offered != "" && len(r.Header["Authorization"]) > 0:
		return "", &Refusal{http.StatusBadRequest, "the request carries two tokens"}
	case offered != "":
		return offered, nil
	}
	switch auth := r.Header["Authorization"]; {
	case len(auth) > 1:
		return "", &Refusal{http.StatusBadRequest, "the request has two Authorization headers"}
	case len(auth) == 1:
		scheme, secret, _ := strings.Cut(auth[0], " ")
		secret = strings.TrimSpace(secret)
		if !strings.EqualFold(scheme, "Bearer") || secret == "" {
			return "", &Refusal{http.StatusUnauthorized,
				"the Authorization header must be: Bearer TOKEN"}
		}
		return secret, nil
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return "", &Refusal{http.StatusBadRequest, "the query cannot be read"}
	}
	secrets := append(query["token"], query["tkn"]...)
	switch {
	case len(secrets) == 0:
		return "", nil
	case len(r.Header["Origin"]) > 0:
		// A page's address is in the browser's history, its server's logs and
		// the Referer header.
		return "", &Refusal{http.StatusUnauthorized, "a page may not carry a token in the address"}
	case len(secrets) > 1:
		return "", &Refusal{http.StatusBadRequest, "the address carries two tokens"}
	case secrets[0] == "":
		return "", errNoToken
	}
	return secrets[0], nil
}

const (
	// subprotocol is the protocol of a WebSocket that is opened with subprotocols (RFC 6455 section
	// 1.9). A browser fails a WebSocket for which the server selects none.
	subprotocol = "termhost.ahp"
	// tokenSubprotocol begins the item that carries a token: the only place for one that a page
	// can fill and that nobody writes to a log.
	tokenSubprotocol = "termhost.token."
	// proofSubprotocol begins the item that proves whose page sends the token: the challenge and
	// the signature, with a dot between them.
	proofSubprotocol = "termhost.proof."
	// nonceSubprotocol begins the item with which a page asks the host to prove itself.
	nonceSubprotocol = "termhost.nonce."
)

// pageProof returns what a page shows beside its token.
func pageProof(r *http.Request) (p authz.PageProof) {
	p.Origin = r.Header.Get("Origin")
	for _, item := range websocket.Subprotocols(r) {
		if proof, ok := strings.CutPrefix(item, proofSubprotocol); ok {
			p.Challenge, p.Signature, _ = strings.Cut(proof, ".")
		} else if nonce, ok := strings.CutPrefix(item, nonceSubprotocol); ok {
			p.Nonce = nonce
		}
	}
	return p
}

// hostProof returns the message that proves this host to the page that makes a request, which is to
// be the first one on its WebSocket; nil: the peer has not asked for it.
func (s *Server) hostProof(r *http.Request) []byte {
	if s.cfg().Authority == nil {
		return nil
	}
	signature := s.cfg().Authority.ProveHost(pageProof(r), http.StatusSwitchingProtocols, "")
	if signature == "" {
		return nil
	}
	return ahp.AppendNotification(nil, ahp.MethodProof, struct {
		Signature string `json:"signature"`
	}{signature})
}

// offeredToken returns the token that stands among the subprotocols of a request.
func offeredToken(r *http.Request) (secret string, err error) {
	speaks := false
	for _, item := range websocket.Subprotocols(r) {
		if item == subprotocol {
			speaks = true
		}
		value, ok := strings.CutPrefix(item, tokenSubprotocol)
		switch {
		case !ok:
		case value == "":
			return "", errNoToken
		case secret != "":
			return "", &Refusal{http.StatusBadRequest, "the request carries two tokens"}
		default:
			secret = value
		}
	}
	if secret != "" && !speaks {
		return "", &Refusal{http.StatusBadRequest, "offer the subprotocol " + subprotocol +
			" beside the one with the token"}
	}
	return secret, nil
}
