package sshd

import (
	"strings"
	"testing"
)

// A script sends all its requests, and its input ends before the first answer.
func TestTheSubsystemAnswersAScript(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	const script = `{"jsonrpc":"2.0","id":1,"method":"initialize",` +
		`"params":{"channel":"ahp-root://","protocolVersions":["1.0.0"],"clientId":"script",` +
		`"initialSubscriptions":["ahp-root://"]}}
{"jsonrpc":"2.0","id":2,"method":"ping","params":{"channel":"ahp-root://"}}
`
	for range 10 {
		got := r.runSSH(script, append(r.sshArgs("alice", "-s"), "ahp")...)
		if got.status != 0 || !strings.Contains(got.stdout, `"id":1,"result"`) ||
			!strings.Contains(got.stdout, `"id":2,"result":null`) {
			t.Fatalf("got %+v", got)
		}
	}
}
