package ahp

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
)

// The error codes of termhost's answers (JSON-RPC 2.0 section 5.1; AHP, errors).
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
	CodeVersion        = -32005
	CodeNotFound       = -32008
	CodeNotPermitted   = -32009
	CodeTerminalExists = -32010
	CodeLimit          = -32011 // a limit of the host is reached; data.limit names it
	CodeUnreachable    = -32012 // another host of the fleet does not answer; data.host names it
)

// Error is a JSON-RPC error. Its message tells people the event, its cause and a way on.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (e *Error) Error() string { return e.Message }

// NewError returns an error. data has the keys and values, by turns, of the object
// that is the error's data.
func NewError(code int, message string, data ...string) *Error {
	e := &Error{Code: code, Message: message}
	if len(data) > 1 {
		raw := []byte{'{'}
		for i := 0; i+1 < len(data); i += 2 {
			raw = appendStringField(raw, data[i], data[i+1])
		}
		e.Data = append(raw, '}')
	}
	return e
}

// ruleEnded is data.rule of the answer to a request that was not carried out because the connection
// ends.
const ruleEnded = "the connection has ended"

// EndedError refuses a request because the connection ends, for a reason. It may be sent again on
// another connection.
func EndedError(code int, reason string) *Error { return NewError(code, reason, "rule", ruleEnded) }

// Ended reports whether e is an EndedError.
func (e *Error) Ended() bool {
	var data struct {
		Rule string `json:"rule"`
	}
	return json.Unmarshal(e.Data, &data) == nil && data.Rule == ruleEnded
}

// FieldProblem returns an invalid-params error that names the field.
func FieldProblem(field, reason string) *Error {
	return NewError(CodeInvalidParams, field+" "+reason, "field", field)
}

// DecodeParams reads the params of a request into v. An error names the field that is
// wrong.
func DecodeParams(params json.RawMessage, v any) *Error {
	if len(params) == 0 || params[0] != '{' {
		return FieldProblem("params", "must be an object")
	}
	err := unmarshal(params, v)
	if err == nil {
		return nil
	}
	if field := wrongField(err); field != "" && !errors.Is(err, errClaim) {
		return FieldProblem(field, "has the wrong type")
	}
	return FieldProblem("params", "cannot be read: "+err.Error())
}

// Message is a JSON-RPC 2.0 message of any kind. ID is nil if the key is absent; Method
// is empty in a response.
type Message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

// ParseMessage takes a message apart, of which ID, Params and Result are parts: output is long, and
// is not copied. ok is false if it is none of JSON-RPC.
func ParseMessage(raw []byte) (m Message, ok bool) {
	ok = true
	whole := EachMember(raw, func(name string, value []byte) {
		var err error
		switch name {
		case "id":
			m.ID = value
		case "method":
			err = json.Unmarshal(value, &m.Method)
		case "params":
			m.Params = value
		case "result":
			m.Result = value
		case "error":
			err = json.Unmarshal(value, &m.Error)
		}
		ok = ok && err == nil
	})
	return m, whole && ok
}

// Origin identifies the action, and its client, of which an envelope is the echo.
type Origin struct {
	ClientID  string `json:"clientId"`
	ClientSeq int64  `json:"clientSeq"`
}

// Envelope is an action as a subscriber receives it.
type Envelope struct {
	Channel         string          `json:"channel"`
	Action          json.RawMessage `json:"action"`
	ServerSeq       uint64          `json:"serverSeq"`
	Origin          *Origin         `json:"origin,omitempty"`
	RejectionReason string          `json:"rejectionReason,omitempty"`
}

// DecodeEnvelope decodes an envelope. Its action is a part of raw, and is not looked at.
func DecodeEnvelope(raw []byte) (e Envelope, err error) {
	whole := EachMember(raw, func(name string, value []byte) {
		var into any
		switch name {
		case "channel":
			into = &e.Channel
		case "action":
			e.Action = value
			return
		case "serverSeq":
			into = &e.ServerSeq
		case "origin":
			into = &e.Origin
		case "rejectionReason":
			into = &e.RejectionReason
		default:
			return
		}
		err = errors.Join(err, unmarshal(value, into))
	})
	if !whole {
		err = errors.Join(err, errors.New("ahp: an envelope is a JSON object"))
	}
	return e, err
}

