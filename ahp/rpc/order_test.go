package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/authz"
)

// written is a Transport that only passes on what is written.
type written chan string

func (w written) Read() ([]byte, error)  { return nil, errors.New("nothing to read") }
func (w written) Write(msg []byte) error { w <- string(msg); return nil }
func (w written) Close(string) error     { return nil }

// TestNothingOvertakesTheSnapshotThatLacksIt has a terminal change at the worst
// of times: after the snapshot was taken, and before it is an answer.
func TestNothingOvertakesTheSnapshotThatLacksIt(t *testing.T) {
	h, err := host.New(host.Config{Shell: "/bin/sh", Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := h.Shutdown(ctx); err != nil {
			t.Error(err)
		}
	}()
	c, err := h.Connect(authz.Principal{ID: "SHA256:alice", Name: "alice", Role: authz.Admin}, host.DoorSubsystem)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, e := c.Initialize(ahp.InitializeParams{ClientID: "a", ProtocolVersions: []string{"1.0.0"}}); e != nil {
		t.Fatal(e)
	}
	claim := ahp.ClientClaim("a")
	extras := &ahp.CreateTerminalExtras{Command: "/bin/sh", Args: []string{"-c", "read x"}}
	create := ahp.CreateTerminalParams{Channel: "ahp-terminal:/t", Claim: &claim, Meta: &ahp.CreateTerminalMeta{Termhost: extras}}
	if e := c.CreateTerminal(create); e != nil {
		t.Fatal(e)
	}
	out := make(written, 16)
	ctx, cancel := context.WithCancel(context.Background())
	p := &peer{t: out, c: c, log: slog.New(slog.DiscardHandler), ctx: ctx}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = p.writeLoop() // it ends with ctx
	}()
	defer func() {
		cancel()
		<-done
	}()
	p.snapshots(json.RawMessage("7"), func() (func([]byte) []byte, *ahp.Error) {
		view, e := c.Subscribe("ahp-terminal:/t")
		if e != nil {
			return nil, e
		}
		c.Dispatch("ahp-terminal:/t", 1, ahp.TerminalTitleChanged{Title: "later"})
		return func(dst []byte) []byte { return view.AppendJSON(dst, c.Shape()) }, nil
	})
	if first := <-out; !strings.Contains(first, `"id":7,"result"`) || strings.Contains(first, "later") {
		t.Errorf("before the snapshot came %s", first)
	}
	if second := <-out; !strings.Contains(second, `"title":"later"`) {
		t.Errorf("after the snapshot came %s", second)
	}
}
