package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// mcpClientMain is the program "mcpclient", an MCP client that is made with the Go SDK:
//
//	mcpclient STORY COMMAND ARGS...
//
// COMMAND is the server. The client prints what came of the story.
func mcpClientMain() {
	story := map[string]func(*mcpClient, context.Context) error{
		"tools": (*mcpClient).tools, "restart": (*mcpClient).restart,
		"graceful": (*mcpClient).graceful,
	}[os.Args[1]]
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	c, err := startMCPClient(ctx, os.Args[2:])
	if err == nil {
		err = story(c, ctx)
	}
	if err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
	began := time.Now()
	err = c.Close()
	fmt.Println("closed:", err, time.Since(began) < patience)
}

type mcpClient struct{ *mcp.ClientSession }

func startMCPClient(ctx context.Context, argv []string) (*mcpClient, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stderr = os.Stderr
	client := mcp.NewClient(&mcp.Implementation{Name: "story", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: cmd,
		TerminateDuration: patience}, nil)
	return &mcpClient{session}, err
}

// call calls a tool and returns its text.
func (c *mcpClient) call(ctx context.Context, tool string, args map[string]any) (string, error) {
	r, err := c.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return "", fmt.Errorf("%s: %w", tool, err)
	}
	text := r.Content[0].(*mcp.TextContent).Text
	if r.IsError {
		text = "(error) " + text
	}
	return text, nil
}

// say prints a call's text in one line.
func say(what, text string) { fmt.Printf("%s: %q\n", what, text) }

func (c *mcpClient) tools(ctx context.Context) error {
	list, err := c.ListTools(ctx, nil)
	if err != nil {
		return err
	}
	for _, t := range list.Tools {
		fmt.Println("tool", t.Name)
	}
	text, err := c.call(ctx, "terminal_run", map[string]any{"command": "echo sum-$((6*7)); exit 3"})
	say("ran", text)
	if err != nil {
		return err
	}
	where, err := c.call(ctx, "terminal_run", map[string]any{"command": "pwd"})
	_, where, _ = strings.Cut(where, "\n")
	fmt.Println("in:", strings.TrimSpace(where))
	return err
}

// awaitFile waits until a file is there.
func awaitFile(ctx context.Context, name string) error {
	for {
		if _, err := os.Stat(name); err == nil {
			return nil
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("there is no file %s: %w", name, ctx.Err())
		}
	}
}

// restart has calls that are under way while the host is killed and another one starts. The file
// "ready" says that they are, and "back" lets the command go on.
func (c *mcpClient) restart(ctx context.Context) error {
	cwd, err := os.Getwd()
	if err != nil {
		return err
	}
	type answer struct {
		text string
		err  error
	}
	asked := func(tool string, args map[string]any) chan answer {
		answers := make(chan answer, 1)
		go func() {
			text, err := c.call(ctx, tool, args)
			answers <- answer{text, err}
		}()
		return answers
	}
	if _, err := c.call(ctx, "terminal_run", map[string]any{"cwd": cwd, "name": "short",
		"command": "until test -e go; do sleep 0.05; done; echo got-it", "background": true}); err != nil {
		return err
	}
	run := asked("terminal_run", map[string]any{"cwd": cwd, "name": "long",
		"command": "echo x >>ran; until test -e back; do sleep 0.05; done; echo after; exit 5"})
	read := asked("terminal_read", map[string]any{"terminal": "short", "wait_s": 40})
	if err := awaitFile(ctx, "ran"); err != nil {
		return err
	}
	for list := ""; !strings.Contains(list, "long"); { // it runs a little earlier than it is listed
		if list, err = c.call(ctx, "terminal_list", nil); err != nil {
			return err
		}
	}
	if err := os.WriteFile("ready", nil, 0o600); err != nil {
		return err
	}
	lost := <-run
	if lost.err != nil {
		return lost.err
	}
	say("run", lost.text)
	// This one waits for the next host.
	text, err := c.call(ctx, "terminal_list", nil)
	if err != nil {
		return err
	}
	say("list", text)
	if err := os.WriteFile("go", nil, 0o600); err != nil {
		return err
	}
	reads := <-read
	if reads.err != nil {
		return reads.err
	}
	say("read", reads.text)
	if err := os.WriteFile("back", nil, 0o600); err != nil {
		return err
	}
	text, err = c.call(ctx, "terminal_read", map[string]any{"terminal": "long", "wait_s": 30})
	say("rest", text)
	return err
}

// graceful is the same for a host that is stopped by a service manager, and only reads.
func (c *mcpClient) graceful(ctx context.Context) error {
	cwd, err := os.Getwd()
	if err != nil {
		return err
	}
	if _, err := c.call(ctx, "terminal_run", map[string]any{"cwd": cwd, "name": "waits",
		"command": "until test -e go; do sleep 0.05; done; echo got-it", "background": true}); err != nil {
		return err
	}
	if err := os.WriteFile("ready", nil, 0o600); err != nil {
		return err
	}
	text, err := c.call(ctx, "terminal_read", map[string]any{"terminal": "waits", "wait_s": 40})
	say("read", text)
	return err
}

// mcpLinesMain is the program "mcplines", an MCP client that writes lines as they are:
//
//	mcplines COMMAND ARGS... <LINES
//
// It writes a line of its standard input to COMMAND, waits for a line, and so on. A line that
// begins with "-" is written, too, without the dash, but not answered; "+FILE" writes the line in a
// file. It prints what COMMAND answers, and fails if that is not JSON, or more than was asked for.
func mcpLinesMain() {
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		panic(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		panic(err)
	}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	answers := make(chan string)
	var reading sync.WaitGroup
	reading.Go(func() {
		defer close(answers)
		for lines := bufio.NewReader(out); ; {
			line, err := lines.ReadString('\n')
			if line != "" {
				answers <- line
			}
			if err != nil {
				return
			}
		}
	})
	failed := false
	check := func(line string) {
		var v any
		failed = failed || json.Unmarshal([]byte(line), &v) != nil
		fmt.Print(line)
	}
	script, err := io.ReadAll(os.Stdin)
	if err != nil {
		panic(err)
	}
	for line := range strings.Lines(string(script)) {
		silent := false
		if line, silent = strings.CutPrefix(line, "-"); !silent {
			if name, ok := strings.CutPrefix(line, "+"); ok {
				text, err := os.ReadFile(strings.TrimSpace(name))
				if err != nil {
					panic(err)
				}
				line = string(text)
			}
		}
		_, _ = io.WriteString(in, line) // the command may have ended
		if silent {
			continue
		}
		select {
		case answer, ok := <-answers:
			if ok {
				check(answer)
			}
		case <-time.After(patience):
			fmt.Println("no answer to", line)
			failed = true
		}
	}
	in.Close()
	for line := range answers {
		fmt.Println("more than was asked for:")
		check(line)
	}
	reading.Wait()
	if err := cmd.Wait(); err != nil {
		fmt.Println("ended:", err)
	}
	if failed {
		os.Exit(9)
	}
}
