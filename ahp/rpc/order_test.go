package rpc

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest/slowtest"
	"termhost/authz"
)

// written is a Transport that passes on what is written, and has nothing to read.
type written chan string

func (w written) Read() ([]byte, error)  { return nil, errors.New("nothing to read") }
func (w written) Write(msg []byte) error { w <- string(msg); return nil }
func (w written) Close(string) error     { return nil }

func (w written) BeginFrame(dst []byte) ([]byte, int) { return dst, len(dst) }
func (w written) EndFrame(dst []byte, _ int) []byte   { return dst }
func (w written) WriteFrames(msgs []byte) error       { return w.Write(msgs) }

// TestNothingOvertakesTheSnapshotThatLacksIt changes a terminal at the worst moment: after
// its snapshot was asked for, and before the writer gets to the answer.
func TestNothingOvertakesTheSnapshotThatLacksIt(t *testing.T) {
	h, err := host.New(host.Config{Shell: "/bin/sh", Version: "test",
		Env: map[string]string{slowtest.OwnerVariable: t.Name()}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
		defer cancel()
		if err := h.Shutdown(ctx); err != nil {
			t.Error(err)
		}
	}()
	alice := authz.Principal{ID: "SHA256:alice", Name: "alice", Role: authz.Admin}
	c, err := h.Connect(alice, host.DoorSubsystem)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	hello := ahp.InitializeParams{ClientID: "a", ProtocolVersions: []string{"1.0.0"}}
	if _, e := c.Initialize(hello); e != nil {
		t.Fatal(e)
	}
	claim := ahp.ClientClaim("a")
	extras := &ahp.CreateTerminalExtras{Command: "/bin/sh", Args: []string{"-c", "read x"}}
	create := ahp.CreateTerminalParams{Channel: "ahp-terminal:/t", Claim: &claim,
		Meta: &ahp.CreateTerminalMeta{Termhost: extras}}
	if _, e := CreateTerminal(c, create); e != nil {
		t.Fatal(e)
	}
	out := make(written, 16)
	ctx, cancel := context.WithCancel(context.Background())
	p := &peer{transport: out, conn: c, opts: Options{MaxSubscriptions: 1},
		log: slog.New(slog.DiscardHandler), ctx: ctx}
	r := &request{id: []byte("7"), params: []byte(`{"channel":"ahp-terminal:/t"}`)}
	if e := p.subscribe(r); e != nil {
		t.Fatal(e)
	}
	c.Dispatch("ahp-terminal:/t", 1, ahp.TerminalTitleChanged{Title: "later"})
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = p.writeLoop() // it ends with ctx
	}()
	defer func() {
		cancel()
		<-done
	}()
	first := <-out
	if !strings.Contains(first, `"id":7,"result"`) || strings.Contains(first, "later") {
		t.Errorf("before the snapshot came %s", first)
	}
	if second := <-out; !strings.Contains(second, `"title":"later"`) {
		t.Errorf("after the snapshot came %s", second)
	}
}
