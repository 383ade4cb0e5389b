package mcp

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/authz/admit"
)

// Headers of Streamable HTTP (MCP 2025-11-25 and 2026-07-28, "Transports").
const (
	sessionHeader = "Mcp-Session-Id"
	versionHeader = "Mcp-Protocol-Version"
)

// stateless is the first version of MCP without sessions. Versions are dates, and compare as text.
const stateless = "2026-07-28"

const (
	// maxBody bounds a message of a client, in bytes, as maxLine does.
	maxBody = maxLine
	// maxRequests bounds the requests that one account has under way, waiting calls and streams
	// included; maxAllRequests those of all accounts. One takes about 50 KiB.
	maxRequests    = 128
	maxAllRequests = 1024
	// spareRequests is how many more there may be that give others up: those that wait must not
	// keep out what ends them.
	spareRequests = 8
	// maxBodies bounds, in bytes, the messages of the requests that one account has under way;
	// maxAllBodies those of all accounts.
	maxBodies    = 16 << 20
	maxAllBodies = 64 << 20
)

// HTTP serves MCP over Streamable HTTP: version 2026-07-28, whose requests stand alone, and the
// older ones with sessions, at the same URL. It may be used concurrently.
//
// It authenticates nobody, and checks no Origin: its caller does.
type HTTP struct {
	server *Server
	newest http.Handler
	older  http.Handler

	requests admit.Tally // that are under way
	bodies   admit.Tally // bytes of their messages
	sessions sessions
}

// HTTPOptions bound what clients may use. The zero HTTPOptions have the defaults.
type HTTPOptions struct {
	// SendTime is how long a client may take to send a message; 40 s: 1 Mbit/s is enough for the
	// longest.
	SendTime time.Duration
	// Idle is how long a session stays without a request; 10 minutes.
	Idle time.Duration
	// MaxSessions bounds the sessions of one account; 64. Of one that has more, the session that
	// has been idle for longest ends. MaxAllSessions bounds those of all accounts; 1024.
	MaxSessions, MaxAllSessions int
}

// HTTPPeer is who makes a request.
type HTTPPeer struct {
	Peer
	// Follow calls end when the peer's credentials are no longer good, as [host.Proof] does, with a
	// reason that the peer may read; nil: they stay good.
	Follow host.Proof
}

// NewHTTP returns an HTTP for the tools of a server. There is to be one for each server.
func (s *Server) NewHTTP(o HTTPOptions) *HTTP {
	h := &HTTP{server: s}
	h.sessions.init(o)
	serve := func(*http.Request) *sdk.Server { return s.sdk }
	h.newest = identified(sdk.NewStreamableHTTPHandler(serve, &sdk.StreamableHTTPOptions{
		Stateless: true, PropagateRequestCancellation: true,
		DisableLocalhostProtection: true, // the door has checked the Host header
	}))
	h.older = identified(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requestOf(r.Context()).session.transport.ServeHTTP(w, r)
	}))
	s.sdk.AddReceivingMiddleware(receive)
	return h
}

// Close ends all sessions with the calls that wait in them, and returns when they have ended.
// Further requests are refused.
func (h *HTTP) Close() { h.sessions.close() }

// request is what the handlers of a request's message need to know.
type request struct {
	session *httpSession
	ctx     context.Context // ends with the HTTP request, and with the session
}

type requestKey struct{}

func requestOf(ctx context.Context) *request {
	r, _ := ctx.Value(requestKey{}).(*request)
	return r
}

// identified has the SDK pass a request to the handlers of its message, in the TokenInfo. A
// handler's context does not, because it is that of a session's first request.
func identified(next http.Handler) http.Handler {
	verify := func(ctx context.Context, _ string, _ *http.Request) (*auth.TokenInfo, error) {
		return &auth.TokenInfo{Extra: map[string]any{requestExtra: requestOf(ctx)}}, nil
	}
	bearer := auth.RequireBearerToken(verify,
		&auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Authorization", "Bearer -") // no handler sees the token
		bearer.ServeHTTP(w, r)
	})
}

const requestExtra = "request"

