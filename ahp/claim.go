package ahp

import (
	"errors"
)

// The kinds of claim.
const (
	ClaimClient  = "client"
	ClaimSession = "session"
)

// Claim says who holds a terminal: a client or an agent session. Every terminal has
// one.
type Claim struct {
	Kind string

	// ClientID is set for a client's claim.
	ClientID string

	// Session is set for a session's claim. The others say which part of the
	// session uses the terminal, and may be empty.
	Session, Chat, TurnID, ToolCallID string
}

// ClientClaim returns the claim of a client.
func ClientClaim(clientID string) Claim { return Claim{Kind: ClaimClient, ClientID: clientID} }

// Holder returns the clientId or the session URI.
func (c Claim) Holder() string {
	if c.Kind == ClaimClient {
		return c.ClientID
	}
	return c.Session
}

var errClaim = errors.New(
	`a claim is {"kind":"client","clientId":...} or {"kind":"session","session":...}`)

// UnmarshalJSON accepts a well-formed claim of any version.
func (c *Claim) UnmarshalJSON(b []byte) error {
	var w struct {
		Kind       string `json:"kind"`
		ClientID   string `json:"clientId"`
		Session    string `json:"session"`
		Chat       string `json:"chat"`
		TurnID     string `json:"turnId"`
		ToolCallID string `json:"toolCallId"`
	}
	if err := unmarshal(b, &w); err != nil {
		return errClaim
	}
	switch {
	case w.Kind == ClaimClient && w.ClientID != "":
		*c = Claim{Kind: w.Kind, ClientID: w.ClientID}
	case w.Kind == ClaimSession && w.Session != "":
		*c = Claim{Kind: w.Kind, Session: w.Session, Chat: w.Chat, TurnID: w.TurnID,
			ToolCallID: w.ToolCallID}
	default:
		return errClaim
	}
	return nil
}

// AppendJSON appends the claim in the given shape. [ShapeLifecycle] requires a chat in
// a session's claim; if none is known, the session takes its place.
func (c Claim) AppendJSON(dst []byte, shape Shape) []byte {
	dst = append(dst, '{')
	dst = appendStringField(dst, "kind", c.Kind)
	if c.Kind == ClaimClient {
		dst = appendStringField(dst, "clientId", c.ClientID)
		return append(dst, '}')
	}
	dst = appendStringField(dst, "session", c.Session)
	if shape == ShapeLifecycle {
		chat := c.Chat
		if chat == "" {
			chat = c.Session
		}
		dst = appendStringField(dst, "chat", chat)
	}
	if c.TurnID != "" {
		dst = appendStringField(dst, "turnId", c.TurnID)
	}
	if c.ToolCallID != "" {
		dst = appendStringField(dst, "toolCallId", c.ToolCallID)
	}
	return append(dst, '}')
}

// MarshalJSON encodes the claim in the newest shape.
func (c Claim) MarshalJSON() ([]byte, error) { return c.AppendJSON(nil, ShapeLifecycle), nil }
