package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	acpsdk "github.com/coder/acp-go-sdk"
)

// acpAgent is an agent made with the ACP Go SDK. A prompt names one of the methods of agentTurn,
// with its arguments. The agent says what came of it.
type acpAgent struct {
	acpsdk.Agent // nil: no story calls the other methods

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

func (a *acpAgent) Initialize(
	_ context.Context, p acpsdk.InitializeRequest,
) (acpsdk.InitializeResponse, error) {
	a.caps = p.ClientCapabilities
	return acpsdk.InitializeResponse{ProtocolVersion: acpsdk.ProtocolVersionNumber,
		AgentInfo: &acpsdk.Implementation{Name: "go-agent", Version: "1"}}, nil
}

func (a *acpAgent) NewSession(
	context.Context, acpsdk.NewSessionRequest,
) (acpsdk.NewSessionResponse, error) {
	return acpsdk.NewSessionResponse{SessionId: "sess/1 of go"}, nil
}

func (a *acpAgent) Prompt(
	ctx context.Context, p acpsdk.PromptRequest,
) (acpsdk.PromptResponse, error) {
	words := strings.Fields(p.Prompt[0].Text.Text)
	t := &agentTurn{acpAgent: a, ctx: ctx, session: p.SessionId}
	do := map[string]func([]string) error{
		"build": t.build, "limits": t.limits, "twenty": t.twenty, "flood": t.flood, "die": t.die,
		"gone": t.gone, "ask": t.ask, "where": t.where, "big": t.big, "cancel": t.cancel,
		"wrong": t.wrong, "crowd": t.crowd, "restart": t.restart, "linger": t.linger,
	}[words[0]]
	if do == nil {
		return acpsdk.PromptResponse{}, acpsdk.NewInvalidParams("no such scenario")
	}
	if err := do(words[1:]); err != nil {
		t.say("failed: %v", err)
	}
	return acpsdk.PromptResponse{StopReason: acpsdk.StopReasonEndTurn}, nil
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
	return call, t.update(acpsdk.StartToolCall(call, title,
		acpsdk.WithStartStatus(acpsdk.ToolCallStatusInProgress),
		acpsdk.WithStartContent([]acpsdk.ToolCallContent{acpsdk.ToolTerminalRef(id)})))
}

func (t *agentTurn) wait(
	ctx context.Context, id string,
) (acpsdk.WaitForTerminalExitResponse, error) {
	q := acpsdk.WaitForTerminalExitRequest{SessionId: t.session, TerminalId: id}
	return t.conn.WaitForTerminalExit(ctx, q)
}

func (t *agentTurn) output(id string) (acpsdk.TerminalOutputResponse, error) {
	q := acpsdk.TerminalOutputRequest{SessionId: t.session, TerminalId: id}
	return t.conn.TerminalOutput(t.ctx, q)
}

func (t *agentTurn) kill(id string) error {
	q := acpsdk.KillTerminalRequest{SessionId: t.session, TerminalId: id}
	_, err := t.conn.KillTerminal(t.ctx, q)
	return err
}

func (t *agentTurn) release(id string) error {
	q := acpsdk.ReleaseTerminalRequest{SessionId: t.session, TerminalId: id}
	_, err := t.conn.ReleaseTerminal(t.ctx, q)
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
	if err := t.prints(id); err != nil {
		return err
	}
	waited := make(chan error, 1)
	go func() { _, err := t.wait(t.ctx, id); waited <- err }()
	select {
	case err = <-waited:
	case <-time.After(timeout):
		t.say("timeout")
		if err = t.kill(id); err == nil {
			err = <-waited
		}
	}
	if err != nil {
		return err
	}
	out, err := t.output(id)
	if err != nil {
		return err
	}
	exit := out.ExitStatus
	t.say("build ended with %s: %q", ended(exit.ExitCode, exit.Signal), out.Output)
	done := acpsdk.WithUpdateStatus(acpsdk.ToolCallStatusCompleted)
	if err := t.update(acpsdk.UpdateToolCall(call, done)); err != nil {
		return err
	}
	if err := t.release(id); err != nil {
		return err
	}
	_, err = t.output(id)
	t.say("after release: %s", refusal(err))
	return nil
}

// prints waits until a command has printed something, or has ended.
func (t *agentTurn) prints(id string) error {
	for {
		out, err := t.output(id)
		if err != nil || out.Output != "" || out.ExitStatus != nil {
			return err
		}
	}
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
		n := len(out.Output)
		t.say("limit %d: %d bytes %q truncated %t", limit, n, out.Output, out.Truncated)
		if err := t.release(id); err != nil {
			return err
		}
	}
	return nil
}

// twenty runs twenty commands at once, and says what is wrong with each that is not good.
func (t *agentTurn) twenty([]string) error {
	var all sync.WaitGroup
	var good atomic.Int32
	for i := range 20 {
		all.Go(func() {
			if err := t.one(i); err != nil {
				t.say("command %d: %v", i, err)
				return
			}
			good.Add(1)
		})
	}
	all.Wait()
	t.say("%d of 20 are good", good.Load())
	return nil
}

// one runs a command that ends with a code, after its output.
func (t *agentTurn) one(code int) error {
	line := fmt.Sprintf("echo start; sleep 0.3; seq 1 2000; exit %d", code)
	id, err := t.create(0, "sh", "-c", line)
	if err != nil {
		return fmt.Errorf("create: %w", err)
	}
	st, err := t.wait(t.ctx, id)
	if err != nil {
		return fmt.Errorf("wait for %s: %w", id, err)
	}
	out, err := t.output(id)
	if err != nil {
		return fmt.Errorf("output of %s: %w", id, err)
	}
	if st.ExitCode == nil || *st.ExitCode != code || !strings.HasSuffix(out.Output, "\r\n2000\r\n") {
		return fmt.Errorf("%s ended with %s, and %d bytes, the last of them %q",
			id, ended(st.ExitCode, st.Signal), len(out.Output), out.Output[max(0, len(out.Output)-80):])
	}
	return t.release(id)
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
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		if text, err := os.ReadFile("pid"); err == nil && len(text) > 0 {
			os.Exit(3)
		}
		time.Sleep(5 * time.Millisecond)
	}
	return errors.New("the command does not start")
}
