package rpc

import (
	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/store"
)

// approveParams are those of termhost/approve.
type approveParams struct {
	Channel  string `json:"channel"`
	Ask      string `json:"ask"`
	Decision string `json:"decision"` // "yes", "no", "all" or "edit"
	Reason   string `json:"reason"`   // for the agent, with "no"
}

// approve answers termhost/approve: a person decides what an agent may type.
func (p *peer) approve(r *request) *ahp.Error {
	var params approveParams
	if e := ahp.DecodeParams(r.params, &params); e != nil {
		return e
	}
	decision, known := map[string]host.Decision{
		"yes": host.ApproveOnce, "no": host.RefuseOnce, "all": host.ApproveAll,
		"edit": host.EditIt,
	}[params.Decision]
	switch {
	case params.Channel == "":
		return ahp.FieldProblem("channel", "is missing")
	case params.Ask == "":
		return ahp.FieldProblem("ask", "is missing: it says what was looked at")
	case !known:
		return ahp.FieldProblem("decision", `must be "yes", "no", "all" or "edit"`)
	}
	t, e := p.lookup(params.Channel)
	if e != nil {
		return e
	}
	_, err := p.conn.Decide(t, nil, params.Ask, decision, params.Reason)
	if e := refusal(p.conn, err); e != nil {
		return e
	}
	p.respond(r.id, appendNull)
	return nil
}

// appendAsks appends the notification of what agents want to type, or nothing if the terminal is
// gone.
func (p *peer) appendAsks(dst []byte, channel string) []byte {
	asks, known := p.conn.ReadableAsks(channel)
	if !known {
		return dst
	}
	return ahp.AppendNotification(dst, p.conn.NameOf(ahp.MethodAsks), struct {
		Channel string            `json:"channel"`
		Asks    []ahp.TerminalAsk `json:"asks"`
	}{channel, append([]ahp.TerminalAsk{}, asks...)})
}

// appendTrustOver appends the notification that the approval of all has ended.
func (p *peer) appendTrustOver(dst []byte, channel string, over store.TrustOver) []byte {
	return ahp.AppendNotification(dst, p.conn.NameOf(ahp.MethodTrustOver), struct {
		Channel string `json:"channel"`
		By      string `json:"by"`
		Reason  string `json:"reason"`
	}{channel, over.By, over.Why})
}
