package rpc

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/store"
)

// method is how one of AHP's messages is answered.
type method struct {
	answer       func(*peer, *request) *ahp.Error
	notification bool // may come without an id
	early        bool // may come before initialize
}

var methods = map[string]method{
	"initialize":      {answer: (*peer).initialize, early: true},
	"reconnect":       {answer: (*peer).reconnect, early: true},
	"ping":            {answer: (*peer).ping, early: true},
	"subscribe":       {answer: (*peer).subscribe},
	"unsubscribe":     {answer: (*peer).unsubscribe, notification: true},
	"dispatchAction":  {answer: (*peer).dispatchAction, notification: true},
	"createTerminal":  {answer: (*peer).createTerminal},
	"disposeTerminal": {answer: (*peer).disposeTerminal},
	"listSessions":    {answer: (*peer).listSessions},
}

func appendNull(dst []byte) []byte { return append(dst, "null"...) }

func (p *peer) ping(r *request) *ahp.Error {
	p.respond(r.id, appendNull)
	return nil
}

func (p *peer) listSessions(r *request) *ahp.Error {
	p.respond(r.id, func(dst []byte) []byte { return append(dst, `{"items":[]}`...) })
	return nil
}

// onRoot checks a channel that must be the root's.
func onRoot(channel string) *ahp.Error {
	if channel == "" {
		return ahp.FieldProblem("channel", "is missing")
	}
	if uri, ok := ahp.NormalizeChannel(channel); !ok || uri != ahp.RootURI {
		return ahp.FieldProblem("channel", "must be "+ahp.RootURI)
	}
	return nil
}

func (p *peer) initialize(r *request) *ahp.Error {
	var params ahp.InitializeParams
	if e := decode(r.params, &params); e != nil {
		return e
	}
	if e := onRoot(params.Channel); e != nil {
		return e
	}
	switch {
	case params.ClientID == "":
		return ahp.FieldProblem("clientId", "is missing")
	case len(params.ProtocolVersions) == 0:
		return ahp.FieldProblem("protocolVersions", "is missing or empty")
	case len(params.InitialSubscriptions) > p.opts.MaxSubscriptions:
		return p.tooMany()
	}
	p.snapshots(r.id, func() (func([]byte) []byte, *ahp.Error) {
		hello, e := p.c.Initialize(params)
		if e != nil {
			if e.Code == ahp.CodeVersion {
				p.closing = e // once it is written
			}
			return nil, e
		}
		return p.helloResult(hello), nil
	})
	return nil
}

// helloResult encodes initialize's result.
func (p *peer) helloResult(hello host.Hello) func(dst []byte) []byte {
	shape := p.c.Shape()
	return func(dst []byte) []byte {
		dst = append(dst, `{"protocolVersion":`...)
		dst = ahp.AppendJSONString(dst, hello.Version.String())
		dst = append(dst, `,"serverSeq":`...)
		dst = strconv.AppendUint(dst, hello.ServerSeq, 10)
		dst = append(dst, `,"serverInfo":{"name":"termhost","version":`...)
		dst = ahp.AppendJSONString(dst, hello.ServerVersion)
		dst = append(dst, `},"snapshots":[`...)
		dst = appendViews(dst, hello.Snapshots, shape)
		dst = append(dst, ']')
		if hello.DefaultDirectory != "" {
			dst = append(dst, `,"defaultDirectory":`...)
			dst = ahp.AppendJSONString(dst, hello.DefaultDirectory)
		}
		dst = append(dst, `,"_meta":{"`+ahp.MetaClientExecuted+`":{}`...)
		if p.extension != nil {
			key, value := p.extension.Announcement()
			dst = append(ahp.AppendJSONString(append(dst, ','), key), ':')
			dst = append(dst, value...)
		}
		return append(dst, "}}"...)
	}
}

func appendViews(dst []byte, views []store.View, shape ahp.Shape) []byte {
	for i, v := range views {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = v.AppendJSON(dst, shape)
	}
	return dst
}

