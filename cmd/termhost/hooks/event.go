package hooks

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"termhost/ahp/host"
)

// maxEvent bounds what an agent passes to a hook, in bytes: it may be the whole result of a tool.
const maxEvent = 16 << 20

// event is what agents pass to their hooks, as far as it matters.
type event struct {
	Hook     text           `json:"hook_event_name"`
	Kind     text           `json:"notification_type"`
	Message  text           `json:"message"`
	Tool     text           `json:"tool_name"`
	Input    jsontext.Value `json:"tool_input"`
	Error    text           `json:"error"`
	Last     text           `json:"last_assistant_message"` // Claude Code, Codex
	Response text           `json:"prompt_response"`        // Gemini CLI

	Type      text `json:"type"` // of Codex's notify
	TurnsLast text `json:"last-assistant-message"`
}

// text is a string, or "" for another value: in other events a field may mean something else.
type text string

// UnmarshalJSON takes any value.
func (t *text) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*t = text(s)
	}
	return nil
}

// Said returns how an agent says that it stands, from what a hook of ours gets: args behind
// `termhost status --from AGENT`, and standard input. ok is false if that says nothing.
func Said(agent string, args []string, in io.Reader) (said host.Said, ok bool) {
	said.Program = true
	if agent == "opencode" {
		if len(args) < 2 {
			return said, false
		}
		said.State, said.Text = host.State(args[0]), args[1]
		return said, true
	}
	var e event
	if len(args) > 0 { // Codex's notify
		if json.Unmarshal([]byte(args[0]), &e) != nil {
			return said, false
		}
	} else if json.NewDecoder(io.LimitReader(in, maxEvent)).Decode(&e) != nil {
		return said, false
	}
	said.State, said.Text, ok = e.said()
	switch {
	case e.Hook == "PermissionRequest", e.Hook == "PostToolUse", e.Hook == "PostToolUseFailure":
		said.About = e.use()
	case e.Kind == "elicitation_dialog": // which the use of no tool answers
		said.About = string(e.Kind)
	}
	return said, ok
}

// use names one use of a tool. A question about it has no ID of it, but the same input.
func (e *event) use() string {
	input := e.Input
	_ = input.Canonicalize() // of what is no JSON, which there is not, the text itself will do
	sum := sha256.Sum256(append([]byte(e.Tool+"\x00"), input...))
	return hex.EncodeToString(sum[:16])
}

func (e *event) said() (state host.State, words string, ok bool) {
	switch e.Hook {
	case "UserPromptSubmit", "BeforeAgent", "PostToolUse", "PostToolUseFailure", "AfterTool":
		return host.StatusWorking, "", true
	case "PermissionRequest":
		return host.StatusWaiting, "wants to use " + string(e.Tool), true
	case "Notification":
		switch e.Kind {
		case "idle_prompt", "auth_success", "agent_completed": // "Stop" has said it, or it is none
			return "", "", false
		}
		return host.StatusWaiting, line(e.Message), true
	case "Stop":
		return host.StatusDone, line(e.Last), true
	case "AfterAgent":
		return host.StatusDone, line(e.Response), true
	case "StopFailure":
		return host.StatusFailed, line(e.Error), true
	}
	if e.Type == "agent-turn-complete" {
		return host.StatusDone, line(e.TurnsLast), true
	}
	return "", "", false
}

// line returns the first line of a text that says something.
func line(t text) string {
	first, _, _ := strings.Cut(strings.TrimSpace(string(t)), "\n")
	return strings.TrimSpace(first)
}
