package acp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"testing"

	"termhost/ahp"
	"termhost/ahp/acp/wire"
	"termhost/ahp/client"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/rpc"
)

func TestARemoteAgentUsesTheMethodsOnItsAHPConnection(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	dial := func(context.Context) (io.ReadWriteCloser, error) {
		return hosttest.Dial(t, h, alice, options(h))
	}
	agent, err := client.Connect(t.Context(), client.Config{Dial: client.Lines(dial)})
	check(t, err)
	defer agent.Close()
	var c wire.CreateResult
	check(t, agent.Call(t.Context(), wire.MethodCreate, command("sh", "-c", "exit 3"), &c))
	var exit wire.ExitStatus
	check(t, agent.Call(t.Context(), wire.MethodWait, of(c.TerminalID), &exit))
	wantCode(t, exit, 3)
	m, err := agent.Subscribe(t.Context(), c.Meta.Termhost.URI)
	check(t, err)
	defer m.Close()
	if term := m.Terminal(); term.Claim.Session != "ahp-session:/s" || !term.Exited {
		t.Errorf("the terminal is %+v", term)
	}
	check(t, agent.Call(t.Context(), wire.MethodRelease, of(c.TerminalID), nil))
	var refused *ahp.Error
	err = agent.Call(t.Context(), wire.MethodOutput, of(c.TerminalID), nil)
	if !errors.As(err, &refused) || refused.Code != wire.CodeNoSuchTerminal {
		t.Errorf("after release: %v", err)
	}
}

// options are those of connections that have ACP's methods, too.
func options(h *host.Host) rpc.Options {
	methods := NewMethods(h, nil)
	return rpc.Options{Extend: func(c *host.Conn) rpc.Extension { return methods.Terminals(c) }}
}

func TestTheMethodsNeedAnInitializedConnectionAndAnID(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	conn, err := hosttest.Dial(t, h, alice, options(h))
	check(t, err)
	in := bufio.NewReader(conn)
	code := func(msg string) int {
		t.Helper()
		go fmt.Fprintln(conn, msg)
		line, err := in.ReadBytes('\n')
		check(t, err)
		var r struct{ Error ahp.Error }
		check(t, json.Unmarshal(line, &r))
		return r.Error.Code
	}
	create := `{"jsonrpc":"2.0",%s"method":"terminal/create",` +
		`"params":{"sessionId":"s","command":"true"}}`
	initialize := `{"jsonrpc":"2.0","id":2,"method":"initialize","params":` +
		`{"channel":"ahp-root://","protocolVersions":["0.9.0"],"clientId":"c"}}`
	for _, step := range []struct {
		what, message string
		want          int
	}{
		{"before initialize", fmt.Sprintf(create, `"id":1,`), ahp.CodeInvalidRequest},
		{"initialize", initialize, 0},
		{"without an id", fmt.Sprintf(create, ""), ahp.CodeInvalidRequest},
		{"unknown", `{"jsonrpc":"2.0","id":3,"method":"terminal/x"}`, ahp.CodeMethodNotFound},
	} {
		if got := code(step.message); got != step.want {
			t.Errorf("%s: code %d, want %d", step.what, got, step.want)
		}
	}
}