func (p *peer) reconnect(r *request) *ahp.Error {
	var params struct {
		ahp.ReconnectParams
		LastSeen *uint64 `json:"lastSeenServerSeq"`
	}
	if e := decode(r.params, &params); e != nil {
		return e
	}
	if e := onRoot(params.Channel); e != nil {
		return e
	}
	switch {
	case params.ClientID == "":
		return ahp.FieldProblem("clientId", "is missing")
	case params.LastSeen == nil:
		return ahp.FieldProblem("lastSeenServerSeq", "is missing")
	case params.Subscriptions == nil:
		return ahp.FieldProblem("subscriptions", "is missing")
	case len(params.Subscriptions) > p.opts.MaxSubscriptions:
		return p.tooMany()
	}
	params.LastSeenServerSeq = *params.LastSeen
	p.snapshots(r.id, func() (func([]byte) []byte, *ahp.Error) {
		replay, e := p.c.Reconnect(params.ReconnectParams)
		if e != nil {
			return nil, e
		}
		return p.replayResult(replay), nil
	})
	return nil
}

func (p *peer) replayResult(replay host.Replay) func(dst []byte) []byte {
	shape := p.c.Shape()
	return func(dst []byte) []byte {
		dst = append(dst, `{"type":"replay","actions":[`...)
		for i, entry := range replay.Actions {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = entry.AppendEnvelope(dst, shape)
		}
		dst = append(dst, `],"missing":[`...)
		for i, channel := range replay.Missing {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = ahp.AppendJSONString(dst, channel)
		}
		dst = append(dst, ']')
		if len(replay.Owned) > 0 {
			// Strings and numbers: it cannot fail.
			meta, _ := json.Marshal(ahp.ReconnectMeta{Owned: replay.Owned})
			dst = append(append(dst, `,"_meta":`...), meta...)
		}
		return append(dst, '}')
	}
}

func (p *peer) tooMany() *ahp.Error {
	return ahp.NewError(ahp.CodeLimit, "a connection may follow "+strconv.Itoa(p.opts.MaxSubscriptions)+
		" channels; unsubscribe from some", "limit", "http.max_subscriptions")
}

// channelOf reads the channel of params that hold nothing else of interest.
func channelOf(params json.RawMessage) (string, *ahp.Error) {
	var w struct {
		Channel string `json:"channel"`
	}
	if e := decode(params, &w); e != nil {
		return "", e
	}
	if w.Channel == "" {
		return "", ahp.FieldProblem("channel", "is missing")
	}
	return w.Channel, nil
}

func (p *peer) subscribe(r *request) *ahp.Error {
	channel, e := channelOf(r.params)
	if e == nil {
		e = checkDelivery(r.params)
	}
	if e != nil {
		return e
	}
	if p.c.Subscriptions() >= p.opts.MaxSubscriptions && !p.follows(channel) {
		return p.tooMany()
	}
	p.snapshots(r.id, func() (func([]byte) []byte, *ahp.Error) {
		view, e := p.c.Subscribe(channel)
		if e != nil {
			return nil, e
		}
		shape := p.c.Shape()
		return func(dst []byte) []byte {
			return append(view.AppendJSON(append(dst, `{"snapshot":`...), shape), '}')
		}, nil
	})
	return nil
}

// checkDelivery reads how much intentional buffering a subscriber allows, in
// milliseconds. There is none, so that any number is kept to.
func checkDelivery(params json.RawMessage) *ahp.Error {
	var w struct {
		Delivery struct {
			MaxLatencyMs float64 `json:"maxLatencyMs"`
		} `json:"delivery"`
	}
	if e := decode(params, &w); e != nil {
		return e
	}
	if w.Delivery.MaxLatencyMs < 0 {
		return ahp.FieldProblem("delivery.maxLatencyMs", "must not be negative")
	}
	return nil
}

// follows reports whether a channel is subscribed to already.
func (p *peer) follows(channel string) bool {
	uri, ok := ahp.NormalizeChannel(channel)
	return ok && slices.ContainsFunc(p.c.Subscriber().Channels(), func(c *store.Channel) bool { return c.URI() == uri })
}

