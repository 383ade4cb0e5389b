package ws

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"

	"termhost/ahp/host"
	"termhost/ahp/transport"
	"termhost/authz"
)

func forbidden(format string, args ...any) error {
	return &Refusal{http.StatusForbidden, fmt.Sprintf(format, args...)}
}

// checkSource checks what a web page of another site cannot choose: its own
// origin, and the name by which it reached this host. row is nil if there is none.
func (s *Server) checkSource(r *http.Request, d *door, row *Route) error {
	if d.refusal != nil {
		return forbidden("%v", d.refusal)
	}
	if !s.allowedHost(r, d) {
		return forbidden("the Host header names a host that is not this one; " +
			"add it to http.allowed_hosts if it is")
	}
	switch origins := r.Header["Origin"]; {
	case len(origins) == 0:
		return nil
	case row != nil && row.Access == Public && r.Header.Get("Sec-Fetch-Site") == "same-origin":
		return nil // a module of a page that this host has served, through a proxy
	case len(origins) > 1:
		return forbidden("the request has two Origin headers")
	default:
		// "null" is the origin of every sandboxed page.
		listed := s.listed(origins[0]) && origins[0] != "null"
		if !listed && !s.isOwnPage(r, d) {
			return forbidden("pages of this Origin may not connect; " +
				"add it to http.allowed_origins if it may")
		}
	}
	return nil
}

func (s *Server) listed(origin string) bool {
	_, ok := s.cfg().origins[origin]
	return ok
}

// isOwnPage reports whether a request comes from a page that this host itself has served, under a
// name that has been found to be its own: a page whose name was rebound has an Origin that equals
// the Host header as well. Such a page needs a token even where the connection proves who it is,
// because another program may have had the port before. A proxy in front may have ended TLS.
func (s *Server) isOwnPage(r *http.Request, d *door) bool {
	origins := r.Header["Origin"]
	if len(origins) != 1 || s.listed(origins[0]) || d.name == host.DoorUnix || r.Host == "" {
		return false // the Host header has not been looked at on the unix socket
	}
	own := strings.ToLower(r.Host)
	return origins[0] == "https://"+own || origins[0] == "http://"+own && r.TLS == nil
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

// allowedHost compares the Host header with the names of this host. On the unix
// socket it does not matter: no web page can reach a socket file.
func (s *Server) allowedHost(r *http.Request, d *door) bool {
	if d.name == host.DoorUnix {
		return true
	}
	name := strings.ToLower(r.Host)
	if d.name == host.DoorWebSocket {
		if _, ok := s.cfg().hosts[name]; ok {
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
	if _, ok := s.cfg().hosts[name]; ok {
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

// refuse answers a request that is refused, or that could not be answered.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, d *door, err error) {
	log := s.log.With("door", d.name, "remote", d.remote.String())
	var re *Refusal
	if errors.As(err, &re) {
		log.Info("request refused", "status", re.Status, "reason", re.Reason)
		if h := s.cfg().Host; h != nil && re.Status != http.StatusNotFound {
			h.Audit().Info(authz.AuditRefused,
				append([]any{"reason", re.Reason}, d.source.Attrs(d.principal)...)...)
		}
	} else {
		re = &Refusal{http.StatusInternalServerError, transport.InternalError}
		log.Error("request failed", "err", err.Error())
	}
	switch re.Status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", `Bearer realm="termhost"`)
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		w.Header().Set("Retry-After", "10")
	}
	if explain := s.cfg().Refuse; explain != nil && explain(w, r, re.Status, re.Reason) {
		return
	}
	http.Error(w, re.Reason, re.Status)
}
