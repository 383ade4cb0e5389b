package acp

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"testing"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/rpc"
)

// TestARemoteAgentUsesTheMethodsOnItsAHPConnection has no proxy in between.
func TestARemoteAgentUsesTheMethodsOnItsAHPConnection(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	var c createResult
	check(t, st.client.Call(t.Context(), methodCreate, params{"sessionId": "s", "command": "echo hello; exit 3"}, &c))
	var exit exitStatus
	check(t, st.client.Call(t.Context(), methodWait, of(c.TerminalID), &exit))
	wantCode(t, exit, 3)
	m, err := st.client.Subscribe(t.Context(), c.Meta.Termhost.URI)
	check(t, err)
	defer m.Close()
	if term := m.Terminal(); term.Claim.Session != "ahp-session:/s" || !term.Exited {
		t.Errorf("the terminal is %+v", term)
	}
	check(t, st.client.Call(t.Context(), methodRelease, of(c.TerminalID), nil))
	var refused *ahp.Error
	if err := st.client.Call(t.Context(), methodOutput, of(c.TerminalID), nil); !errors.As(err, &refused) || refused.Code != codeNoSuchTerminal {
		t.Errorf("after release: %v", err)
	}
}

func TestTheMethodsNeedAnInitializedConnectionAndAnID(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	conn, err := h.Connect(alice, host.DoorSubsystem)
	check(t, err)
	defer conn.Close()
	ours, theirs := net.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- rpc.Serve(rpc.NewLines(theirs, theirs, 1<<20, func(string) error { return theirs.Close() }), conn,
			rpc.Options{Extend: func(c *host.Conn) rpc.Extension { return NewMethods(h, nil).Terminals(c) }})
	}()
	in := bufio.NewReader(ours)
	code := func(msg string) int {
		t.Helper()
		go fmt.Fprintln(ours, msg)
		line, err := in.ReadBytes('\n')
		check(t, err)
		var r struct{ Error ahp.Error }
		check(t, json.Unmarshal(line, &r))
		return r.Error.Code
	}
	create := `{"jsonrpc":"2.0",%s"method":"terminal/create","params":{"sessionId":"s","command":"true"}}`
	if got := code(fmt.Sprintf(create, `"id":1,`)); got != ahp.CodeInvalidRequest {
		t.Errorf("before initialize: %d", got)
	}
	if got := code(`{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"channel":"ahp-root://","protocolVersions":["0.9.0"],"clientId":"c"}}`); got != 0 {
		t.Errorf("initialize: %d", got)
	}
	if got := code(fmt.Sprintf(create, "")); got != ahp.CodeInvalidRequest {
		t.Errorf("without an id: %d", got)
	}
	if got := code(`{"jsonrpc":"2.0","id":3,"method":"terminal/unknown","params":{}}`); got != ahp.CodeMethodNotFound {
		t.Errorf("an unknown one: %d", got)
	}
	ours.Close()
	<-served
}
