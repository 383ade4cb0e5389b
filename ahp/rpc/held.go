package rpc

import (
	"termhost/ahp"
	"termhost/ahp/host"
)

// held answers termhost/held: what agents want to type into a terminal that the peer does not
// follow, and what has become of an ask.
func (p *peer) held(r *request) *ahp.Error {
	var params struct {
		Channel string `json:"channel"`
		Ask     string `json:"ask"` // "": of no one
	}
	t, e := p.named(r, &params, &params.Channel)
	if e != nil {
		return e
	}
	asks, _ := p.conn.ReadableAsks(params.Channel)
	answer := struct {
		Asks    []ahp.TerminalAsk `json:"asks"`
		Outcome *host.Outcome     `json:"outcome,omitempty"`
	}{Asks: append([]ahp.TerminalAsk{}, asks...)}
	if o, known := p.conn.Outcome(t, params.Ask); known {
		answer.Outcome = &o
	}
	p.respond(r.id, func(dst []byte) []byte { return append(dst, ahp.Encode(answer)...) })
	return nil
}
