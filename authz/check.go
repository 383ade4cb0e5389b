package authz

// Denied is a refusal. Match it with errors.As; Rule may be shown to the peer.
type Denied struct {
	// Rule is the sentence that names the rule, lower case, without full stop.
	Rule string
	// Verb is what was asked for.
	Verb Verb
}

// Error returns "not permitted: " and the rule.
func (d *Denied) Error() string { return "not permitted: " + d.Rule }

// The rules, each a sentence for the refused peer. The rules that begin with a
// verb ("input needs the claim") are made in the conditions below.
const (
	ruleNobody     = "nobody is authenticated"
	ruleNoVerb     = "the verb is unknown"
	ruleExecutor   = "the terminal's executor is unknown"
	ruleForced     = "a key with a forced command may only run that command"
	ruleReadOnly   = "a read-only key may only list and read"
	ruleObserver   = "observers may only look"
	ruleClientOnly = "client-executed terminals are observation-only"
	ruleClaimStays = "the claim of a client-executed terminal stays with its owner"
	ruleClaim      = "passing the claim on needs the claim; only an admin may seize it"
	ruleSeize      = "only an admin may seize the claim"
	ruleDispose    = "only its owner or an admin may dispose a client-executed terminal"
	ruleTokenRole  = "a token may not have a higher role than its key"
	ruleTokenKey   = "tokens are managed by their key, over SSH"
	ruleNoForward  = "this key may not forward ports"
)

// Check reports whether p may do v to t: nil, or a *Denied naming the rule. It
// is pure and may be called concurrently. It has no clock: see Principal.Valid.
func Check(p Principal, v Verb, t Target) error {
	if rule := refusal(p, v, t); rule != "" {
		return &Denied{Rule: rule, Verb: v}
	}
	return nil
}

// refusal returns the rule that refuses, or "" if p may. What a key's options
// take away comes before the table: no role gives it back. A forced command
// outranks ReadOnly, because "restrict,command=..." means exactly that command.
func refusal(p Principal, v Verb, t Target) string {
	switch {
	case p.ID == "" || p.Role < Observer || p.Role > Admin:
		return ruleNobody
	case v <= noVerb || v >= endOfVerbs:
		return ruleNoVerb
	case p.Command != "" && !(t.Forced && servesForced(v)):
		return ruleForced
	case p.Command == "" && p.ReadOnly && !reads(v):
		return ruleReadOnly
	}
	r := generalTable()[v]
	if r.admin == nil {
		switch t.Executor {
		case Server:
			r = serverTable()[v]
		case Client:
			r = clientTable()[v]
		default:
			return ruleExecutor
		}
	}
	switch p.Role {
	case Admin:
		return r.admin(p, v, t)
	case Operator:
		return r.operator(p, v, t)
	default:
		return r.observer(p, v, t)
	}
}

// condition returns the rule that refuses, or "" where the principal may.
type condition func(p Principal, v Verb, t Target) string

// row is one line of a table: the condition for each role.
type row struct{ admin, operator, observer condition }

// table has one row per verb; a verb that is not in it has an empty row.
type table [endOfVerbs]row

// generalTable holds the verbs whose answer does not depend on the executor. It
// and the two tables below are design.md section 8, "Who may do what".
func generalTable() table {
	return table{
		//               admin, operator, observer
		List:           {yes, yes, yes},
		Subscribe:      {yes, yes, yes},
		Read:           {yes, yes, yes},
		Wait:           {yes, yes, yes},
		AttachReadOnly: {yes, yes, yes},
		Create:         {yes, yes, looksOnly},
		MintToken:      {upToOwnRole, upToOwnRole, looksOnly},
		ListTokens:     {asKey, asKey, asKey},
		RevokeToken:    {asKey, asKey, asKey},
		Subsystem:      {yes, yes, yes},
		Forward:        {forwards, forwards, forwards},
	}
}

