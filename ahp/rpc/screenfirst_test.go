package rpc_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"termhost/ahp/hosttest"
	"termhost/ahp/rpc"
)

// TestAPeerIsSentTheScreenFirst: the answer to subscribe has the screen, and what was asked for
// besides, however much the terminal has printed. The rest is there for the asking, and what the
// terminal prints next follows.
func TestAPeerIsSentTheScreenFirst(t *testing.T) {
	t.Parallel()
	p := serve(t, hosttest.New(t), principals()["alice"], rpc.Options{})
	p.sendf(t, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"channel":"ahp-root://",`+
		`"protocolVersions":["1.0.0"],"clientId":"a"}}`)
	const begin, end = `\\033]633;E;make all\\007\\033]633;C\\007`, `\\033]633;D;3\\007`
	p.sendf(t, "%s", `{"jsonrpc":"2.0","id":2,"method":"createTerminal","params":{"channel":"ahp-terminal:/t",`+
		`"claim":{"kind":"client","clientId":"a"},"_meta":{"termhost":{"command":"/bin/sh","args":["-c",`+
		`"stty -icanon -echo; printf '`+begin+`line one\\n`+end+begin+`line two\\n`+end+`'; `+
		`seq -f 'and then %g' 20000; echo ready; read x; echo more; read x"]}}}}`)
	p.answer(t, 2)
	p.sendf(t, `{"jsonrpc":"2.0","id":3,"method":"termhost/wait","params":{"channel":"ahp-terminal:/t",`+
		`"for":{"match":"^ready"},"timeoutMs":60000}}`)
	p.answer(t, 3)
	p.sendf(t, `{"jsonrpc":"2.0","id":4,"method":"subscribe","params":{"channel":"ahp-terminal:/t",`+
		`"_meta":{"x-termhost/screenFirst":{"scrollback":3,"commands":1}}}}`)
	msg := p.answer(t, 4)
	var got struct {
		Result struct {
			Snapshot struct {
				State struct {
					Content []struct {
						Type, Value, CommandID, CommandLine, Output string
						ExitCode                                    int
					}
				}
			}
		}
	}
	hosttest.Check(t, json.Unmarshal(msg, &got))
	content := got.Result.Snapshot.State.Content
	if len(msg) > 4<<10 || len(content) != 2 {
		t.Fatalf("the answer has %d bytes: %s", len(msg), msg)
	}
	screen, command := content[0].Value, content[1]
	for text, want := range map[string]bool{"ready": true, "and then 20000": true, "and then 19976": true,
		"and then 19973": false, "and then 1\r": false} {
		if strings.Contains(screen, text) != want {
			t.Errorf("the screen has %q: %t: %q", text, !want, screen)
		}
	}
	if command.Type != "command" || command.Output != "" || command.ExitCode != 3 {
		t.Errorf("the last command is %+v", command)
	}
	p.sendf(t, `{"jsonrpc":"2.0","id":5,"method":"termhost/log","params":{"channel":"ahp-terminal:/t",`+
		`"form":"raw","command":%q}}`, command.CommandID)
	var log struct{ Result struct{ Data string } }
	hosttest.Check(t, json.Unmarshal(p.answer(t, 5), &log))
	if data, err := base64.StdEncoding.DecodeString(log.Result.Data); err != nil || string(data) != "line two\r\n" {
		t.Errorf("the command has printed %q, %v", data, err)
	}
	p.sendf(t, `{"jsonrpc":"2.0","id":6,"method":"termhost/log","params":{"channel":"ahp-terminal:/t",`+
		`"form":"raw","command":"none"}}`)
	if msg := string(p.answer(t, 6)); !strings.Contains(msg, "is not kept any more") {
		t.Errorf("of another command there is %s", msg)
	}
	p.sendf(t, `{"jsonrpc":"2.0","method":"dispatchAction","params":{"channel":"ahp-terminal:/t",`+
		`"clientSeq":1,"action":{"type":"terminal/input","data":"\n"}}}`)
	for {
		if msg := string(p.next(t)); strings.Contains(msg, `"terminal/data"`) {
			if !strings.Contains(msg, "more") {
				t.Errorf("the answer is followed by %s", msg)
			}
			break
		}
	}
}

func TestWhatIsWantedWithAScreenHasBounds(t *testing.T) {
	for _, screen := range []string{`{"scrollback":-1}`, `{"scrollback":10001}`, `{"commands":-1}`, `{"commands":1001}`, `3`} {
		text, _ := answers(t, hosttest.New(t), &slowSink{}, nil, `{"jsonrpc":"2.0","id":1,"method":"initialize",`+
			`"params":{"channel":"ahp-root://","protocolVersions":["1.0.0"],"clientId":"a",`+
			`"_meta":{"termhost/screenFirst":`+screen+`}}}`)
		if !strings.Contains(text, "-32602") {
			t.Errorf("%s: %s", screen, text)
		}
	}
}
