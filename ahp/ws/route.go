package ws

import (
	"io"
	"net"
	"net/http"
	"slices"
	"strings"

	"termhost/ahp/host"
	"termhost/authz"
)

// Route is a row of the table of what the door answers.
type Route struct {
	// Path is the whole path of the URL. One that ends in "/" is also for
	// everything below it that has no longer row.
	Path string
	// Methods are those that are answered; nil: GET and HEAD.
	Methods []string
	// Access says which credentials a request needs.
	Access Access
	// Long: an answer may take very long, or be a stream. A connection that is being answered does
	// not count among those that are no WebSockets, if its peer is authenticated: Handle has to
	// bound them.
	Long bool
	// Handle answers a request. A [*Refusal] is sent to the peer, any other error
	// is logged and the peer gets status 500; in both cases nothing may have been
	// written yet.
	Handle func(w http.ResponseWriter, r *http.Request, p Peer) error
}

// Access is what a route requires of a peer. The Host and Origin headers are checked for all, but
// see Public.
type Access int

const (
	// Authenticated: the peer has a token, or its connection proves who it is.
	Authenticated Access = iota
	// UnixPeer: a peer of the unix socket, as the kernel identifies it. A token is ignored. For
	// others the path does not exist.
	UnixPeer
	// ThisMachine: it is a TCP peer on this machine, or else authenticated.
	ThisMachine
	// Anyone: no credentials are needed or looked at.
	Anyone
	// Public: as Anyone, for files of the program. A page with an unknown Origin may load them if
	// its browser says that they have the same one: behind a proxy that changes the Host header it
	// can then explain the fault.
	Public
)

// Peer is who made a request.
type Peer struct {
	// Principal is zero if the route let the peer in without asking who it is.
	Principal authz.Principal
	// Door is the way in; one of package host's names.
	Door string
	// Remote is the peer's address.
	Remote net.Addr

	source authz.Source
	inside func() bool       // see Inside; nil: Principal says it
	proof  host.Proof        // nil: it lasts as long as the connection
	lost   func(error) error // what the peer reads when the proof ends
}

// Inside reports whether the peer is a process inside one of the host's terminals, which may be an
// agent's. For a peer whose Principal is not known this may look through processes.
func (p Peer) Inside() bool {
	if p.inside == nil {
		return p.Principal.Inside
	}
	return p.inside()
}

// Proof returns the proof of the peer's identity, for [host.Conn.Prove]; nil: the connection
// itself.
func (p Peer) Proof() host.Proof { return p.proof }

// Source returns where the peer comes from, for the audit log.
func (p Peer) Source() authz.Source { return p.source }

// Follow calls end, once and from any goroutine, when the peer's credentials are
// no longer good, with a reason that may be shown to the peer. What outlives the
// request must end then. release stops that and must be called.
func (p Peer) Follow(end func(reason error)) (release func()) {
	if p.proof == nil {
		return func() {}
	}
	return p.proof(func(err error) { end(p.lost(err)) })
}

// Refusal is an error whose text is sent to the peer with an HTTP status.
type Refusal struct {
	Status int
	Reason string
}

func (e *Refusal) Error() string { return e.Reason }

// The paths of the Server's own rows. The configuration does not let AHP be there.
const (
	healthPath  = "/healthz" // answers everybody that the host is up
	metricsPath = "/metrics" // where Prometheus looks
	sshPath     = "/ssh"     // see Server.ssh
)

// routesOf returns the whole table of a configuration; of two rows for one path the
// first one counts.
func (s *Server) routesOf(cfg Config) []Route {
	table := []Route{
		{Path: cfg.Path, Handle: s.upgrade},
		{Path: healthPath, Access: Anyone, Handle: health},
		{Path: metricsPath, Access: ThisMachine, Handle: s.metrics},
	}
	if cfg.SSH != nil {
		table = append(table, Route{Path: sshPath, Access: UnixPeer, Handle: s.ssh})
	}
	return append(table, cfg.Routes...)
}

// route returns the row for a path, or nil.
func (s *Server) route(path string) *Route {
	var found *Route
	routes := s.cfg().routes
	for i := range routes {
		row := &routes[i]
		if row.Path == path {
			return row
		}
		above := strings.HasSuffix(row.Path, "/") && strings.HasPrefix(path, row.Path)
		if above && (found == nil || len(row.Path) > len(found.Path)) {
			found = row
		}
	}
	return found
}

// ServeHTTP answers one request. The connections of Serve, ServeUnix and
// ServeConn lead here; a request that came in another way counts as a TCP peer's.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d := doorOf(r)
	defer d.answering()()
	// Whoever has not said who it is gets one answer, and has no place here afterwards.
	w.Header().Set("Connection", "close")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if err := s.answer(w, r, d); err != nil {
		s.refuse(w, r, d, err)
	}
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, d *door) error {
	row := s.route(r.URL.Path)
	if err := s.checkSource(r, d, row); err != nil {
		return err
	}
	if row == nil || row.Access == UnixPeer && d.name != host.DoorUnix {
		return &Refusal{http.StatusNotFound, "there is nothing here; AHP is at " + s.cfg().Path}
	}
	methods := row.Methods
	if methods == nil {
		methods = []string{http.MethodGet, http.MethodHead}
	}
	if !slices.Contains(methods, r.Method) {
		list := strings.Join(methods, ", ")
		w.Header().Set("Allow", list)
		return &Refusal{http.StatusMethodNotAllowed, "the methods that are answered here: " + list}
	}
	p, err := s.peer(row.Access, r, d)
	if err != nil {
		return s.penalized(err, d)
	}
	if p.Principal.ID != "" {
		w.Header().Del("Connection")
		if row.Long {
			d.long = true
			d.leave()
		}
	}
	return row.Handle(w, r, p)
}

// health answers that the host is up.
func health(w http.ResponseWriter, _ *http.Request, _ Peer) error {
	_, _ = io.WriteString(w, "ok\n") // a peer that left needs no answer
	return nil
}
