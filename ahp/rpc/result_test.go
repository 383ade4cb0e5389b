package rpc_test

import (
	"testing"

	"termhost/ahp/ahptest"
)

// checkResult compares the result of a method with AHP's schemas.
func checkResult(t *testing.T, schemas *ahptest.Schemas, method string, raw []byte) {
	t.Helper()
	switch method {
	case "initialize":
		schemas.Check(t, "commands", "InitializeResult", raw)
	case "reconnect":
		schemas.Check(t, "commands", "ReconnectReplayResult", raw)
	case "listSessions":
		schemas.Check(t, "commands", "ListSessionsResult", raw)
	case "subscribe":
		schemas.Check(t, "errors", "SubscribeResult", raw)
	case "ping", "createTerminal", "disposeTerminal", "unsubscribe", "dispatchAction":
		if string(raw) != "null" {
			t.Errorf("the result of %s is %s", method, raw)
		}
	}
}
