package ahp

import (
	"encoding/json"
	"maps"
	"strconv"
)

// RootState is the state of [RootURI].
type RootState struct {
	Agents         json.RawMessage // nil: none
	ActiveSessions *int
	Terminals      []TerminalInfo
	Config         json.RawMessage // RootConfigState, or nil
}

// TerminalInfo is a terminal's entry in the root list.
type TerminalInfo struct {
	Resource string
	Title    string
	Claim    Claim
	Exited   bool
	ExitCode *int
	Client   bool // executed by a client
	Termhost TerminalMeta
}

// Apply is the reducer of the root channel. It keeps the slices of the action, which
// must not be modified afterwards. Unknown actions change nothing.
func (s *RootState) Apply(a Action) {
	switch a := a.(type) {
	case RootAgentsChanged:
		s.Agents = a.Agents
	case RootActiveSessionsChanged:
		s.ActiveSessions = &a.ActiveSessions
	case RootTerminalsChanged:
		s.Terminals = a.Terminals
	case RootConfigChanged:
		s.Config = mergeConfig(s.Config, a)
	}
}

// mergeConfig replaces or adds the action's values in config. Without a config it
// changes nothing (AHP, root channel).
func mergeConfig(config json.RawMessage, a RootConfigChanged) json.RawMessage {
	var c map[string]json.RawMessage
	if len(config) == 0 || unmarshal(config, &c) != nil || c == nil {
		return config
	}
	values := map[string]json.RawMessage{}
	if !a.Replace && len(c["values"]) > 0 {
		if unmarshal(c["values"], &values) != nil {
			return config
		}
	}
	maps.Copy(values, a.Config)
	v, err := json.Marshal(values)
	if err != nil {
		return config
	}
	c["values"] = v
	merged, err := json.Marshal(c)
	if err != nil {
		return config
	}
	return merged
}

// AppendJSON appends the state in the given shape.
func (s *RootState) AppendJSON(dst []byte, shape Shape) []byte {
	dst = append(dst, '{')
	dst = appendAgents(dst, s.Agents)
	if s.ActiveSessions != nil {
		dst = strconv.AppendInt(appendField(dst, "activeSessions"), int64(*s.ActiveSessions), 10)
	}
	dst = appendTerminals(appendField(dst, "terminals"), s.Terminals, shape)
	if len(s.Config) > 0 {
		dst = appendRaw(appendField(dst, "config"), s.Config)
	}
	return append(dst, '}')
}

// appendAgents appends the agents field, which is a list even if there are none.
func appendAgents(dst []byte, agents json.RawMessage) []byte {
	if len(agents) == 0 {
		agents = json.RawMessage("[]")
	}
	return appendRaw(appendField(dst, "agents"), agents)
}

func appendTerminals(dst []byte, list []TerminalInfo, shape Shape) []byte {
	dst = append(dst, '[')
	for i := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = list[i].appendJSON(dst, shape)
	}
	return append(dst, ']')
}

func (t *TerminalInfo) appendJSON(dst []byte, shape Shape) []byte {
	dst = append(dst, '{')
	dst = appendStringField(dst, "resource", t.Resource)
	dst = appendStringField(dst, "title", t.Title)
	dst = t.Claim.AppendJSON(appendField(dst, "claim"), shape)
	dst = appendLifecycle(dst, shape, t.Exited, t.ExitCode)
	if t.Client {
		dst = appendStringField(dst, "executionTarget", ExecutorClient)
	}
	dst = t.Termhost.appendMeta(dst, nil)
	return append(dst, '}')
}

// UnmarshalJSON accepts an entry in any shape.
func (t *TerminalInfo) UnmarshalJSON(b []byte) error {
	var w struct {
		Resource string    `json:"resource"`
		Title    string    `json:"title"`
		Claim    *Claim    `json:"claim"`
		Target   string    `json:"executionTarget"`
		Meta     metaField `json:"_meta"`
		lifecycleFields
	}
	if err := unmarshal(b, &w); err != nil {
		return err
	}
	if w.Claim == nil {
		return errClaim
	}
	*t = TerminalInfo{Resource: w.Resource, Title: w.Title, Claim: *w.Claim,
		Client: w.Target == ExecutorClient, Termhost: w.Meta.Termhost}
	t.Exited, t.ExitCode = w.exit()
	return nil
}

// UnmarshalJSON accepts a root state in any shape.
func (s *RootState) UnmarshalJSON(b []byte) error {
	var w struct {
		Agents         json.RawMessage `json:"agents"`
		ActiveSessions *int            `json:"activeSessions"`
		Terminals      []TerminalInfo  `json:"terminals"`
		Config         json.RawMessage `json:"config"`
	}
	if err := unmarshal(b, &w); err != nil {
		return err
	}
	*s = RootState{Agents: notNull(w.Agents), ActiveSessions: w.ActiveSessions,
		Terminals: w.Terminals, Config: notNull(w.Config)}
	return nil
}
