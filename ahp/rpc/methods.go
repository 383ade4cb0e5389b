package rpc

import (
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/store"
)

// method is how one of AHP's methods is answered.
type method struct {
	// answer answers a request, at once or later. An error that it returns is the
	// answer.
	answer       func(*peer, *request) *ahp.Error
	notification bool // may come without an id
	early        bool // may come before initialize
}

var methods = map[string]method{
	ahp.MethodInitialize:      {answer: (*peer).initialize, early: true},
	ahp.MethodReconnect:       {answer: (*peer).reconnect, early: true},
	ahp.MethodPing:            {answer: (*peer).ping, early: true},
	ahp.MethodSubscribe:       {answer: (*peer).subscribe},
	ahp.MethodUnsubscribe:     {answer: (*peer).unsubscribe, notification: true},
	ahp.MethodDispatchAction:  {answer: (*peer).dispatchAction, notification: true},
	ahp.MethodCreateTerminal:  {answer: (*peer).createTerminal},
	ahp.MethodDisposeTerminal: {answer: (*peer).disposeTerminal},
	ahp.MethodListSessions:    {answer: (*peer).listSessions},
	ahp.MethodAck:             {answer: (*peer).acknowledged, notification: true},
	ahp.MethodWait:            {answer: (*peer).wait},
	ahp.MethodHeld:            {answer: (*peer).held},
	ahp.MethodApprove:         {answer: (*peer).approve},
	ahp.MethodHistory:         {answer: (*peer).history},
	ahp.MethodLog:             {answer: (*peer).wholeLog},
	ahp.MethodScreen:          {answer: (*peer).screen},
	ahp.MethodLines:           {answer: (*peer).lines},
	ahp.MethodFind:            {answer: (*peer).find},
	ahp.MethodSearch:          {answer: (*peer).search},

	ahp.MethodRecordings: {answer: (*peer).recordings},

	ahp.MethodAsk:      {answer: (*peer).ask},
	ahp.MethodHandBack: {answer: (*peer).handBack},
	ahp.MethodGuard:    {answer: (*peer).guard},
	ahp.MethodPicture:  {answer: (*peer).picture},
	ahp.MethodDrop:     {answer: (*peer).drop},
	ahp.MethodStatus:   {answer: (*peer).status},
	ahp.MethodLabel:    {answer: (*peer).label},
	ahp.MethodLooking:  {answer: (*peer).looking, notification: true},

	ahp.MethodChannelCredit: {answer: (*peer).credit, notification: true},
	ahp.MethodChannelReset:  {answer: (*peer).reset, notification: true},
}

// handle answers one message.
func (p *peer) handle(msg []byte) {
	r, bad := parse(msg)
	if bad != nil {
		var id []byte
		if r != nil {
			id = r.id
		}
		p.refuse(id, bad)
		return
	}
	if r == nil {
		return // a response: this host sends no requests
	}
	name, reserved := ahp.Plain(r.method)
	if reserved {
		p.conn.UseReservedNames()
	}
	m, known := methods[name]
	if !known {
		if !p.extended(r, name) {
			p.refuseUnknown(r)
		}
		return
	}
	if r.id == nil && !m.notification {
		p.refuse(nil, errNeedsID(r.method))
		return
	}
	if !m.early && !p.conn.Initialized() {
		p.refuse(r.id, errNotInitialized)
		return
	}
	answer := m.answer
	if door := p.opts.Fleet.Door(); door != nil && !m.early {
		if e := p.hostMissing(door, r, name); e != nil {
			p.refuse(r.id, e)
			return
		}
		if p.passesOn(door, r, name) {
			answer = (*peer).passOn
		}
	}
	if e := answer(p, r); e != nil {
		p.refuse(r.id, e)
	}
}

var errNotInitialized = invalid("not initialized: send initialize or reconnect first")

func errNeedsID(method string) *ahp.Error {
	return invalid(method + " is a request and needs an id")
}

// maxMethodName is how much of the name of an unknown method is repeated, in bytes.
const maxMethodName = 64

func (p *peer) refuseUnknown(r *request) {
	if !p.conn.Initialized() {
		p.refuse(r.id, errNotInitialized)
		return
	}
	name := host.Printable(r.method)
	name = name[:min(len(name), maxMethodName)]
	if r.id == nil {
		p.log.Debug("unknown notification ignored", "method", name)
		return
	}
	p.refuse(r.id, ahp.NewError(ahp.CodeMethodNotFound, "termhost does not implement "+name,
		"method", name))
}

func (p *peer) ping(r *request) *ahp.Error {
	p.respond(r.id, appendNull)
	return nil
}

func (p *peer) listSessions(r *request) *ahp.Error {
	p.respond(r.id, func(dst []byte) []byte { return append(dst, `{"items":[]}`...) })
	return nil
}

// channelOf returns the channel that params name.
func channelOf(params json.RawMessage) (string, *ahp.Error) {
	var w struct {
		Channel string `json:"channel"`
	}
	if e := ahp.DecodeParams(params, &w); e != nil {
		return "", e
	}
	return w.Channel, require(field{"channel", w.Channel != ""})
}

func (p *peer) subscribe(r *request) *ahp.Error {
	channel, e := channelOf(r.params)
	if e != nil {
		return e
	}
	delay, e := delayOf(r.params)
	if e != nil {
		return e
	}
	limits, windowed, e := offerOf(r.params)
	if e != nil {
		return e
	}
	screen, e := p.screenOf(r.params)
	if e != nil {
		return e
	}
	if p.full(1) && !p.follows(channel) {
		return p.tooMany()
	}
	p.listElsewhere(channel)
	answer := func(dst []byte, v store.View) []byte {
		dst = append(appendHead(dst, r.id), `,"result":`...)
		return append(p.appendSubscribed(dst, v, limits, windowed), '}')
	}
	var err error
	if screen != nil {
		err = p.conn.SubscribeScreen(channel, *screen, answer)
	} else {
		err = p.conn.Subscribe(channel, answer)
	}
	if err == nil {
		uri, _ := p.conn.ChannelURI(channel)
		p.conn.Subscriber().Delay(uri, delay)
	}
	return Error(p.conn, err)
}

