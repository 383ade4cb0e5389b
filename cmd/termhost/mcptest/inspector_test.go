package mcptest

import (
	"encoding/json"
	"testing"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// inspect runs the Inspector, with an MCP server's command, and returns what it prints.
func (s *site) inspect(arguments ...string) string {
	s.t.Helper()
	words := []string{bin(s.t, "@modelcontextprotocol/inspector", "mcp-inspector"), "--cli", "--quiet"}
	words = append(append(words, arguments...), "--")
	return s.start("inspector", s.dir, s.environment("inspector-home"), append(words, s.sshCommand("mcp")...)...).wait()
}

// TestTheInspectorFindsNothingWrong: --strict fails for schemas that some client cannot use.
func TestTheInspectorFindsNothingWrong(t *testing.T) {
	slowtest.Skip(t)
	t.Parallel()
	bin(t, "@modelcontextprotocol/inspector", "mcp-inspector")
	node(t)
	s := newSite(t)
	var lists []string
	for _, era := range []string{"legacy", "modern"} {
		list := s.inspect("--protocol-era", era, "--method", "tools/list", "--strict")
		var tools struct{ Tools []struct{ Name string } }
		hosttest.Check(t, json.Unmarshal([]byte(list), &tools))
		if len(tools.Tools) != 6 {
			t.Errorf("%s: the tools are %v", era, tools)
		}
		lists = append(lists, toJSON(tools))

		called := s.inspect("--protocol-era", era, "--method", "tools/call", "--tool-name", "terminal_run",
			"--tool-arg", "command=echo out; exit 3")
		var result struct{ Content []struct{ Text string } }
		hosttest.Check(t, json.Unmarshal([]byte(called), &result))
		if len(result.Content) != 1 {
			t.Fatalf("%s: the result is %s", era, called)
		}
		like(t, []string{result.Content[0].Text}, header(`\S+`, "exited 3", "out\n$"))
	}
	if lists[0] != lists[1] {
		t.Errorf("the tools of the eras differ:\n%s\n%s", lists[0], lists[1])
	}
}

func TestManyCallsOfTheInspectorAtOnceAllSucceed(t *testing.T) {
	all(t)
	t.Parallel()
	bin(t, "@modelcontextprotocol/inspector", "mcp-inspector")
	node(t)
	s := newSite(t)
	out := s.inspect("--format", "json", "--method", "tools/call", "--tool-name", "terminal_run", "--tool-arg", "command=exit 0",
		"--load", "--load-concurrency", "50", "--load-requests", "200")
	var load struct {
		Result struct{ Requests, OK, ToolErrors, Errors int }
	}
	hosttest.Check(t, json.Unmarshal([]byte(out), &load))
	if r := load.Result; r.Requests != 200 || r.OK != 200 || r.ToolErrors != 0 || r.Errors != 0 {
		t.Errorf("the Inspector says %s", out)
	}
}
