package mcp

import (
	"context"
	"errors"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"termhost/ahp/history"
	"termhost/ahp/host"
)

// A terminal NAME is two resources: termhost:///NAME/screen, what its screen shows, and
// termhost:///NAME/log, what it has printed, as plain text.
const (
	resourceScheme = "termhost:///"
	screenView     = "screen"
	logView        = "log"
	plainText      = "text/plain"
)

var aboutViews = map[string]string{
	screenView: "what the screen shows now",
	logView:    "what has been printed, of which long output has its beginning and its end",
}

// resourceURI returns the URI of a view of a terminal.
func resourceURI(name, view string) string { return resourceScheme + name + "/" + view }

// listResources lists the views of the terminals that the principal may see.
func (c *session) listResources(
	ctx context.Context, _ string, r sdk.Request, _ sdk.MethodHandler,
) (sdk.Result, error) {
	list, err := c.conn.Terminals()
	if err != nil {
		return nil, err
	}
	result := &sdk.ListResourcesResult{Resources: []*sdk.Resource{}, Cacheable: unshared}
	for _, t := range list {
		for _, view := range []string{screenView, logView} {
			result.Resources = append(result.Resources, &sdk.Resource{
				URI: resourceURI(t.Name(), view), Name: t.Name() + "/" + view,
				Description: aboutViews[view], MIMEType: plainText})
		}
	}
	return result, nil
}

// addResources adds the two kinds of resources to the server.
func (s *Server) addResources() {
	for _, view := range []string{screenView, logView} {
		s.sdk.AddResourceTemplate(&sdk.ResourceTemplate{
			URITemplate: resourceURI("{name}", view), Name: view, Description: aboutViews[view],
			MIMEType: plainText}, readResource)
	}
}

// resource returns the terminal and the view that a URI names.
func (c *session) resource(uri string) (*host.Terminal, string, error) {
	path, ok := strings.CutPrefix(uri, resourceScheme)
	name, view, _ := strings.Cut(path, "/")
	if !ok || aboutViews[view] == "" {
		return nil, "", sdk.ResourceNotFoundError(uri)
	}
	t, err := c.conn.Find(name)
	if missing := (*host.NotFoundError)(nil); errors.As(err, &missing) {
		err = sdk.ResourceNotFoundError(uri)
	}
	return t, view, err
}

// readResource returns what a view shows now. It reads nothing for the tools: their cursors stay.
func readResource(
	ctx context.Context, r *sdk.ReadResourceRequest,
) (*sdk.ReadResourceResult, error) {
	c, _ := ctx.Value(sessionKey{}).(*session)
	if c == nil {
		return nil, errNoSession
	}
	uri := r.Params.URI
	t, view, err := c.resource(uri)
	if err != nil {
		return nil, err
	}
	var text string
	if view == screenView {
		screen, err := c.conn.Peek(t, false)
		if err != nil {
			return nil, err
		}
		text = plainLines(string(screen))
	} else {
		o := output{terminal: t.Name(), chars: mostChars}
		reader := call{ctx: ctx, conn: c.conn}
		if _, err := reader.lines(t, 0, func(l *history.TextLine) bool {
			o.add(l)
			return true
		}); err != nil {
			return nil, err
		}
		text = cleaned(o.text())
	}
	return &sdk.ReadResourceResult{Cacheable: unshared, Contents: []*sdk.ResourceContents{
		{URI: uri, MIMEType: plainText, Text: text}}}, nil
}

// updateInterval is the least time between two updates of a resource.
const updateInterval = time.Second

// maxWatchers bounds the resources to which a session subscribes.
const maxWatchers = 64

var errWatchers = errors.New("too many subscriptions: unsubscribe from others first")

// watched is a resource of which a session of the SDK is told. In the newest version of MCP over
// HTTP each request is one.
type watched struct {
	by  *sdk.ServerSession
	uri string
}

// watcher tells of changes of what a resource shows, as long as its terminal is there: another one
// that has the NAME afterwards is another resource.
type watcher struct {
	t   *host.Terminal
	end context.CancelFunc
}

// subscribe begins to tell a session of changes of a resource: of all that come once it returns.
func (s *Server) subscribe(ctx context.Context, r *sdk.SubscribeRequest) error {
	c, _ := ctx.Value(sessionKey{}).(*session)
	if c == nil {
		return errNoSession
	}
	t, _, err := c.resource(r.Params.URI)
	if err != nil {
		return err
	}
	of := watched{r.Session, r.Params.URI}
	within, end := context.WithCancel(c.conn.Context())
	w := &watcher{t, end}
	if watches, err := c.register(of, w); watches || err != nil {
		end()
		return err
	}
	begun := make(chan struct{})
	go s.guard("subscription", func() {
		defer c.unwatch(of, w)
		c.watch(within, t, of.uri, func() { close(begun) })
	})
	select {
	case <-begun:
	case <-within.Done():
	}
	return nil
}

// register makes w the watcher of a resource; watches: there is one already.
func (c *session) register(of watched, w *watcher) (watches bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return false, errNoSession
	case c.watchers[of] != nil:
		return true, nil
	case len(c.watchers) >= maxWatchers:
		return false, errWatchers
	case c.watchers == nil:
		c.watchers = map[watched]*watcher{}
	}
	c.watchers[of] = w
	c.server.updates.begin(of, w.t)
	return false, nil
}

// unsubscribe ends subscribe.
func (s *Server) unsubscribe(ctx context.Context, r *sdk.UnsubscribeRequest) error {
	c, _ := ctx.Value(sessionKey{}).(*session)
	if c == nil {
		return errNoSession
	}
	of := watched{r.Session, r.Params.URI}
	c.mu.Lock()
	w := c.watchers[of]
	c.mu.Unlock()
	if w != nil {
		c.unwatch(of, w)
	}
	return nil
}

// unwatch ends a watcher, and forgets it.
func (c *session) unwatch(of watched, w *watcher) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w.end()
	if c.watchers[of] == w {
		delete(c.watchers, of)
		c.server.updates.end(of)
	}
}

// watch tells of changes of a resource until ctx ends, or nothing changes any more. It calls begun
// when no change is missed.
func (c *session) watch(ctx context.Context, t *host.Terminal, uri string, begun func()) {
	wait, err := c.conn.StartWait(t, host.WaitFor{Output: true})
	begun()
	for err == nil {
		how, ended := wait.End(ctx)
		if ended != nil && !errors.Is(ended, host.ErrGone) {
			return
		}
		last := ended != nil || how.Reason == host.WaitExit
		if !last { // before others are told, so that no change is missed
			wait, err = c.conn.StartWait(t, host.WaitFor{Output: true})
		}
		c.server.updates.tell(ctx, c.server.sdk, resource{uri, t})
		if last {
			return
		}
	}
}
