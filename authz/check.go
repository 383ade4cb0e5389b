package authz

import (
	"strings"

	"termhost/keys"
)

// Denied is a refusal. Match it with errors.As; Rule may be shown to the peer.
type Denied struct {
	// Rule is the sentence that names the rule, lower case, without full stop.
	Rule string
	// Verb is what was denied.
	Verb Verb
	// Terminal is the terminal's NAME, for the audit log; "": the verb is not about one.
	Terminal string
}

// Is makes refusals by the same rule match with errors.Is, whatever the terminal.
func (d *Denied) Is(target error) bool {
	other, ok := target.(*Denied)
	return ok && d.Rule == other.Rule && d.Verb == other.Verb
}

// Error returns "not permitted: " and the rule.
func (d *Denied) Error() string { return "not permitted: " + d.Rule }

// The rules, each a sentence for the refused peer. Those that begin with a verb ("input needs the
// claim") are in the conditions below.
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
	ruleName       = "only its owner or an admin may rename a client-executed terminal"
	ruleTokenRole  = "a token may not have a higher role than its key"
	rulePageRole   = "a page may not have a higher role than who opens it"
	ruleTokenKey   = "tokens are managed by their key, over SSH"
	ruleNoForward  = "this key may not forward ports"
	rulePermits    = "the permitopen or permitlisten of this key does not name that"
	rulePrivate    = "only an admin may reach the host's own socket"
	ruleNoAgent    = "this key may not forward an agent"
	ruleGuest      = "a guest may only use the terminals that it was invited to"
	ruleGuestAsks  = "a guest does not decide what agents type"
	ruleLink       = "the link of a notification opens the terminals that it is about, and no more"
	ruleHidden     = "a guest sees only the terminals that it was invited to"
	ruleInviteRole = "a guest's role is observer or operator, and at most your own"
	ruleInvites    = "invitations are made with a key, not from inside a terminal"
	ruleKick       = "only an admin may kick"
	ruleDescribe   = "only whoever has its keyboard or made it, or an admin, may say that" +
		" of a terminal"
	ruleRecord   = "only its owner or an admin may record a client-executed terminal"
	ruleRecorder = "only who had it made, or an admin, may delete a recording"
	ruleApprove  = "only whoever has the keyboard, the key of the agent's token," +
		" or an admin decides what agents type"
)

// RulePipes refuses input to a program on pipes: only the connection that started it may send it.
const RulePipes = "it runs on pipes: only the connection that started it sends it input"

// RuleAgent refuses approvals by agents: by tokens other than pages', and by processes inside a
// terminal. The host, which knows the door, refuses those of AHP peers.
const RuleAgent = "a person decides that: no token, no peer of AHP and no process inside a terminal"

// RuleInside refuses a process inside a terminal what only a person may do: an agent may have
// started it.
const RuleInside = "you are inside a terminal of this host, where anybody may be an agent; " +
	"do it from outside of it"

// Check reports whether p may do v to t: nil, or a *Denied naming the rule. It
// is pure and may be called concurrently. It has no clock: see Principal.Valid.
func Check(p Principal, v Verb, t Target) error {
	if rule := refusal(p, v, t); rule != "" {
		return &Denied{Rule: rule, Verb: v, Terminal: t.Called}
	}
	return nil
}

