package acpproxy

import (
	"encoding/json"
	"fmt"
	"maps"
	"testing"

	"termhost/ahp"
	"termhost/ahp/acp/wire"
	"termhost/ahp/hosttest"
	"termhost/authz"
)

func TestMain(m *testing.M) { hosttest.Main(m) }

var alice = hosttest.Principal("alice", authz.Admin)

// check ends the test if err is not nil.
var check = hosttest.Check

// params are the params of a request.
type params map[string]any

// command returns the params that run a program in session "s".
func command(name string, args ...string) params {
	return params{"sessionId": "s", "command": name, "args": args}
}

// with returns p with one more param.
func (p params) with(name string, value any) params {
	p = maps.Clone(p)
	p[name] = value
	return p
}

// otherMethods are the methods that name a terminal.
var otherMethods = []string{wire.MethodOutput, wire.MethodWait, wire.MethodKill, wire.MethodRelease}

// requestLine returns a request whose id is JSON.
func requestLine(id, method string, p params) string {
	const form = `{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}` + "\n"
	return fmt.Sprintf(form, id, method, ahp.Encode(p))
}

// notificationLine returns a notification.
func notificationLine(method string, p params) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`+"\n", method, ahp.Encode(p))
}

// responseLine returns the response to a request: both are JSON.
func responseLine(id json.RawMessage, result string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", id, result)
}

// sentinel is a message that is passed on as it is. When it comes, nothing else has come before.
const sentinel = `{"jsonrpc":"2.0","method":"x"}` + "\n"

// of returns the params of a request about a terminal of session "s".
func of(id string) params { return params{"sessionId": "s", "terminalId": id} }
