package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	acpsdk "github.com/coder/acp-go-sdk"
)

// acpAgent is an agent made with the ACP Go SDK. A prompt is the name of what it
// does, with its arguments; what came of it is what it says.
type acpAgent struct {
	conn  *acpsdk.AgentSideConnection
	calls int
	caps  acpsdk.ClientCapabilities
}

// acpAgentMain is the program "acpagent", on its standard streams.
func acpAgentMain() {
	a := &acpAgent{}
	a.conn = acpsdk.NewAgentSideConnection(a, os.Stdout, os.Stdin)
	fmt.Fprintln(os.Stderr, "acpagent: ready")
	<-a.conn.Done()
}

func (a *acpAgent) Initialize(_ context.Context, p acpsdk.InitializeRequest) (acpsdk.InitializeResponse, error) {
	a.caps = p.ClientCapabilities
	return acpsdk.InitializeResponse{ProtocolVersion: acpsdk.ProtocolVersionNumber,
		AgentInfo: &acpsdk.Implementation{Name: "go-agent", Version: "1"}}, nil
}

func (a *acpAgent) NewSession(context.Context, acpsdk.NewSessionRequest) (acpsdk.NewSessionResponse, error) {
	return acpsdk.NewSessionResponse{SessionId: "sess/1 of go"}, nil
}

func (a *acpAgent) Prompt(ctx context.Context, p acpsdk.PromptRequest) (acpsdk.PromptResponse, error) {
	words := strings.Fields(p.Prompt[0].Text.Text)
	t := &agentTurn{acpAgent: a, ctx: ctx, session: p.SessionId}
	do := map[string]func([]string) error{
		"build": t.build, "limits": t.limits, "twenty": t.twenty, "flood": t.flood, "die": t.die, "gone": t.gone,
		"ask": t.ask, "where": t.where, "big": t.big, "cancel": t.cancel, "wrong": t.wrong, "crowd": t.crowd,
	}[words[0]]
	if do == nil {
		return acpsdk.PromptResponse{}, acpsdk.NewInvalidParams("no such scenario")
	}
	if err := do(words[1:]); err != nil {
		t.say("failed: %v", err)
	}
	return acpsdk.PromptResponse{StopReason: acpsdk.StopReasonEndTurn}, nil
}

// The rest of the SDK's interface is not needed.
func (a *acpAgent) Authenticate(context.Context, acpsdk.AuthenticateRequest) (acpsdk.AuthenticateResponse, error) {
	return acpsdk.AuthenticateResponse{}, nil
}
func (a *acpAgent) Cancel(context.Context, acpsdk.CancelNotification) error { return nil }
func (a *acpAgent) CloseSession(context.Context, acpsdk.CloseSessionRequest) (acpsdk.CloseSessionResponse, error) {
	return acpsdk.CloseSessionResponse{}, nil
}
func (a *acpAgent) ListSessions(context.Context, acpsdk.ListSessionsRequest) (acpsdk.ListSessionsResponse, error) {
	return acpsdk.ListSessionsResponse{}, nil
}
func (a *acpAgent) ResumeSession(context.Context, acpsdk.ResumeSessionRequest) (acpsdk.ResumeSessionResponse, error) {
	return acpsdk.ResumeSessionResponse{}, nil
}
func (a *acpAgent) SetSessionConfigOption(context.Context, acpsdk.SetSessionConfigOptionRequest) (acpsdk.SetSessionConfigOptionResponse, error) {
	return acpsdk.SetSessionConfigOptionResponse{}, nil
}
func (a *acpAgent) SetSessionMode(context.Context, acpsdk.SetSessionModeRequest) (acpsdk.SetSessionModeResponse, error) {
	return acpsdk.SetSessionModeResponse{}, nil
}

// agentTurn is one prompt.
type agentTurn struct {
	*acpAgent
	ctx     context.Context
	session acpsdk.SessionId
}

func (t *agentTurn) update(u acpsdk.SessionUpdate) error {
	return t.conn.SessionUpdate(t.ctx, acpsdk.SessionNotification{SessionId: t.session, Update: u})
}

func (t *agentTurn) say(format string, args ...any) {
	_ = t.update(acpsdk.UpdateAgentMessageText(fmt.Sprintf(format, args...)))
}

// create starts a command and shows its terminal in a tool call.
func (t *agentTurn) create(limit int, command string, args ...string) (string, error) {
	p := acpsdk.CreateTerminalRequest{SessionId: t.session, Command: command, Args: args}
	if limit > 0 {
		p.OutputByteLimit = &limit
	}
	r, err := t.conn.CreateTerminal(t.ctx, p)
	return r.TerminalId, err
}

// embed shows a terminal in a new tool call and returns that.
func (t *agentTurn) embed(id string, title string) (acpsdk.ToolCallId, error) {
	t.calls++
	call := acpsdk.ToolCallId(fmt.Sprintf("call-%d", t.calls))
	return call, t.update(acpsdk.StartToolCall(call, title, acpsdk.WithStartStatus(acpsdk.ToolCallStatusInProgress),
		acpsdk.WithStartContent([]acpsdk.ToolCallContent{acpsdk.ToolTerminalRef(id)})))
}

