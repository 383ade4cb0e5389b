package mcp

import (
	"context"
	"encoding/json"
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"termhost/authz"
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
			about: "Run a shell command and return its output and exact exit status. It runs " +
				"in a terminal of its " +
				"own, or is typed into an open shell. If it is not done when the wait ends, it " +
				"goes on.",
			params: []param{
				{"command", "string", "the command line", true},
				{"terminal", "string", "NAME of a shell from terminal_open to type it into, " +
					"which keeps cd and exports", false},
				{"cwd", "string", "the folder it runs in", false},
				{"name", "string", "NAME for the new terminal", false},
				{"background", "boolean", "return after a second or the first quiet, and let " +
					"it go on", false},
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
			about: "Read what a terminal has printed since your last read, or its screen as it " +
				"is, or its commands. " +
				"With wait_s it waits until the program exits, asks for something or prints " +
				"what until matches.",
			params: []param{
				terminalParam,
				{"cursor", "integer", "read from this cursor on (default: where your last read " +
					"ended)", false},
				{"view", "string", `"new" (default), "screen" or "commands"`, false},
				{"wait_s", "integer", "the longest wait in seconds (default 0)", false},
				{"until", "string", "a regular expression (RE2): stop waiting when a new line " +
					"matches", false},
				maxCharsParam,
			},
			hints: sdk.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: no()},
			do:    (*call).read,
		}, {
			name: "terminal_send",
			about: "Type into a terminal: text with Enter after it, and keys by their names, " +
				"such as ctrl-c or up. " +
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
				{"how", "string", `"interrupt" (ctrl-c, default), "terminate" (SIGTERM) or ` +
					`"remove"`, false},
			},
			hints: sdk.ToolAnnotations{DestructiveHint: yes(), IdempotentHint: true,
				OpenWorldHint: no()},
			do: (*call).stop,
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
	schema, err := json.Marshal(map[string]any{"type": "object", "properties": properties,
		"required": required})
	if err != nil {
		panic(err) // it consists of strings
	}
	return schema
}

// addTools adds the tools to the server.
func (s *Server) addTools() {
	for _, t := range tools() {
		s.addTool(&t)
	}
}

func (s *Server) addTool(t *tool) {
	s.sdk.AddTool(&sdk.Tool{
		Name: t.name, Description: t.about, InputSchema: t.schema(), Annotations: &t.hints,
		Meta: sdk.Meta{"anthropic/alwaysLoad": true},
	}, s.handler(t))
}

// listTools lists the tools that a principal may call, in the same order always.
func (c *session) listTools(
	ctx context.Context, name string, r sdk.Request, next sdk.MethodHandler,
) (sdk.Result, error) {
	result, err := next(ctx, name, r)
	list, ok := result.(*sdk.ListToolsResult)
	if p := c.peer.Principal; err == nil && ok && (p.Role < authz.Operator || p.ReadOnly) {
		some := *list
		some.Tools = slices.DeleteFunc(slices.Clone(list.Tools), func(t *sdk.Tool) bool {
			return !t.Annotations.ReadOnlyHint
		})
		return &some, nil
	}
	return result, err
}