// serverTable holds the verbs on a terminal that the host runs.
func serverTable() table {
	return table{
		//                admin, operator, observer
		Input:           {holdsOrShared, holdsOrShared, looksOnly},
		Resize:          {holds, holds, looksOnly},
		Clear:           {holds, holds, looksOnly},
		Rename:          {holds, holds, looksOnly},
		Claim:           {yes, passesOn, looksOnly},
		Seize:           {yes, adminOnly, looksOnly},
		Dispose:         {yes, holds, looksOnly},
		Output:          {hostOnly, hostOnly, hostOnly},
		Exited:          {hostOnly, hostOnly, hostOnly},
		CommandExecuted: {hostOnly, hostOnly, hostOnly},
		CommandFinished: {hostOnly, hostOnly, hostOnly},
	}
}

// clientTable holds the verbs on a client-executed terminal.
func clientTable() table {
	return table{
		//                admin, operator, observer
		Input:           {observed, observed, observed},
		Resize:          {owns, owns, looksOnly},
		Clear:           {owns, owns, looksOnly},
		Rename:          {owns, owns, looksOnly},
		Claim:           {claimStays, claimStays, claimStays},
		Seize:           {claimStays, claimStays, claimStays},
		Dispose:         {yes, ownerOrAdmin, looksOnly},
		Output:          {owns, owns, looksOnly},
		Exited:          {owns, owns, looksOnly},
		CommandExecuted: {owns, owns, looksOnly},
		CommandFinished: {owns, owns, looksOnly},
	}
}

func yes(Principal, Verb, Target) string        { return "" }
func looksOnly(Principal, Verb, Target) string  { return ruleObserver }
func adminOnly(Principal, Verb, Target) string  { return ruleSeize }
func observed(Principal, Verb, Target) string   { return ruleClientOnly }
func claimStays(Principal, Verb, Target) string { return ruleClaimStays }

func hostOnly(_ Principal, v Verb, _ Target) string {
	return v.String() + " of a server-executed terminal comes from the host only"
}

// holds is the starred rule of the table.
func holds(_ Principal, v Verb, t Target) string {
	if t.Holds {
		return ""
	}
	return v.String() + " needs the claim"
}

// holdsOrShared is holds, waived by input = "shared".
func holdsOrShared(p Principal, v Verb, t Target) string {
	if t.InputShared {
		return ""
	}
	return holds(p, v, t)
}

// passesOn lets the holder give the claim to somebody else.
func passesOn(_ Principal, _ Verb, t Target) string {
	if t.Holds {
		return ""
	}
	return ruleClaim
}

// owns lets only the owning connection speak for a client-executed terminal.
func owns(_ Principal, v Verb, t Target) string {
	if t.Owner {
		return ""
	}
	return v.String() + " of a client-executed terminal comes from its owner only"
}

// ownerOrAdmin is for the operators; the row permits admins.
func ownerOrAdmin(_ Principal, _ Verb, t Target) string {
	if t.Owner {
		return ""
	}
	return ruleDispose
}

// asKey refuses tokens and peers of the unix socket: tokens belong to a key.
func asKey(p Principal, _ Verb, _ Target) string {
	if p.Fingerprint == "" || p.Token != "" {
		return ruleTokenKey
	}
	return ""
}

// upToOwnRole lets a key mint a token of at most its own role.
func upToOwnRole(p Principal, v Verb, t Target) string {
	if rule := asKey(p, v, t); rule != "" {
		return rule
	}
	if t.TokenRole < Observer || t.TokenRole > p.Role {
		return ruleTokenRole
	}
	return ""
}

// forwards honours no-port-forwarding.
func forwards(p Principal, _ Verb, _ Target) string {
	if p.NoForward {
		return ruleNoForward
	}
	return ""
}

// reads reports whether v is left to a key with restrict or no-pty. Opening a
// connection gives no right by itself: every verb on it is checked again.
func reads(v Verb) bool {
	switch v {
	case List, Subscribe, Read, Wait, AttachReadOnly, ListTokens, Subsystem, Forward:
		return true
	default:
		return false
	}
}

// servesForced reports whether v is part of running a forced command and seeing
// it through to its end.
func servesForced(v Verb) bool {
	switch v {
	case Create, Subscribe, Read, Wait, Input, Resize:
		return true
	default:
		return false
	}
}