func (t *agentTurn) wait(ctx context.Context, id string) (acpsdk.WaitForTerminalExitResponse, error) {
	return t.conn.WaitForTerminalExit(ctx, acpsdk.WaitForTerminalExitRequest{SessionId: t.session, TerminalId: id})
}

func (t *agentTurn) output(id string) (acpsdk.TerminalOutputResponse, error) {
	return t.conn.TerminalOutput(t.ctx, acpsdk.TerminalOutputRequest{SessionId: t.session, TerminalId: id})
}

func (t *agentTurn) kill(id string) error {
	_, err := t.conn.KillTerminal(t.ctx, acpsdk.KillTerminalRequest{SessionId: t.session, TerminalId: id})
	return err
}

func (t *agentTurn) release(id string) error {
	_, err := t.conn.ReleaseTerminal(t.ctx, acpsdk.ReleaseTerminalRequest{SessionId: t.session, TerminalId: id})
	return err
}

// ended says how a command ended.
func ended(code *int, signal *string) string {
	switch {
	case code != nil:
		return fmt.Sprintf("code %d", *code)
	case signal != nil:
		return "signal " + *signal
	}
	return "nothing known"
}

// build runs make with a timeout made of the five methods, as ACP's page on
// terminals describes it.
func (t *agentTurn) build(args []string) error {
	timeout, err := time.ParseDuration(args[0])
	if err != nil {
		return err
	}
	id, err := t.create(0, "make", args[1:]...)
	if err != nil {
		return err
	}
	call, err := t.embed(id, "make")
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { _, err := t.wait(t.ctx, id); done <- err }()
	select {
	case err = <-done:
	case <-time.After(timeout):
		t.say("timeout")
		if err = t.kill(id); err == nil {
			err = <-done
		}
	}
	if err != nil {
		return err
	}
	out, err := t.output(id)
	if err != nil {
		return err
	}
	t.say("build ended with %s: %q", ended(out.ExitStatus.ExitCode, out.ExitStatus.Signal), out.Output)
	if err := t.update(acpsdk.UpdateToolCall(call, acpsdk.WithUpdateStatus(acpsdk.ToolCallStatusCompleted))); err != nil {
		return err
	}
	if err := t.release(id); err != nil {
		return err
	}
	_, err = t.output(id)
	t.say("after release: %s", refusal(err))
	return nil
}

// refusal returns the code and the message of an error.
func refusal(err error) string {
	var e *acpsdk.RequestError
	if errors.As(err, &e) {
		return fmt.Sprintf("%d %s", e.Code, e.Message)
	}
	return fmt.Sprint(err)
}

// limits has the end of multi-byte output kept.
func (t *agentTurn) limits([]string) error {
	for limit := 1; limit <= 10; limit++ {
		id, err := t.create(limit, "printf", "%s", strings.Repeat("€", 100)+"💩")
		if err != nil {
			return err
		}
		if _, err := t.wait(t.ctx, id); err != nil {
			return err
		}
		out, err := t.output(id)
		if err != nil {
			return err
		}
		t.say("limit %d: %d bytes %q truncated %t", limit, len(out.Output), out.Output, out.Truncated)
		if err := t.release(id); err != nil {
			return err
		}
	}
	return nil
}

// twenty runs twenty commands at once.
func (t *agentTurn) twenty([]string) error {
	var all sync.WaitGroup
	var mu sync.Mutex
	good := 0
	for i := range 20 {
		all.Go(func() {
			id, err := t.create(0, "sh", "-c", fmt.Sprintf("echo start; sleep 0.3; seq 1 2000; exit %d", i))
			if err != nil {
				return
			}
			st, err := t.wait(t.ctx, id)
			if err != nil || st.ExitCode == nil || *st.ExitCode != i {
				return
			}
			out, err := t.output(id)
			if err == nil && strings.HasSuffix(out.Output, "\r\n2000\r\n") && t.release(id) == nil {
				mu.Lock()
				good++
				mu.Unlock()
			}
		})
	}
	all.Wait()
	t.say("%d of 20 are good", good)
	return nil
}

// flood kills a command that prints without end.
func (t *agentTurn) flood([]string) error {
	id, err := t.create(1000, "yes", "flood")
	if err != nil {
		return err
	}
	if _, err := t.embed(id, "yes"); err != nil {
		return err
	}
	for {
		out, err := t.output(id)
		if err != nil {
			return err
		}
		if out.Truncated {
			break
		}
	}
	if err := t.kill(id); err != nil {
		return err
	}
	st, err := t.wait(t.ctx, id)
	if err != nil {
		return err
	}
	out, err := t.output(id)
	t.say("flood ended with %s, %d bytes", ended(st.ExitCode, st.Signal), len(out.Output))
	return errors.Join(err, t.release(id))
}

// die starts a command that would run for long, and ends.
func (t *agentTurn) die([]string) error {
	if _, err := t.create(0, "sh", "-c", "echo $$ > pid; exec sleep 300"); err != nil {
		return err
	}
	for range 1000 {
		if text, err := os.ReadFile("pid"); err == nil && len(text) > 0 {
			os.Exit(3)
		}
		time.Sleep(5 * time.Millisecond)
	}
	return errors.New("the command does not start")
}
