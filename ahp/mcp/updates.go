package mcp

import (
	"context"
	"maps"
	"sync"
	"time"
	"weak"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"termhost/ahp/host"
)

// resource is what a URI names while a terminal has the NAME in it.
type resource struct {
	uri string
	t   *host.Terminal
}

// paced is a resource, and keeps no terminal in memory that is gone.
type paced struct {
	uri string
	t   weak.Pointer[host.Terminal]
}

// updates tells sessions of changes, and paces that for each resource. The SDK knows URIs only, and
// tells all sessions that have ever subscribed to one: see [Server.sending].
type updates struct {
	mu       sync.Mutex
	told     map[paced]time.Time
	watchers map[watched]*host.Terminal // which terminal a session's subscription is about
}

// begin has a session told of a terminal by the resource's URI, and end no more.
func (u *updates) begin(of watched, t *host.Terminal) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.watchers == nil {
		u.watchers = map[watched]*host.Terminal{}
	}
	u.watchers[of] = t
}

func (u *updates) end(of watched) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.watchers, of)
}

// watches reports whether a session's subscription to a URI is about a terminal.
func (u *updates) watches(of watched, t *host.Terminal) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return t != nil && u.watchers[of] == t
}

// tell tells of a change that has just been, unless somebody does meanwhile.
func (u *updates) tell(ctx context.Context, to *sdk.Server, of resource) {
	changed := time.Now()
	key := paced{of.uri, weak.Make(of.t)}
	for {
		u.mu.Lock()
		last := u.told[key]
		due := last.Add(updateInterval)
		if last.After(changed) || ctx.Err() != nil { // who cannot tell must not keep others from it
			u.mu.Unlock()
			return
		}
		if !due.After(time.Now()) {
			if u.told == nil || len(u.told) >= maxCursors {
				u.told = map[paced]time.Time{}
			}
			u.told[key] = time.Now()
			u.mu.Unlock()
			_ = to.ResourceUpdated(ctx, &sdk.ResourceUpdatedNotificationParams{URI: of.uri,
				Meta: sdk.Meta{metaTerminal: of.t}})
			return
		}
		u.mu.Unlock()
		select {
		case <-time.After(time.Until(due)):
		case <-ctx.Done():
			return
		}
	}
}

const (
	methodUpdated = "notifications/resources/updated"
	// metaTerminal is a key in the _meta of an update, with its terminal. It is never sent.
	metaTerminal = "terminal"
)

// sending keeps an update from sessions whose subscription was about an earlier terminal of the
// same NAME.
func (s *Server) sending(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		update, ok := r.GetParams().(*sdk.ResourceUpdatedNotificationParams)
		by, server := r.GetSession().(*sdk.ServerSession)
		if method != methodUpdated || !ok || !server {
			return next(ctx, method, r)
		}
		t, _ := update.Meta[metaTerminal].(*host.Terminal)
		if !s.updates.watches(watched{by, update.URI}, t) {
			return nil, nil
		}
		sent := *update // other sessions are told of the same
		sent.Meta = maps.Clone(update.Meta)
		delete(sent.Meta, metaTerminal)
		return next(ctx, method, &sdk.ServerRequest[sdk.Params]{Session: by, Params: &sent})
	}
}
