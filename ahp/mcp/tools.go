package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"termhost/ahp/host"
)

// tool is one of the tools. Its schema is open: what models add to arguments is ignored.
type tool struct {
	name, about string
	params      []param
	hints       sdk.ToolAnnotations
	do          func(*call) (string, error)
}

// param is one of a tool's parameters.
type param struct {
	name, kind, about string
	required          bool
}

func yes() *bool { v := true; return &v }

func no() *bool { v := false; return &v }

var (
	terminalParam = param{"terminal", "string", "NAME of the terminal", true}
	maxCharsParam = param{"max_chars", "integer",
		"characters of output in the result (default 12000, at most 40000)", false}
)

// tools returns the tools, in the order in which they are listed.
func tools() []tool {
	return []tool{
		{
			name: "terminal_run",
			about: "Run a shell command and return its output and exact exit status. It runs in a terminal of its " +
				"own, or is typed into an open shell. If it is not done when the wait ends, it goes on.",
			params: []param{
				{"command", "string", "the command line", true},
				{"terminal", "string", "NAME of a shell from terminal_open to type it into, which keeps cd and exports", false},
				{"cwd", "string", "the folder it runs in", false},
				{"name", "string", "NAME for the new terminal", false},
				{"background", "boolean", "return after a second or the first quiet, and let it go on", false},
				{"wait_s", "integer", "the longest wait in seconds", false},
				maxCharsParam,
			},
			hints: sdk.ToolAnnotations{DestructiveHint: yes(), OpenWorldHint: yes()},
			do:    (*call).run,
		}, {
			name:  "terminal_open",
			about: "Open a shell that stays, and return its NAME.",
			params: []param{
				{"name", "string", "NAME for it", false},
				{"cwd", "string", "the folder it begins in", false},
				{"cols", "integer", "width (default 120)", false},
				{"rows", "integer", "height (default 40)", false},
			},
			hints: sdk.ToolAnnotations{DestructiveHint: no(), OpenWorldHint: no()},
			do:    (*call).open,
		}, {
			name: "terminal_read",
			about: "Read what a terminal has printed since your last read, or its screen as it is, or its commands. " +
				"With wait_s it waits until the program exits, asks for something or prints what until matches.",
			params: []param{
				terminalParam,
				{"cursor", "integer", "read from this cursor on (default: where your last read ended)", false},
				{"view", "string", `"new" (default), "screen" or "commands"`, false},
				{"wait_s", "integer", "the longest wait in seconds (default 0)", false},
				{"until", "string", "a regular expression (RE2): stop waiting when a new line matches", false},
				maxCharsParam,
			},
			hints: sdk.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: no()},
			do:    (*call).readTool,
		}, {
			name: "terminal_send",
			about: "Type into a terminal: text with Enter after it, and keys by their names, such as ctrl-c or up. " +
				"Returns what it printed then. Never send a password: a person types it.",
			params: []param{
				terminalParam,
				{"text", "string", "what to type", false},
				{"enter", "boolean", "press Enter after the text (default true)", false},
				{"keys", "array", `names of keys to press after it, such as ["ctrl-c"]`, false},
				{"wait_s", "integer", "the longest wait in seconds (default 5)", false},
				maxCharsParam,
			},
			hints: sdk.ToolAnnotations{DestructiveHint: yes(), OpenWorldHint: yes()},
			do:    (*call).send,
		}, {
			name:   "terminal_list",
			about:  "List the terminals: NAME, state, who has the keyboard, age, last command.",
			params: []param{{"all", "boolean", "those that have exited, too", false}},
			hints:  sdk.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: no()},
			do:     (*call).list,
		}, {
			name:  "terminal_stop",
			about: "Stop what runs in a terminal.",
			params: []param{
				terminalParam,
				{"how", "string", `"interrupt" (ctrl-c, default), "terminate" (SIGTERM) or "remove"`, false},
			},
			hints: sdk.ToolAnnotations{DestructiveHint: yes(), IdempotentHint: true, OpenWorldHint: no()},
			do:    (*call).stop,
		},
	}
}

