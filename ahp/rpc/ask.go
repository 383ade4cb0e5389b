package rpc

import (
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
	t, e := p.lookup(channel)
	if e != nil {
		return e
	}
	asked, err := p.conn.Ask(t, nil)
	return p.answer(r, struct {
		Holder string `json:"holder"`
		Here   bool   `json:"here"`
	}(asked), refusal(p.conn, err))
}

// handBack answers termhost/handBack: the holder passes the keyboard on.
func (p *peer) handBack(r *request) *ahp.Error {
	var params struct {
		Channel string `json:"channel"`
		Asked   bool   `json:"asked"`
	}
	t, e := p.named(r, &params, &params.Channel)
	if e != nil {
		return e
	}
	back, err := p.conn.HandBack(t, nil, params.Asked)
	return p.answer(r, struct {
		To    string `json:"to,omitempty"`
		Asked bool   `json:"asked,omitempty"`
	}(back), refusal(p.conn, err))
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
	if e := require(field{"channel", params.Channel != ""},
		field{"on", params.On != nil}); e != nil {
		return e
	}
	t, e := p.lookup(params.Channel)
	if e != nil {
		return e
	}
	if e := refusal(p.conn, p.conn.SetGuard(t, *params.On)); e != nil {
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
	text := ahp.Encode(result)
	p.respond(r.id, func(dst []byte) []byte { return append(dst, text...) })
	return nil
}

// askedNotice are the params of termhost/asked. By has asked just now.
type askedNotice struct {
	Channel string   `json:"channel"`
	Asks    []string `json:"asks"`
	By      string   `json:"by,omitempty"`
}

// appendAsked appends the notification of who asks for the keyboard, or nothing if the peer does
// not hold the claim.
func (p *peer) appendAsked(dst []byte, channel string, a store.Asked) []byte {
	names, holds := p.conn.AskedBy(channel)
	if !holds {
		return dst
	}
	n := askedNotice{Channel: channel, Asks: append([]string{}, names...)}
	if slices.Contains(names, a.By) {
		n.By = a.By
	}
	return ahp.AppendNotification(dst, p.conn.NameOf(ahp.MethodAsked), n)
}