// receive gives a handler the session of its HTTP request, and a context that ends with both.
func receive(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		extra := r.GetExtra()
		if extra == nil || extra.TokenInfo == nil {
			return next(ctx, method, r) // it has not come over HTTP
		}
		of := extra.TokenInfo.Extra[requestExtra].(*request)
		ctx = context.WithValue(ctx, sessionKey{}, of.session.session)
		if strings.HasPrefix(method, "notifications/") {
			return next(ctx, method, r) // its HTTP request may have been answered already
		}
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		stop := context.AfterFunc(of.ctx, func() { cancel(context.Cause(of.ctx)) })
		defer stop()
		return next(ctx, method, r)
	}
}

// private has no cache share a result with others: what a client sees depends on its role.
func private(_ context.Context, _ sdk.Request, c *sdk.Cacheable) { *c = unshared }

var unshared = sdk.Cacheable{CacheScope: "private"}

// message is what the door needs to know of a client's message.
type message struct {
	text    []byte
	method  string
	version string // that it says of itself; "": nothing, as before 2026-07-28
	client  string // the name that the client gives itself
}

// refused is a request that is refused.
type refused struct {
	status int
	code   int // of JSON-RPC
	reason string
}

func (e *refused) Error() string { return e.reason }

func refuse(status int, reason string) error {
	return &refused{status, ahp.CodeInvalidRequest, reason}
}

// answer sends an error to the peer.
func answer(w http.ResponseWriter, err error) {
	e := &refused{http.StatusInternalServerError, ahp.CodeInternal, "internal error"}
	errors.As(err, &e)
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil,
		"error": map[string]any{"code": e.code, "message": e.reason}})
	if err != nil {
		panic(err) // it consists of strings and numbers
	}
	switch e.status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", `Bearer realm="termhost"`)
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		w.Header().Set("Retry-After", "10")
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(e.status)
	_, _ = w.Write(append(text, '\n')) // a peer that left needs no answer
}

// Serve answers a request of a peer that the caller has authenticated.
func (h *HTTP) Serve(w http.ResponseWriter, r *http.Request, p HTTPPeer) {
	account := p.Principal.Account()
	own, all := h.requests.Add(account, 1)
	defer h.requests.Add(account, -1)
	var busy error // refuses all but what gives requests up
	switch {
	case own > maxRequests:
		busy = refuse(http.StatusTooManyRequests, "this key, with its tokens and guests, has "+
			strconv.Itoa(maxRequests)+" requests under way already")
	case all > maxAllRequests:
		busy = refuse(http.StatusServiceUnavailable, "too many requests are under way")
	}
	err := busy
	if own <= maxRequests+spareRequests && all <= maxAllRequests+spareRequests {
		err = h.serve(w, r, p, busy)
	}
	if err != nil {
		answer(w, err)
	}
}

// cancelled is the method of a notification that a request is given up.
const cancelled = "notifications/cancelled"