// AppendEnvelopeBody appends an envelope's fields without the serverSeq and the braces,
// so that the encoding can be made before the number is known.
func AppendEnvelopeBody(dst []byte, channel string, a Action, origin *Origin, rejection string,
	shape Shape) []byte {
	dst = append(dst, `"channel":`...)
	dst = AppendJSONString(dst, channel)
	dst = append(dst, `,"action":`...)
	dst = AppendAction(dst, a, shape)
	if origin != nil {
		dst = append(dst, `,"origin":{`...)
		dst = appendStringField(dst, "clientId", origin.ClientID)
		dst = strconv.AppendInt(appendField(dst, "clientSeq"), origin.ClientSeq, 10)
		dst = append(dst, '}')
	}
	if rejection != "" {
		dst = append(dst, `,"rejectionReason":`...)
		dst = AppendJSONString(dst, rejection)
	}
	return dst
}

// AppendDispatch appends the notification dispatchAction with an action in the given shape.
func AppendDispatch(dst []byte, channel string, clientSeq int64, a Action, shape Shape) []byte {
	const around = 256 // the rest of the message, but for the channel
	dst = slices.Grow(dst, around+len(channel)+textRoom(a))
	dst = append(dst, `{"jsonrpc":"2.0","method":"`+MethodDispatchAction+`","params":{`...)
	dst = appendStringField(dst, "channel", channel)
	dst = strconv.AppendInt(append(dst, `,"clientSeq":`...), clientSeq, 10)
	dst = AppendAction(append(dst, `,"action":`...), a, shape)
	return append(dst, "}}"...)
}

// textRoom returns about how many bytes the text of an action takes as JSON. What grows in it is
// mostly ESC.
func textRoom(a Action) int {
	var p []byte
	switch a := a.(type) {
	case TerminalInput:
		p = a.Data
	case TerminalOutput:
		p = a.Data
	}
	return len(p)*9/8 + (escapeLen-1)*bytes.Count(p, []byte{'\x1b'})
}

// AppendDataHead appends the beginning of what AppendEnvelopeBody appends for terminal/data, up to
// its text. That, by [AppendDataText], and the two bytes "} are the rest.
func AppendDataHead(dst []byte, channel string) []byte {
	dst = AppendJSONString(append(dst, `"channel":`...), channel)
	dst = append(append(dst, `,"action":{"type":"`...), TerminalData{}.Type()...)
	return append(dst, `","data":"`...)
}

// AppendDataText appends output as it stands between the quotes of a JSON string.
func AppendDataText(dst, p []byte) []byte { return appendEscaped(dst, p) }

// Snapshot is a channel's state at a serverSeq. Actions that follow have higher ones.
type Snapshot struct {
	Resource string          `json:"resource"`
	State    json.RawMessage `json:"state"`
	FromSeq  uint64          `json:"fromSeq"`
}

// InitializeParams are the params of initialize.
type InitializeParams struct {
	Channel              string            `json:"channel"`
	ProtocolVersions     []string          `json:"protocolVersions"`
	ClientID             string            `json:"clientId"`
	InitialSubscriptions []SubscriptionRef `json:"initialSubscriptions,omitempty"`
}

// InitializeResult is the result of initialize.
type InitializeResult struct {
	ProtocolVersion  string          `json:"protocolVersion"`
	ServerSeq        uint64          `json:"serverSeq"`
	ServerInfo       ServerInfo      `json:"serverInfo"`
	Snapshots        []Snapshot      `json:"snapshots"`
	DefaultDirectory string          `json:"defaultDirectory,omitempty"`
	Meta             json.RawMessage `json:"_meta,omitempty"`
}

// MarshalJSON encodes no snapshots as [].
func (r InitializeResult) MarshalJSON() ([]byte, error) {
	type plain InitializeResult
	if r.Snapshots == nil {
		r.Snapshots = []Snapshot{}
	}
	return json.Marshal(plain(r))
}

// ServerInfo names a host.
type ServerInfo struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// ReconnectParams are the params of reconnect.
type ReconnectParams struct {
	Channel           string            `json:"channel"`
	ClientID          string            `json:"clientId"`
	LastSeenServerSeq uint64            `json:"lastSeenServerSeq"`
	Subscriptions     []SubscriptionRef `json:"subscriptions"`
}

// MarshalJSON encodes no subscriptions as [].
func (p ReconnectParams) MarshalJSON() ([]byte, error) {
	type plain ReconnectParams
	if p.Subscriptions == nil {
		p.Subscriptions = []SubscriptionRef{}
	}
	return json.Marshal(plain(p))
}

// ChannelCursor is a channel in the params of a reconnect by cursors, whose lastSeenServerSeq is
// there for each channel instead of once (AHP, ChannelReplayCursor). 0: the client has no state.
type ChannelCursor struct {
	Channel           SubscriptionRef
	LastSeenServerSeq *uint64 // nil: it is missing
}

