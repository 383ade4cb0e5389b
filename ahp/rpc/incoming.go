package rpc

import (
	"strconv"
	"strings"

	"termhost/ahp"
)

// incoming is what the peer sends in frames on a channel. The host consumes each message when it is
// whole.
type incoming struct {
	part     []byte // of a message that is not whole yet
	partSize int64  // in bytes of UTF-16
	taken    int64  // of whole messages in all, in bytes of UTF-16
}

func init() { // not in its literal: a frame has a message, which methods answer
	methods[ahp.MethodChannelFrame] = method{answer: (*peer).frame, notification: true}
}

// hostReceives are the limits of what peers send in frames: keys, and output of terminals that they
// execute, for which the host has limits of its own.
var hostReceives = receiveLimits{Window: 512 << 10, Frame: 128 << 10, Message: 512 << 10}

// maxPartial bounds what has come of messages that are not whole, on all channels, in bytes of
// UTF-16.
const maxPartial = 4 << 20

// frame takes a piece of a message of the peer.
func (p *peer) frame(r *request) *ahp.Error {
	var params struct {
		Channel string `json:"channel"`
		Data    string `json:"data"`
		Final   bool   `json:"final"`
	}
	if e := ahp.DecodeParams(r.params, &params); e != nil {
		return e
	}
	uri, _ := p.conn.ChannelURI(params.Channel)
	w := p.windows.of(uri)
	p.acknowledge(r)
	if w == nil {
		p.postNote(ahp.MethodChannelReset, params.Channel)
		return nil
	}
	w.partSize += sizeUTF16([]byte(params.Data))
	w.part = append(w.part, params.Data...)
	if params.Data == "" || w.partSize > hostReceives.Message ||
		!params.Final && p.windows.partial() > maxPartial {
		p.resetChannel(w, "frames that are empty or too large")
		return nil
	}
	if !params.Final {
		return nil
	}
	msg := w.part
	w.taken += w.partSize
	w.part, w.partSize = nil, 0
	inner, bad := parse(msg)
	if bad != nil || inner == nil || inner.id != nil || !p.belongs(inner, uri) {
		p.resetChannel(w, "a message that is no notification of the channel")
		return nil
	}
	p.handle(msg)
	consumed := w.taken
	p.conn.Subscriber().Post(func(dst []byte) []byte {
		if p.windows.of(uri) != w {
			return dst
		}
		dst = append(dst, `{"jsonrpc":"2.0","method":"`+ahp.MethodChannelCredit+
			`","params":{"channel":`...)
		dst = append(ahp.AppendJSONString(dst, uri), `,"consumedBytes":`...)
		return append(strconv.AppendInt(dst, consumed, 10), `}}`...)
	}, 0)
	return nil
}

// partial returns how much has come of messages that are not whole, in bytes of UTF-16.
func (ws *windows) partial() (size int64) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for _, w := range ws.byURI {
		size += w.partSize
	}
	return size
}

// belongs reports whether a message may come in frames on a channel: it is about that channel, and
// not about the delivery itself.
func (p *peer) belongs(r *request, uri string) bool {
	channel, e := channelOf(r.params)
	if e != nil || strings.HasPrefix(r.method, "channel/") {
		return false
	}
	own, ok := p.conn.ChannelURI(channel)
	return ok && own == uri
}

// credit takes how much the peer has consumed.
func (p *peer) credit(r *request) *ahp.Error {
	var params struct {
		Channel  string `json:"channel"`
		Consumed *int64 `json:"consumedBytes"`
	}
	if e := ahp.DecodeParams(r.params, &params); e != nil {
		return e
	}
	if e := require(field{"channel", params.Channel != ""},
		field{"consumedBytes", params.Consumed != nil}); e != nil {
		return e
	}
	uri, _ := p.conn.ChannelURI(params.Channel)
	ws := &p.windows
	ws.mu.Lock()
	w := ws.byURI[uri]
	var err error
	if w != nil {
		err = w.consume(*params.Consumed)
	}
	ws.mu.Unlock()
	p.acknowledge(r)
	if err != nil {
		p.resetChannel(w, err.Error())
		return nil
	}
	select {
	case ws.signal <- struct{}{}:
	default:
	}
	return nil
}

// reset ends a subscription at the peer's wish.
func (p *peer) reset(r *request) *ahp.Error {
	channel, e := channelOf(r.params)
	if e != nil {
		return e
	}
	p.endSubscription(channel)
	p.acknowledge(r)
	return nil
}

// endSubscription is unsubscribe.
func (p *peer) endSubscription(channel string) {
	if uri, ok := p.conn.ChannelURI(channel); ok {
		p.windows.drop(uri)
	}
	p.conn.Unsubscribe(channel)
}

// resetChannel ends a subscription whose peer breaks the rules.
func (p *peer) resetChannel(w *window, why string) {
	p.log.Debug("a channel is reset: the peer has sent "+why, "channel", w.uri)
	p.endSubscription(w.uri)
	p.postNote(ahp.MethodChannelReset, w.uri)
}

// postNote sends a notification that has only its channel.
func (p *peer) postNote(method, channel string) {
	p.conn.Subscriber().Post(func(dst []byte) []byte {
		return channelNote(dst, method, channel)
	}, 0)
}
