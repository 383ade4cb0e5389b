package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	acpsdk "github.com/coder/acp-go-sdk"
	"github.com/creack/pty"
)

// acpEditor is an editor made with the ACP Go SDK. It prints what it would show.
type acpEditor struct {
	acpsdk.Client // nil: no story calls the other methods

	mu        sync.Mutex
	terminals map[string]*editorTerminal
}

// editorTerminal is one of the editor's own.
type editorTerminal struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when the program has ended and all is shown
	left chan struct{} // closed when it has been released

	mu    sync.Mutex
	shown bytes.Buffer
}

// acpEditorMain is the program "acpeditor":
//
//	acpeditor [-terminals] PROMPT COMMAND ARGS...
//
// It runs an agent, prompts it, and ends with the agent's exit status.
func acpEditorMain() {
	args := os.Args[1:]
	terminals := args[0] == "-terminals"
	if terminals {
		args = args[1:]
	}
	cmd := exec.Command(args[1], args[2:]...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	must(err)
	out, err := cmd.StdoutPipe()
	must(err)
	must(cmd.Start())
	e := &acpEditor{terminals: map[string]*editorTerminal{}}
	if err := e.converse(in, out, args[0], terminals); err != nil {
		fmt.Println("error:", refusal(err))
	}
	in.Close()
	_, _ = io.Copy(io.Discard, out)
	err = cmd.Wait()
	fmt.Println("ended:", cmd.ProcessState.ExitCode())
	if err != nil {
		os.Exit(cmd.ProcessState.ExitCode())
	}
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "acpeditor:", err)
		os.Exit(99)
	}
}

func (e *acpEditor) converse(in io.Writer, out io.Reader, prompt string, terminals bool) error {
	ctx := context.Background()
	conn := acpsdk.NewClientSideConnection(e, in, out)
	_, err := conn.Initialize(ctx, acpsdk.InitializeRequest{
		ProtocolVersion:    acpsdk.ProtocolVersionNumber,
		ClientCapabilities: acpsdk.ClientCapabilities{Terminal: terminals},
	})
	if err != nil {
		return err
	}
	cwd, err := os.Getwd()
	if err != nil {
		return err
	}
	none := []acpsdk.McpServer{}
	s, err := conn.NewSession(ctx, acpsdk.NewSessionRequest{Cwd: cwd, McpServers: none})
	if err != nil {
		return err
	}
	text := []acpsdk.ContentBlock{acpsdk.TextBlock(prompt)}
	r, err := conn.Prompt(ctx, acpsdk.PromptRequest{SessionId: s.SessionId, Prompt: text})
	if err != nil {
		return err
	}
	fmt.Println("stop:", r.StopReason)
	e.mu.Lock()
	made := maps.Clone(e.terminals)
	e.mu.Unlock()
	for _, t := range made {
		select {
		case <-t.left:
		case <-time.After(patience):
			return errors.New("a terminal is not released")
		}
	}
	return nil
}

func (e *acpEditor) SessionUpdate(_ context.Context, p acpsdk.SessionNotification) error {
	switch u := p.Update; {
	case u.AgentMessageChunk != nil:
		if text := u.AgentMessageChunk.Content.Text.Text; len(text) > 10000 {
			fmt.Println("says:", len(text), "bytes")
		} else {
			fmt.Println("says:", text)
		}
	case u.ToolCall != nil:
		e.show(u.ToolCall.ToolCallId, u.ToolCall.Content)
	case u.ToolCallUpdate != nil:
		e.show(u.ToolCallUpdate.ToolCallId, u.ToolCallUpdate.Content)
	}
	return nil
}

func (e *acpEditor) show(call acpsdk.ToolCallId, content []acpsdk.ToolCallContent) {
	for _, c := range content {
		switch {
		case c.Content != nil:
			fmt.Printf("%s shows %q\n", call, c.Content.Content.Text.Text)
		case c.Terminal != nil:
			fmt.Printf("%s shows terminal %s\n", call, c.Terminal.TerminalId)
		}
	}
}

// CreateTerminal runs a program in a terminal of the editor's.
func (e *acpEditor) CreateTerminal(
	_ context.Context, p acpsdk.CreateTerminalRequest,
) (acpsdk.CreateTerminalResponse, error) {
	fmt.Println("runs:", p.Command, strings.Join(p.Args, " "))
	t := &editorTerminal{
		cmd:  exec.Command(p.Command, p.Args...),
		done: make(chan struct{}),
		left: make(chan struct{}),
	}
	tty, err := pty.StartWithSize(t.cmd, &pty.Winsize{Cols: 100, Rows: 30})
	if err != nil {
		return acpsdk.CreateTerminalResponse{}, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	id := fmt.Sprintf("editor-%d", len(e.terminals)+1)
	go func() {
		defer close(t.done)
		buf := make([]byte, 4096)
		for {
			n, err := tty.Read(buf)
			t.mu.Lock()
			t.shown.Write(buf[:n])
			if bytes.Contains(t.shown.Bytes(), []byte("out-")) { // for a story that waits for that
				_ = os.WriteFile("seen/"+id, nil, 0o600) // there may be no such folder
			}
			t.mu.Unlock()
			if err != nil {
				break
			}
		}
		_ = t.cmd.Wait()
		tty.Close()
	}()
	e.terminals[id] = t
	return acpsdk.CreateTerminalResponse{TerminalId: id}, nil
}

func (e *acpEditor) terminal(id string) (*editorTerminal, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if t := e.terminals[id]; t != nil {
		return t, nil
	}
	return nil, errors.New("the editor has no terminal " + id)
}

// WaitForTerminalExit waits for the program's end.
func (e *acpEditor) WaitForTerminalExit(
	_ context.Context, p acpsdk.WaitForTerminalExitRequest,
) (acpsdk.WaitForTerminalExitResponse, error) {
	t, err := e.terminal(p.TerminalId)
	if err != nil {
		return acpsdk.WaitForTerminalExitResponse{}, err
	}
	<-t.done
	code := t.cmd.ProcessState.ExitCode()
	return acpsdk.WaitForTerminalExitResponse{ExitCode: &code}, nil
}

// ReleaseTerminal ends the program. What it has shown stays.
func (e *acpEditor) ReleaseTerminal(
	_ context.Context, p acpsdk.ReleaseTerminalRequest,
) (acpsdk.ReleaseTerminalResponse, error) {
	t, err := e.terminal(p.TerminalId)
	if err != nil {
		return acpsdk.ReleaseTerminalResponse{}, err
	}
	_ = t.cmd.Process.Kill()
	<-t.done
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Printf("%s has shown %q\n", p.TerminalId, escapes.ReplaceAll(t.shown.Bytes(), nil))
	close(t.left)
	return acpsdk.ReleaseTerminalResponse{}, nil
}