// delayOf returns for how long a subscriber lets output wait (AHP, SubscribeDeliveryOptions).
func delayOf(params json.RawMessage) (time.Duration, *ahp.Error) {
	var w struct {
		Delivery struct {
			MaxLatencyMs float64 `json:"maxLatencyMs"`
		} `json:"delivery"`
	}
	if e := ahp.DecodeParams(params, &w); e != nil {
		return 0, e
	}
	ms := w.Delivery.MaxLatencyMs
	if ms < 0 {
		return 0, ahp.FieldProblem("delivery.maxLatencyMs", "must not be negative")
	}
	const most = float64(time.Hour / time.Millisecond) // more than the store waits
	return time.Duration(min(ms, most) * float64(time.Millisecond)), nil
}

// follows reports whether a channel is subscribed to already.
func (p *peer) follows(channel string) bool {
	uri, ok := p.conn.ChannelURI(channel)
	return ok && p.conn.Subscriber().Channel(uri) != nil
}

func (p *peer) unsubscribe(r *request) *ahp.Error {
	channel, e := channelOf(r.params)
	if e != nil {
		return e
	}
	p.endSubscription(channel)
	p.acknowledge(r)
	return nil
}

// dispatchParams are the params of dispatchAction.
type dispatchParams struct {
	Channel   string          `json:"channel"`
	ClientSeq *int64          `json:"clientSeq"`
	Action    json.RawMessage `json:"action"`
}

// text decodes an action with text, such as keys, from its parts, so that no text is scanned again:
// it was once with the whole message. ok: it is one, and its params have the types that they must
// have. err is that of [ahp.DecodeAction].
func (a *actionParts) text() (params dispatchParams, action ahp.Action, ok bool, err error) {
	var kind string
	seq, bad := strconv.ParseInt(string(a.clientSeq), 10, 64)
	if bad != nil || !isText(a.channel, &params.Channel) || params.Channel == "" ||
		len(a.whole) == 0 || a.whole[0] != '{' || !isText(a.kind, &kind) || !ahp.HasText(kind) {
		return dispatchParams{}, nil, false, nil
	}
	params.ClientSeq, params.Action = &seq, a.whole
	action, err = ahp.DecodeText(kind, a.data, a.meta)
	return params, action, true, err
}

func (p *peer) dispatchAction(r *request) *ahp.Error {
	params, action, ok, err := r.action.text()
	if !ok {
		if e := ahp.DecodeParams(r.params, &params); e != nil {
			return e
		}
		if e := require(field{"channel", params.Channel != ""},
			field{"clientSeq", params.ClientSeq != nil}); e != nil {
			return e
		}
		action, err = ahp.DecodeAction(params.Action)
	}
	if err != nil {
		return p.rejectMalformed(params.Channel, *params.ClientSeq, params.Action, err)
	}
	if p.tooLate(r.params, action) {
		p.conn.Reject(params.Channel, *params.ClientSeq, ahp.Unknown{Name: action.Type()},
			"the host was silent; not typed")
		p.acknowledge(r)
		return nil
	}
	taken := p.conn.Dispatch(params.Channel, *params.ClientSeq, action)
	if _, ok := action.(ahp.TerminalOutput); ok && taken {
		p.rate.discount()
		_ = p.conn.Pace(p.ctx, 0, -outputDiscount) // a refund
	}
	p.acknowledge(r)
	return nil
}

// tooLate reports whether a door has passed on keys that come too late: see package relay.
func (p *peer) tooLate(params json.RawMessage, action ahp.Action) (late bool) {
	if _, typed := action.(ahp.TerminalInput); !typed || p.opts.Late == nil {
		return false
	}
	ahp.EachMember(params, func(name string, value []byte) {
		if name == "heard" {
			heard, err := strconv.ParseUint(string(value), 10, 64)
			late = err == nil && p.opts.Late(heard) > 0
		}
	})
	return late
}

// rejectMalformed rejects an action whose type is known and whose fields are wrong,
// like any other action that cannot be done: its sender waits for an answer with the
// clientSeq. What has no type is not an action, and gets an error.
func (p *peer) rejectMalformed(channel string, seq int64, raw json.RawMessage,
	err error) *ahp.Error {
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
	p.conn.Reject(channel, seq, ahp.Unknown{Name: head.Type, Raw: raw}, fe.Error())
	return nil
}

// acknowledge answers a notification that was sent as a request.
func (p *peer) acknowledge(r *request) {
	if r.id != nil {
		p.respond(r.id, appendNull)
	}
}

// maxDisposals is how many disposals one peer may have going on; with more it has to
// wait.
const maxDisposals = 32

// disposeTerminal answers when the processes are gone, which takes seconds if they
// ignore SIGHUP.
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
	dispose := func() (json.RawMessage, *ahp.Error) {
		return json.RawMessage("null"), DisposeTerminal(p.conn, channel)
	}
	p.answerLater(r.id, dispose, func() { <-p.disposals })
	return nil
}

// DisposeTerminal is AHP's disposeTerminal on a connection.
func DisposeTerminal(c *host.Conn, channel string) *ahp.Error {
	t, e := valid(c, channel)
	if e != nil {
		return e
	}
	return Error(c, c.Dispose(t))
}
