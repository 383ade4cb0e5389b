package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"termhost/cmd/termhost/config"
)

// TestAnyWebSocketClientUsesTheTerminalMethods plays an agent without the proxy and without any of
// our code: JSON on a WebSocket.
func TestAnyWebSocketClientUsesTheTerminalMethods(t *testing.T) {
	t.Parallel()
	_, file := serveHere(t)
	dialer := websocket.Dialer{
		NetDialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			socket := filepath.Join(filepath.Dir(file), "state", config.SocketName)
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		},
	}
	c, _, err := dialer.DialContext(t.Context(), "ws://localhost/ahp", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	id := 0
	ask := func(method, params string) map[string]any {
		t.Helper()
		id++
		const request = `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`
		q := fmt.Appendf(nil, request, id, method, params)
		if err := c.WriteMessage(websocket.TextMessage, q); err != nil {
			t.Fatal(err)
		}
		for {
			_, msg, err := c.ReadMessage()
			if err != nil {
				t.Fatal(err)
			}
			var r struct {
				ID     int
				Result map[string]any
				Error  map[string]any
			}
			if err := json.Unmarshal(msg, &r); err != nil {
				t.Fatal(err)
			}
			switch {
			case r.ID != id: // an action
			case r.Error != nil:
				return r.Error
			default:
				return r.Result
			}
		}
	}
	hello := ask("initialize", `{"channel":"ahp-root://","protocolVersions":["1.0.0"],`+
		`"clientId":"somebody","initialSubscriptions":["ahp-root://"]}`)
	var said struct {
		Meta struct {
			Terminals struct{ Methods []string } `json:"termhost/acpTerminals"`
		} `json:"_meta"`
	}
	raw, _ := json.Marshal(hello)
	if err := json.Unmarshal(raw, &said); err != nil {
		t.Fatal(err)
	}
	for _, method := range []string{
		"terminal/create", "terminal/output", "terminal/wait_for_exit", "terminal/kill",
		"terminal/release",
	} {
		if !slices.Contains(said.Meta.Terminals.Methods, method) {
			t.Errorf("initialize does not announce %s: %s", method, raw)
		}
	}
	made := ask("terminal/create", `{"sessionId":"s","command":"sh",`+
		`"args":["-c","echo up; sleep 300"],"outputByteLimit":100.0}`)
	of := fmt.Sprintf(`{"sessionId":"s","terminalId":%q}`, made["terminalId"])
	deadline := time.Now().Add(patience)
	for ask("terminal/output", of)["output"] != "up\r\n" {
		if time.Now().After(deadline) {
			t.Fatal("it prints nothing")
		}
	}
	ask("terminal/kill", of)
	exit := ask("terminal/wait_for_exit", of)
	if exit["signal"] != "SIGTERM" || exit["exitCode"] != nil {
		t.Errorf("it ended with %v", exit)
	}
	ask("terminal/release", of)
	gone := ask("terminal/output", of)
	if gone["code"] != -32002.0 || !strings.Contains(fmt.Sprint(gone["message"]), "released") {
		t.Errorf("after the release: %v", gone)
	}
}