// UnmarshalJSON also accepts a string, as [SubscriptionRef] does, which has no lastSeenServerSeq.
func (c *ChannelCursor) UnmarshalJSON(b []byte) error {
	if err := c.Channel.UnmarshalJSON(b); err != nil || b[0] != '{' {
		return err
	}
	var o struct {
		LastSeenServerSeq *uint64 `json:"lastSeenServerSeq"`
	}
	err := unmarshal(b, &o)
	c.LastSeenServerSeq = o.LastSeenServerSeq
	return err
}

// The kinds of answers for a channel in the result of a reconnect by cursors (AHP,
// ChannelRecoveryKind).
const (
	RecoveryReplay   = "replay"   // with the actions that the client has missed
	RecoverySnapshot = "snapshot" // with a new one
	RecoveryMissing  = "missing"  // it is gone, or no longer permitted
)

// ReconnectResult is the result of reconnect; its type is always "replay".
type ReconnectResult struct {
	Type    string         `json:"type"`
	Actions []Envelope     `json:"actions"`
	Missing []string       `json:"missing"`
	Meta    *ReconnectMeta `json:"_meta,omitempty"`
}

// ReconnectMeta is what the answer to reconnect has beyond AHP.
type ReconnectMeta struct {
	// Owned holds, by URI, the client-executed terminals that the clientId owns or
	// owned when it was last connected.
	Owned map[string]OwnedTerminal `json:"termhost/clientExecutedTerminals,omitempty"`
	// ReservedOwned is Owned for a peer that uses reserved names: see [Reserved].
	ReservedOwned map[string]OwnedTerminal `json:"x-termhost/clientExecutedTerminals,omitempty"`
	// Termhost is there unless the client was connected to an earlier host only.
	Termhost *ReconnectExtras `json:"termhost,omitempty"`
}

// ReconnectExtras is termhost's own part of the answer to reconnect.
type ReconnectExtras struct {
	// Typed has, by URI, the clientSeq of the last terminal/input of this clientId that each
	// terminal has taken. What the client sent to one after that is lost and may be sent again; a
	// terminal that is missing has taken nothing.
	Typed map[string]int64 `json:"typed"`
}

// OwnedTerminal is what a reconnected owner learns about its terminal.
type OwnedTerminal struct {
	// ClientSeq is that of the owner's last action that reached the host. What it
	// sent after that one is lost and may be sent again.
	ClientSeq int64 `json:"clientSeq"`
	// Ended is why the host has ended the terminal meanwhile; "": it has not.
	Ended string `json:"ended,omitempty"`
}

// MarshalJSON encodes empty lists as [].
func (r ReconnectResult) MarshalJSON() ([]byte, error) {
	type plain ReconnectResult
	if r.Actions == nil {
		r.Actions = []Envelope{}
	}
	if r.Missing == nil {
		r.Missing = []string{}
	}
	return json.Marshal(plain(r))
}

// SubscriptionRef names a channel: a string, or an object with a channel.
type SubscriptionRef string

// UnmarshalJSON accepts both forms.
func (r *SubscriptionRef) UnmarshalJSON(b []byte) error {
	var s string
	if unmarshal(b, &s) == nil {
		*r = SubscriptionRef(s)
		return nil
	}
	var o struct {
		Channel string `json:"channel"`
	}
	err := unmarshal(b, &o)
	*r = SubscriptionRef(o.Channel)
	return err
}

// CreateTerminalParams are the params of createTerminal. If Cols and Rows are nil, the
// host chooses the size.
type CreateTerminalParams struct {
	Channel         string              `json:"channel"`
	Claim           *Claim              `json:"claim"`
	Name            string              `json:"name,omitempty"`
	Cwd             string              `json:"cwd,omitempty"`
	Cols            *int                `json:"cols,omitempty"`
	Rows            *int                `json:"rows,omitempty"`
	ExecutionTarget string              `json:"executionTarget,omitempty"`
	Meta            *CreateTerminalMeta `json:"_meta,omitempty"`
}

// CreateTerminalMeta is what the params of createTerminal may have beyond AHP.
type CreateTerminalMeta struct {
	Termhost *CreateTerminalExtras `json:"termhost,omitempty"`
}

// CreateTerminalExtras are termhost's own options of createTerminal.
type CreateTerminalExtras struct {
	Command string            `json:"command,omitempty"` // instead of the shell
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	Login   *bool             `json:"login,omitempty"`
	// Grace is how long the owner of a client-executed terminal may be away, as a
	// duration such as "30s"; "": the host's default.
	Grace  string `json:"grace,omitempty"`
	Labels Labels `json:"labels,omitempty"`
	// IsPty says whether the output of a client-executed terminal comes from a pty;
	// nil: it does.
	IsPty *bool `json:"isPty,omitempty"`
	// On is the host of the fleet on which the terminal is made, or labels that it has; "": the
	// one that the channel names. The answer is {channel} then, as the terminal is named here.
	On string `json:"on,omitempty"`
}
