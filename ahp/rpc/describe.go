package rpc

import (
	"errors"

	"termhost/ahp"
	"termhost/ahp/host"
)

// status answers termhost/status: somebody says how a terminal's program stands.
func (p *peer) status(r *request) *ahp.Error {
	var params struct {
		Channel string     `json:"channel"`
		State   host.State `json:"state"`
		Text    string     `json:"text"`
	}
	t, e := p.named(r, &params, &params.Channel)
	if e != nil {
		return e
	}
	err := p.conn.SetStatus(t, host.Said{State: params.State, Text: params.Text})
	if none := new(host.StateError); errors.As(err, &none) {
		return ahp.FieldProblem("state", none.Error())
	}
	if e := refusal(p.conn, err); e != nil {
		return e
	}
	p.respond(r.id, appendNull)
	return nil
}

// label answers termhost/label: somebody changes a terminal's labels.
func (p *peer) label(r *request) *ahp.Error {
	var params struct {
		Channel string             `json:"channel"`
		Labels  map[string]*string `json:"labels"` // nil takes one away
	}
	if e := ahp.DecodeParams(r.params, &params); e != nil {
		return e
	}
	if e := require(field{"channel", params.Channel != ""},
		field{"labels", params.Labels != nil}); e != nil {
		return e
	}
	t, e := p.lookup(params.Channel)
	if e != nil {
		return e
	}
	var changes []string
	for k, v := range params.Labels {
		if v == nil {
			changes = append(changes, k+"-")
		} else {
			changes = append(changes, k+"="+*v)
		}
	}
	err := p.conn.Label(t, changes...)
	if none := new(ahp.LabelError); errors.As(err, &none) || errors.Is(err, ahp.ErrLabels) {
		return ahp.FieldProblem("labels", "cannot be these: "+err.Error())
	}
	if e := refusal(p.conn, err); e != nil {
		return e
	}
	p.respond(r.id, appendNull)
	return nil
}
