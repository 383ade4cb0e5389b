package ws

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"termhost/ahp/host"
	"termhost/authz"
)

// refusal is why a request is not let in. Its text is shown to the peer.
type refusal struct {
	status int
	reason string
}

func (e *refusal) Error() string { return e.reason }

func forbidden(format string, args ...any) error {
	return &refusal{http.StatusForbidden, fmt.Sprintf(format, args...)}
}

// admit checks what a page of another site cannot choose: where it comes from
// and by which name it reached us.
func (s *Server) admit(r *http.Request, d *door) error {
	if d.refusal != nil {
		return forbidden("%v", d.refusal)
	}
	if !s.allowedHost(r, d) {
		return forbidden("the Host header names a host that is not this one; add it to http.allowed_hosts if it is")
	}
	switch origins := r.Header["Origin"]; {
	case len(origins) == 0:
		return nil
	case len(origins) > 1:
		return forbidden("the request has two Origin headers")
	default:
		// Equal to the Host is not enough: whoever forges one forges both. A
		// sandboxed page's "null" belongs to nobody.
		if _, ok := s.origins[origins[0]]; !ok || origins[0] == "null" {
			return forbidden("pages of this Origin may not connect; add it to http.allowed_origins if it may")
		}
	}
	return nil
}

func originSet(list []string) map[string]struct{} {
	set := map[string]struct{}{}
	for _, o := range list {
		set[strings.TrimSuffix(o, "/")] = struct{}{}
	}
	return set
}

func hostSet(list []string) map[string]struct{} {
	set := map[string]struct{}{}
	for _, h := range list {
		set[strings.ToLower(h)] = struct{}{}
	}
	return set
}

// allowedHost compares the Host header with the names of this host. A peer of
// the unix socket names no host: no page can reach a socket file.
func (s *Server) allowedHost(r *http.Request, d *door) bool {
	if d.name == host.DoorUnix {
		return true
	}
	name := strings.ToLower(r.Host)
	if d.name == host.DoorWebSocket {
		if _, ok := s.hosts[name]; ok {
			return true
		}
	}
	if h, port, err := net.SplitHostPort(name); err == nil && isPort(port) {
		name = h
	} else {
		name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	}
	if isLoopback(name) {
		return true
	}
	if d.name != host.DoorWebSocket {
		return false
	}
	if _, ok := s.hosts[name]; ok {
		return true
	}
	// The address that the connection came to: rebinding needs a name.
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	ip := net.ParseIP(name)
	return ok && ip != nil && ip.Equal(local.IP)
}

func isPort(s string) bool {
	return s != "" && len(s) <= 5 && strings.Trim(s, "0123456789") == ""
}

// isLoopback reports whether a name always means this machine.
func isLoopback(name string) bool {
	ip := net.ParseIP(name)
	return name == "localhost" || ip != nil && ip.IsLoopback()
}

// errNoToken says that a peer has shown no credentials.
var errNoToken = &refusal{http.StatusUnauthorized,
	"a token is needed: get one with ssh HOST token, and send it as Authorization: Bearer TOKEN"}

// errBadToken does not tell what is wrong with a token.
var errBadToken = &refusal{http.StatusUnauthorized, "the token is not valid; get another with: ssh HOST token"}

// authenticate returns whose request this is. A token that was sent counts on
// every door: whoever sends one means to be no more than it is good for.
func (s *Server) authenticate(r *http.Request, d *door, remote net.Addr) (authz.Grant, error) {
	secret, err := token(r)
	if err != nil {
		return authz.Grant{}, err
	}
	if secret == "" {
		if d.principal.ID == "" {
			return authz.Grant{}, errNoToken
		}
		return authz.Grant{Principal: d.principal}, nil
	}
	if s.cfg.Authority == nil {
		return authz.Grant{}, errBadToken
	}
	g, err := s.cfg.Authority.Bearer(secret, remote)
	if err != nil {
		s.log.Info("token refused", "door", d.name, "remote", remote.String(), "reason", err.Error())
		return authz.Grant{}, errBadToken
	}
	if d.name == host.DoorForward {
		g = g.AtMost(authz.Operator)
	}
	return g, nil
}

// token returns the bearer token of a request, "" if there is none.
func token(r *http.Request) (string, error) {
	switch auth := r.Header["Authorization"]; {
	case len(auth) > 1:
		return "", &refusal{http.StatusBadRequest, "the request has two Authorization headers"}
	case len(auth) == 1:
		scheme, secret, _ := strings.Cut(auth[0], " ")
		if secret = strings.TrimSpace(secret); !strings.EqualFold(scheme, "Bearer") || secret == "" {
			return "", &refusal{http.StatusUnauthorized, "the Authorization header must be: Bearer TOKEN"}
		}
		return secret, nil
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return "", &refusal{http.StatusBadRequest, "the query cannot be read"}
	}
	secrets := append(query["token"], query["tkn"]...)
	switch {
	case len(secrets) == 0:
		return "", nil
	case len(r.Header["Origin"]) > 0:
		// A page's address is in its history, its server's logs, its Referer.
		return "", &refusal{http.StatusUnauthorized, "a page may not carry a token in the address"}
	case len(secrets) > 1:
		return "", &refusal{http.StatusBadRequest, "the address carries two tokens"}
	case secrets[0] == "":
		return "", errNoToken
	}
	return secrets[0], nil
}

// refuse answers a request that is not let in.
func (s *Server) refuse(w http.ResponseWriter, d *door, remote net.Addr, err error) {
	var re *refusal
	if !errors.As(err, &re) {
		re = &refusal{http.StatusInternalServerError, "internal error; the host's log says more"}
		s.log.Error("request failed", "door", d.name, "remote", remote.String(), "err", err.Error())
	} else {
		s.log.Info("request refused", "door", d.name, "remote", remote.String(), "status", re.status, "reason", re.reason)
	}
	switch re.status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", `Bearer realm="termhost"`)
	case http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "10")
	}
	http.Error(w, re.reason, re.status)
}