// schema returns the JSON Schema of the tool's arguments.
func (t *tool) schema() json.RawMessage {
	properties, required := map[string]any{}, []string{}
	for _, p := range t.params {
		about := map[string]any{"type": p.kind, "description": p.about}
		if p.kind == "array" {
			about["items"] = map[string]any{"type": "string"}
		}
		properties[p.name] = about
		if p.required {
			required = append(required, p.name)
		}
	}
	schema, err := json.Marshal(map[string]any{"type": "object", "properties": properties, "required": required})
	if err != nil {
		panic(err) // it consists of strings
	}
	return schema
}

// addTools adds the tools to the server.
func (s *Server) addTools() {
	for _, t := range tools() {
		s.sdk.AddTool(&sdk.Tool{
			Name: t.name, Description: t.about, InputSchema: t.schema(), Annotations: &t.hints,
			Meta: sdk.Meta{"anthropic/alwaysLoad": true},
		}, s.handler(t))
	}
}

// call is one call of a tool.
type call struct {
	ctx     context.Context
	session *session
	conn    *host.Conn
	args    Arguments
	limit   int64 // the longest wait, in seconds
	status  *int  // of the command that was typed into a shell; nil: another result
	facts   map[string]any
}

// handler answers the calls of a tool. What is wrong with them is told as a result, which reaches
// the model.
func (s *Server) handler(t tool) sdk.ToolHandler {
	return func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		c := &call{ctx: ctx, facts: map[string]any{}, limit: otherLimit}
		c.session, _ = ctx.Value(sessionKey{}).(*session)
		if c.session == nil {
			return nil, errNoSession
		}
		client := ""
		if p := r.Session.InitializeParams(); p != nil && p.ClientInfo != nil {
			client = p.ClientInfo.Name
		}
		if token := r.Params.GetProgressToken(); token != nil {
			c.limit = limitOf(client)
			done := make(chan struct{})
			defer close(done)
			go progress(ctx, r.Session, token, done)
		}
		text, err := s.do(c, t, client, r.Params.Arguments)
		result := &sdk.CallToolResult{Meta: sdk.Meta{"termhost/result": c.facts}}
		if err != nil {
			result.IsError, text = true, "error: "+err.Error()
			if c.conn != nil && c.conn.Context().Err() != nil {
				result.Meta[MetaEnded] = true
			}
		}
		result.Content = []sdk.Content{&sdk.TextContent{Text: text}}
		return result, nil
	}
}

func (s *Server) do(c *call, t tool, client string, raw json.RawMessage) (text string, err error) {
	if c.conn, err = c.session.connect(client); err != nil {
		return "", err
	}
	if c.args, err = ParseArguments(raw); err != nil {
		return "", err
	}
	text, err = t.do(c)
	if err != nil && c.ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = errors.New("the call was cancelled; what runs goes on")
	}
	return text, err
}

// progress tells a client that its call goes on: after a second, and then every ten.
func progress(ctx context.Context, to *sdk.ServerSession, token any, done <-chan struct{}) {
	const first, later = time.Second, 10 * time.Second
	timer, began := time.NewTimer(first), time.Now()
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-done:
			return
		case <-ctx.Done():
			return
		}
		passed := time.Since(began).Round(time.Second)
		_ = to.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token,
			Progress: passed.Seconds(), Message: passed.String()})
		timer.Reset(later)
	}
}

// The longest waits, in seconds, of the clients that are known to wait for so long, and of others.
const (
	knownLimit = 240
	otherLimit = 45
)

func limitOf(client string) int64 {
	switch client {
	case "claude-code", "codex-mcp-client", "gemini-cli-mcp-client":
		return knownLimit
	}
	return otherLimit
}
