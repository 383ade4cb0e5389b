package wire

import (
	"encoding/json"
	"testing"
)

// TestTheKeysAreACPs pins every key: host and proxy share these types, and would agree on a wrong
// one.
func TestTheKeysAreACPs(t *testing.T) {
	t.Parallel()
	code, signal, value, limit := 3, "SIGTERM", "b", ByteLimit(5)
	create := CreateParams{SessionID: "s", Command: "c", Args: []string{"a"}, Cwd: "/",
		Env: []EnvVariable{{Name: "A", Value: &value}}, OutputByteLimit: &limit}
	create.Meta.Termhost.Agent = "x"
	made := CreateResult{TerminalID: "t"}
	made.Meta.Termhost.Name, made.Meta.Termhost.URI = "n", "u"
	gone := OutputResult{Output: "o", ExitStatus: &ExitStatus{ExitCode: &code}, Meta: &OutputMeta{}}
	gone.Meta.Termhost.Gone = true
	for want, v := range map[string]any{
		`{"sessionId":"s","command":"c","args":["a"],"env":[{"name":"A","value":"b"}],"cwd":"/",` +
			`"outputByteLimit":5,"_meta":{"termhost":{"agent":"x"}}}`: create,
		`{"terminalId":"t","_meta":{"termhost":{"name":"n","uri":"u"}}}`: made,

		`{"terminalId":"t","_meta":{"termhost":{}}}`: CreateResult{TerminalID: "t"},
		`{"sessionId":"s","terminalId":"t"}`:         TerminalParams{"s", "t"},
		`{"exitCode":null,"signal":"SIGTERM"}`:       ExitStatus{Signal: &signal},
		`{"output":"o","truncated":true}`:            OutputResult{Output: "o", Truncated: true},

		`{"output":"o","truncated":false,"exitStatus":{"exitCode":3,"signal":null},` +
			`"_meta":{"termhost":{"gone":true}}}`: gone,
	} {
		got, err := json.Marshal(v)
		if err != nil || string(got) != want {
			t.Errorf("got  %s, %v\nwant %s", got, err, want)
		}
	}
}
