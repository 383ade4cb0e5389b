package rpc

import (
	"termhost/ahp"
	"termhost/ahp/host"
)

// approveParams are those of termhost/approve.
type approveParams struct {
	Channel  string `json:"channel"`
	Ask      string `json:"ask"`
	Decision string `json:"decision"` // "yes" or "no"
	Reason   string `json:"reason"`   // told to the agent with a no
}

// approve answers termhost/approve: a person decides about what an agent wants to type.
func (p *peer) approve(r *request) *ahp.Error {
	var params approveParams
	if e := ahp.DecodeParams(r.params, &params); e != nil {
		return e
	}
	decision, known := map[string]host.Decision{
		"yes": host.ApproveOnce, "no": host.RefuseOnce,
	}[params.Decision]
	switch {
	case params.Channel == "":
		return ahp.FieldProblem("channel", "is missing")
	case params.Ask == "":
		return ahp.FieldProblem("ask", "is missing: it says what was looked at")
	case !known:
		return ahp.FieldProblem("decision", `must be "yes" or "no"`)
	}
	if e := p.conn.Approve(params.Channel, params.Ask, decision, params.Reason); e != nil {
		return e
	}
	p.respond(r.id, appendNull)
	return nil
}