func (p *peer) unsubscribe(r *request) *ahp.Error {
	channel, e := channelOf(r.params)
	if e != nil {
		return e
	}
	p.c.Unsubscribe(channel)
	p.acknowledge(r)
	return nil
}

func (p *peer) dispatchAction(r *request) *ahp.Error {
	var params struct {
		Channel   string          `json:"channel"`
		ClientSeq *int64          `json:"clientSeq"`
		Action    json.RawMessage `json:"action"`
	}
	if e := decode(r.params, &params); e != nil {
		return e
	}
	switch {
	case params.Channel == "":
		return ahp.FieldProblem("channel", "is missing")
	case params.ClientSeq == nil:
		return ahp.FieldProblem("clientSeq", "is missing")
	}
	action, err := ahp.DecodeAction(params.Action)
	if err != nil {
		return p.rejectMalformed(params.Channel, *params.ClientSeq, params.Action, err)
	}
	taken := p.c.Dispatch(params.Channel, *params.ClientSeq, action)
	if _, ok := action.(ahp.TerminalOutput); ok && taken {
		p.pace.light()
	}
	p.acknowledge(r)
	return nil
}

// rejectMalformed rejects an action whose type is known and whose fields are
// wrong, as any other action that cannot be: its sender waits for the
// clientSeq. What has no type is no action.
func (p *peer) rejectMalformed(channel string, seq int64, raw json.RawMessage, err error) *ahp.Error {
	var fe *ahp.FieldError
	if !errors.As(err, &fe) {
		fe = &ahp.FieldError{Field: "action", Reason: err.Error()}
	}
	var head struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(raw, &head) != nil || head.Type == "" {
		return ahp.FieldProblem(fe.Field, fe.Reason)
	}
	p.c.Reject(channel, seq, ahp.Unknown{Name: head.Type, Raw: raw}, fe.Error())
	return nil
}

// acknowledge answers a notification that was sent as a request.
func (p *peer) acknowledge(r *request) {
	if r.id != nil {
		p.respond(r.id, appendNull)
	}
}

func (p *peer) createTerminal(r *request) *ahp.Error {
	var params struct {
		ahp.CreateTerminalParams
		Claim json.RawMessage `json:"claim"`
	}
	if e := decode(r.params, &params); e != nil {
		return e
	}
	if params.Claim != nil && string(params.Claim) != "null" {
		var claim ahp.Claim
		if err := json.Unmarshal(params.Claim, &claim); err != nil {
			return ahp.FieldProblem("claim", "cannot be read: "+err.Error())
		}
		params.CreateTerminalParams.Claim = &claim
	}
	if params.Channel == "" {
		return ahp.FieldProblem("channel", "is missing")
	}
	if e := p.c.CreateTerminal(params.CreateTerminalParams); e != nil {
		return e
	}
	p.respond(r.id, appendNull)
	return nil
}

// disposeTerminal answers when the processes are gone, which takes seconds if
// they ignore SIGHUP: other messages are answered meanwhile.
func (p *peer) disposeTerminal(r *request) *ahp.Error {
	channel, e := channelOf(r.params)
	if e != nil {
		return e
	}
	select {
	case p.disposals <- struct{}{}:
	case <-p.ctx.Done():
		return nil
	}
	p.background.Go(func() {
		defer func() { <-p.disposals }()
		if e := p.dispose(channel); e != nil {
			p.refuse(r.id, e)
			return
		}
		p.respond(r.id, appendNull)
	})
	return nil
}

// maxDisposals is how many disposals one peer may have going at a time; more
// make it wait.
const maxDisposals = 32

func (p *peer) dispose(channel string) (e *ahp.Error) {
	var err error
	defer func() {
		if err != nil {
			e = ahp.NewError(ahp.CodeInternal, err.Error())
		}
	}()
	defer p.contain(&err)
	return p.c.DisposeTerminal(channel)
}