// serve returns an error if the request is still to be answered; busy, unless it is nil or the
// request gives others up.
func (h *HTTP) serve(w http.ResponseWriter, r *http.Request, p HTTPPeer, busy error) error {
	var m message
	switch {
	case r.Method != http.MethodPost && r.Header.Get(versionHeader) >= stateless:
		w.Header().Set("Allow", http.MethodPost)
		return refuse(http.StatusMethodNotAllowed, "version "+stateless+" has POST only")
	case r.Method == http.MethodPost:
		charged := &chargedBody{Reader: http.MaxBytesReader(w, r.Body, maxBody),
			tally: &h.bodies, account: p.Principal.Account()}
		defer charged.release()
		var err error
		if m, err = h.read(w, r, charged); err != nil {
			return err
		}
	}
	givesUp := m.method == cancelled || r.Method == http.MethodDelete
	if busy != nil && !givesUp {
		return busy
	}
	s, err := h.sessionOf(r, p, m)
	if err != nil {
		return err
	}
	defer h.sessions.leave(s, r.Method == http.MethodPost)
	pace, now := context.WithCancel(r.Context())
	defer now()
	if givesUp {
		now() // it is charged for, and waits behind no calls
	}
	if err := s.conn.Pace(pace, len(m.text), host.MessageParts); err != nil && !givesUp {
		return refuse(http.StatusServiceUnavailable, err.Error())
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	stop := context.AfterFunc(s.ctx, func() { cancel(context.Cause(s.ctx)) })
	defer stop()
	r = r.Clone(context.WithValue(r.Context(), requestKey{}, &request{s, ctx}))
	r.Body = io.NopCloser(bytes.NewReader(m.text))
	switch {
	case s.transport == nil:
		h.newest.ServeHTTP(w, r)
	case r.Method == http.MethodDelete:
		s.end(errDeleted)
		w.WriteHeader(http.StatusNoContent)
	default:
		h.older.ServeHTTP(w, r)
		if s.sdk.InitializeParams() == nil {
			s.cancel(errNotInitialized)
		}
	}
	return nil
}

var (
	errDeleted        = errors.New("the session was ended by its client")
	errNotInitialized = errors.New("the session was not initialized")
)

// sessionOf returns the session of a request, which it enters.
func (h *HTTP) sessionOf(r *http.Request, p HTTPPeer, m message) (*httpSession, error) {
	version, id := r.Header.Get(versionHeader), r.Header.Get(sessionHeader)
	switch {
	case version >= stateless || m.version != "":
		key := keyOf(p, "", m.client)
		return h.sessions.enter(key, func() (*httpSession, error) {
			return h.begin(key, p, m.client)
		})
	case version != "" && !slices.Contains(sdk.SupportedProtocolVersions(), version):
		return nil, refuse(http.StatusBadRequest,
			"this version of MCP is not spoken here; these are: "+
				strings.Join(sdk.SupportedProtocolVersions(), ", "))
	case id != "":
		if s := h.sessions.find(keyOf(p, id, ""), r.Method == http.MethodPost); s != nil {
			return s, nil
		}
		// A client that reads this status initializes another session.
		return nil, refuse(http.StatusNotFound, "there is no such session: initialize another one")
	case m.method == "initialize":
		key := keyOf(p, rand.Text(), "")
		return h.sessions.enter(key, func() (*httpSession, error) {
			return h.begin(key, p, m.client)
		})
	}
	return nil, refuse(http.StatusBadRequest, "the request has no "+sessionHeader+
		": send initialize first, or speak "+stateless)
}

// read reads and checks the message of a request.
func (h *HTTP) read(w http.ResponseWriter, r *http.Request, body io.Reader) (m message, err error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil ||
		kind != "application/json" {
		return m, refuse(http.StatusUnsupportedMediaType,
			"the Content-Type must be application/json")
	}
	// The server takes the deadline away when the message has come. An error is the connection's
	// end.
	late := time.Now().Add(h.sessions.SendTime)
	_ = http.NewResponseController(w).SetReadDeadline(late)
	text, err := io.ReadAll(body)
	var long *http.MaxBytesError
	var busy *refused
	switch {
	case errors.As(err, &busy):
		return m, busy
	case errors.As(err, &long):
		return m, refuse(http.StatusRequestEntityTooLarge, "a message has at most 4 MiB")
	case err != nil:
		return m, refuse(http.StatusBadRequest, "the message has not come whole")
	}
	m.text = trimmed(text)
	if code, reason := fault(m.text); reason != "" {
		return m, &refused{http.StatusBadRequest, code, reason}
	}
	var parts struct {
		Method string `json:"method"`
		Params struct {
			Client clientName `json:"clientInfo"` // of initialize
			Meta   struct {
				Version string     `json:"io.modelcontextprotocol/protocolVersion"`
				Client  clientName `json:"io.modelcontextprotocol/clientInfo"`
			} `json:"_meta"`
		} `json:"params"`
	}
	// What has another type is missing here, and the SDK tells the peer.
	_ = json.Unmarshal(m.text, &parts)
	m.method, m.version = parts.Method, parts.Params.Meta.Version
	m.client = parts.Params.Client.Name
	if m.version != "" {
		m.client = parts.Params.Meta.Client.Name
	}
	return m, nil
}

type clientName struct {
	Name string `json:"name"`
}

// chargedBody is a message that is being read, and counts until release is called.
type chargedBody struct {
	io.Reader
	tally   *admit.Tally
	account string
	n       int64
}

// Read fails with a *refused if the messages that are under way take too much memory.
func (b *chargedBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	b.n += int64(n)
	if own, all := b.tally.Add(b.account, int64(n)); own > maxBodies || all > maxAllBodies {
		return n, refuse(http.StatusTooManyRequests, "the messages under way are too long together")
	}
	return n, err
}

func (b *chargedBody) release() { b.tally.Add(b.account, -b.n) }
