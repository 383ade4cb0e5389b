package rpc

import (
	"encoding/json"
	"slices"

	"termhost/ahp"
	"termhost/ahp/store"
)

// ask answers termhost/ask: the holder is asked for the keyboard.
func (p *peer) ask(r *request) *ahp.Error {
	channel, e := channelOf(r.params)
	if e != nil {
		return e
	}
	asked, e := p.conn.Ask(channel)
	return p.answer(r, asked, e)
}

// handBack answers termhost/handBack: the holder passes the keyboard on.
func (p *peer) handBack(r *request) *ahp.Error {
	var params struct {
		Channel string `json:"channel"`
		Asked   bool   `json:"asked"`
	}
	if e := ahp.DecodeParams(r.params, &params); e != nil {
		return e
	}
	if params.Channel == "" {
		return ahp.FieldProblem("channel", "is missing")
	}
	back, e := p.conn.HandBack(params.Channel, params.Asked)
	return p.answer(r, back, e)
}

// guard answers termhost/guard: a person turns a terminal's guard on or off.
func (p *peer) guard(r *request) *ahp.Error {
	var params struct {
		Channel string `json:"channel"`
		On      *bool  `json:"on"`
	}
	if e := ahp.DecodeParams(r.params, &params); e != nil {
		return e
	}
	switch {
	case params.Channel == "":
		return ahp.FieldProblem("channel", "is missing")
	case params.On == nil:
		return ahp.FieldProblem("on", "is missing")
	}
	if e := p.conn.Guard(params.Channel, *params.On); e != nil {
		return e
	}
	p.respond(r.id, appendNull)
	return nil
}

// answer answers a request with a result of strings and flags, or returns e.
func (p *peer) answer(r *request, result any, e *ahp.Error) *ahp.Error {
	if e != nil {
		return e
	}
	text, _ := json.Marshal(result) // it cannot fail
	p.respond(r.id, func(dst []byte) []byte { return append(dst, text...) })
	return nil
}

// appendAsked appends the notification of who asks for the keyboard, or nothing if the peer does
// not hold the claim.
func (p *peer) appendAsked(dst []byte, channel string, a store.Asked) []byte {
	names, holds := p.conn.AskedBy(channel)
	if !holds {
		return dst
	}
	dst = append(dst, `{"jsonrpc":"2.0","method":"`+ahp.MethodAsked+`","params":{"channel":`...)
	dst = append(ahp.AppendJSONString(dst, channel), `,"asks":[`...)
	for i, name := range names {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = ahp.AppendJSONString(dst, name)
	}
	dst = append(dst, ']')
	if slices.Contains(names, a.By) {
		dst = ahp.AppendJSONString(append(dst, `,"by":`...), a.By)
	}
	return append(dst, "}}"...)
}