// refusal returns the rule that refuses, or "" if p may. The restrictions of a key's options come
// before the tables: no role lifts them. A forced command outranks ReadOnly, because
// "restrict,command=..." means that this command may be run.
func refusal(p Principal, v Verb, t Target) string {
	switch {
	case p.ID == "" || p.Role < Observer || p.Role > Admin:
		return ruleNobody
	case v <= noVerb || v >= endOfVerbs:
		return ruleNoVerb
	case p.Command != "" && !(t.Forced && servesForced(v)):
		return ruleForced
	case p.Command == "" && p.ReadOnly && !reads(v) && !(p.Forwards && forwardsPorts(v)):
		return ruleReadOnly
	}
	rule := ""
	switch {
	case p.Guest != "":
		rule = guestRefusal(p, v, t)
	case p.Reach != "":
		rule = linkRefusal(p, v, t)
	}
	if rule != "" {
		return rule
	}
	r := &general[v]
	if r.admin == nil {
		switch t.Executor {
		case Server:
			r = &server[v]
		case Client:
			r = &client[v]
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

// The tables, which nobody changes.
var general, server, client = generalTable(), serverTable(), clientTable()

// generalTable holds the verbs whose answer does not depend on the executor.
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
		OpenPage:       {opensPage, opensPage, opensPage},
		ListTokens:     {asOwner, asOwner, asOwner},
		RevokeToken:    {asOwner, asOwner, asOwner},
		Subsystem:      {yes, yes, yes},
		Forward:        {opens, opens, opens},
		ForwardOpen:    {opens, opens, looksOnly},
		ForwardListen:  {listens, listens, looksOnly},
		ForwardAgent:   {agent, agent, looksOnly},
		Files:          {yes, yes, looksOnly},
		Invite:         {invites, invites, looksOnly},
		Kick:           {yes, kicksNobody, kicksNobody},

		DeleteRecording: {yes, recorder, looksOnly},
	}
}

// serverTable holds the verbs on a terminal that the host runs.
func serverTable() table {
	return table{
		//                admin, operator, observer
		Input:           {types, types, looksOnly},
		Resize:          {holds, holds, looksOnly},
		Clear:           {holds, holds, looksOnly},
		Rename:          {holds, holds, looksOnly},
		Name:            {yes, holds, looksOnly},
		Describe:        {yes, describes, looksOnly},
		Claim:           {yes, passesOn, looksOnly},
		Seize:           {seizes, adminOnly, looksOnly},
		Dispose:         {yes, holds, looksOnly},
		Approve:         {approves, approves, looksOnly},
		Record:          {yes, holds, looksOnly},
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
		Name:            {yes, namesOwn, looksOnly},
		Describe:        {yes, describes, looksOnly},
		Claim:           {claimStays, claimStays, claimStays},
		Seize:           {claimStays, claimStays, claimStays},
		Dispose:         {yes, ownerOrAdmin, looksOnly},
		Approve:         {observed, observed, observed},
		Record:          {yes, recordsOwn, looksOnly},
		Output:          {owns, owns, looksOnly},
		Exited:          {owns, owns, looksOnly},
		CommandExecuted: {owns, owns, looksOnly},
		CommandFinished: {owns, owns, looksOnly},
	}
}

func yes(Principal, Verb, Target) string         { return "" }
func looksOnly(Principal, Verb, Target) string   { return ruleObserver }
func adminOnly(Principal, Verb, Target) string   { return ruleSeize }
func kicksNobody(Principal, Verb, Target) string { return ruleKick }
func observed(Principal, Verb, Target) string    { return ruleClientOnly }
func claimStays(Principal, Verb, Target) string  { return ruleClaimStays }

func hostOnly(_ Principal, v Verb, _ Target) string {
	return v.String() + " of a server-executed terminal comes from the host only"
}

// holds permits the holder of the claim.
func holds(_ Principal, v Verb, t Target) string {
	if t.Holds {
		return ""
	}
	return v.String() + " needs the claim"
}

// types is holds, waived by input = "shared". Nobody types into a program on pipes.
func types(p Principal, v Verb, t Target) string {
	switch {
	case t.Piped:
		return RulePipes
	case t.InputShared:
		return ""
	}
	return holds(p, v, t)
}

// seizes permits an admin to take the claim, unless the program runs on pipes.
func seizes(_ Principal, _ Verb, t Target) string {
	if t.Piped {
		return RulePipes
	}
	return ""
}

// passesOn permits the holder to pass the claim on, and a person to take it from another of their
// windows, such as a page from an SSH session. A page may also take it from its person's agents,
// which it supervises: the person could revoke their tokens.
func passesOn(p Principal, _ Verb, t Target) string {
	if t.Holds || t.Yours || p.IsPage() && t.HoldsByToken {
		return ""
	}
	return ruleClaim
}

// approves permits approving an agent's input to principals that may type, or whose own token holds
// the claim. A page counts as its person: only a key, or a user of this machine outside of the
// host's terminals, opens one.
func approves(p Principal, _ Verb, t Target) string {
	switch {
	case t.Piped && !t.Unstarted:
		return RulePipes
	case p.Inside:
		return RuleInside
	case p.Token != "" && !p.IsPage():
		return RuleAgent
	case p.Role == Admin, t.Holds, t.HoldsByToken, t.InputShared, p.IsPage() && t.Yours:
		return ""
	}
	return ruleApprove
}

// owns permits only the owning connection to act for a client-executed terminal.
func owns(_ Principal, v Verb, t Target) string {
	if t.Owner {
		return ""
	}
	return v.String() + " of a client-executed terminal comes from its owner only"
}

// ownerOrAdmin is the condition for operators in a row that permits admins anyway.
func ownerOrAdmin(_ Principal, _ Verb, t Target) string {
	if t.Owner {
		return ""
	}
	return ruleDispose
}

// describes permits the holder, the holder's person, and who has made the terminal: an agent whose
// keyboard was taken is not silenced.
func describes(_ Principal, _ Verb, t Target) string {
	if t.Holds || t.Yours || t.HoldsByToken || t.Made {
		return ""
	}
	return ruleDescribe
}

// namesOwn is the condition for operators in a row that permits admins anyway.
func namesOwn(_ Principal, _ Verb, t Target) string {
	if t.Owner {
		return ""
	}
	return ruleName
}

// recordsOwn is the condition for operators in a row that permits admins anyway.
func recordsOwn(_ Principal, _ Verb, t Target) string {
	if t.Owner {
		return ""
	}
	return ruleRecord
}

// recorder permits those who had the recording made to delete it.
func recorder(_ Principal, _ Verb, t Target) string {
	if t.Recorder {
		return ""
	}
	return ruleRecorder
}

// asKey refuses tokens and peers of the unix socket, because tokens are managed by their key.
func asKey(p Principal, _ Verb, _ Target) string {
	if p.Fingerprint == "" || p.Token != "" {
		return ruleTokenKey
	}
	return ""
}

// asOwner is asKey that permits users of this machine, too: they may have pages.
func asOwner(p Principal, _ Verb, _ Target) string {
	if p.owner() == "" || p.Token != "" {
		return ruleTokenKey
	}
	return ""
}

// opensPage permits a key, or a user of this machine, to open a page of at most its own role.
func opensPage(p Principal, v Verb, t Target) string {
	if rule := asOwner(p, v, t); rule != "" {
		return rule
	}
	if p.Inside {
		return RuleInside // a page is never an agent
	}
	if t.TokenRole < Observer || t.TokenRole > p.Role {
		return rulePageRole
	}
	return ""
}

// invites permits a key, or a user of this machine, to invite guests of at most its own role.
func invites(p Principal, _ Verb, t Target) string {
	switch {
	case p.Token != "":
		return ruleTokenKey
	case p.Inside:
		return RuleInside
	case t.TokenRole < Observer || t.TokenRole > min(p.Role, Operator):
		return ruleInviteRole
	}
	return ""
}

// upToOwnRole permits a key to mint a token of at most its own role.
func upToOwnRole(p Principal, v Verb, t Target) string {
	if rule := asKey(p, v, t); rule != "" {
		return rule
	}
	if p.Inside {
		return RuleInside
	}
	if t.TokenRole < Observer || t.TokenRole > p.Role {
		return ruleTokenRole
	}
	return ""
}

// opens honours no-port-forwarding and permitopen, which names no sockets (sshd(8)).
func opens(p Principal, _ Verb, t Target) string { return permitted(p, p.Opens, t) }

// listens honours no-port-forwarding and permitlisten, whose hosts are in lower case.
func listens(p Principal, _ Verb, t Target) string {
	t.Host = strings.ToLower(t.Host)
	return permitted(p, p.Listens, t)
}

func permitted(p Principal, permits keys.Permits, t Target) string {
	switch {
	case p.NoForward:
		return ruleNoForward
	case t.Socket && permits != "", !t.Socket && !permits.Allow(t.Host, t.Port):
		return rulePermits
	case t.Private && p.Role < Admin:
		return rulePrivate
	case t.Private && p.Inside: // the host could not tell any more that it is
		return RuleInside
	}
	return ""
}

// agent honours no-agent-forwarding.
func agent(p Principal, _ Verb, _ Target) string {
	switch {
	case p.NoAgent:
		return ruleNoAgent
	case p.Inside: // it would lead back to the agent that its own terminal has
		return RuleInside
	}
	return ""
}

// reads reports whether a key with restrict or no-pty may do v. Subsystem and Forward are among
// these verbs because opening a connection gives no right by itself: every verb on it is checked.
func reads(v Verb) bool {
	switch v {
	case List, Subscribe, Read, Wait, AttachReadOnly, ListTokens, Subsystem, Forward:
		return true
	default:
		return false
	}
}

// forwardsPorts reports whether a key with restrict or no-pty may do v if its options name port
// forwarding.
func forwardsPorts(v Verb) bool { return v == ForwardOpen || v == ForwardListen }

// servesForced reports whether v is part of running a forced command and seeing
// it through to its end.
func servesForced(v Verb) bool {
	switch v {
	case Create, Subscribe, Read, Wait, Input, Resize, Describe:
		return true
	default:
		return false
	}
}
