package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// serveHere runs a host of its own and returns its process and its configuration.
func serveHere(t *testing.T) (*os.Process, string) {
	t.Helper()
	home := t.TempDir()
	file := filepath.Join(home, "termhost.toml")
	config := fmt.Sprintf("state_dir = %q\n[ssh]\nlisten = \"127.0.0.1:0\"\n[http]\nlisten = \"\"\n[terminal]\nenv = { HOME = %q }\n",
		filepath.Join(home, "state"), home)
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("termhost", "serve", "-c", file) // TestMain has put it into PATH
	cmd.Env = append(os.Environ(), "HOME="+home)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	up := make(chan bool, 1)
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if strings.HasPrefix(lines.Text(), "Socket:") {
				up <- true
			}
		}
	}()
	select {
	case <-up:
	case <-time.After(patience):
		t.Fatal("the host does not come up")
	}
	return cmd.Process, file
}

// waitingAgent is an agent in a few lines of shell: it runs a command, says
// "runs", waits for the command's end and then asks for its output, and tells what
// it was answered.
const waitingAgent = `
ask() { printf '{"jsonrpc":"2.0","id":1,"method":"terminal/%s","params":{"sessionId":"s",%s}}\n' "$1" "$2"; IFS= read -r answer; }
ask create '"command":"sleep","args":["300"]'
id=$(printf '%s' "$answer" | sed 's/.*"terminalId":"\([^"]*\)".*/\1/')
echo runs
ask wait_for_exit "\"terminalId\":\"$id\""
printf 'wait: %s\n' "$answer"
ask output "\"terminalId\":\"$id\""
printf 'output: %s\n' "$answer"
exit 6
`

func TestAHostThatHangsDoesNotHangTheAgent(t *testing.T) {
	t.Parallel()
	host, file := serveHere(t)
	way, err := localWay(file)
	if err != nil {
		t.Fatal(err)
	}
	if way.keepalive != acpKeepalive {
		t.Fatalf("it is asked for a sign of life every %s", way.keepalive)
	}
	way.keepalive = 250 * time.Millisecond
	editorIn, fromEditor := io.Pipe()
	toEditor, editorOut := io.Pipe()
	var notes strings.Builder
	status := make(chan int, 1)
	go func() {
		status <- runAgent(way, []string{"sh", "-c", waitingAgent}, stdio{in: editorIn, out: editorOut, err: &notes})
		editorOut.Close()
	}()
	defer fromEditor.Close()
	said := bufio.NewScanner(toEditor)
	next := func() string {
		if !said.Scan() {
			t.Fatalf("the agent says no more; %s", &notes)
		}
		return said.Text()
	}
	if got := next(); got != "runs" {
		t.Fatalf("the agent says %q", got)
	}
	if err := host.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for _, question := range []string{"wait", "output"} {
		if got := next(); !strings.HasPrefix(got, question+": ") || !strings.Contains(got, "has ended with the connection to the host") {
			t.Errorf("the agent is answered %q", got)
		}
	}
	if got := <-status; got != 6 {
		t.Errorf("the status is %d", got)
	}
	if !strings.Contains(notes.String(), "the host does not answer") {
		t.Errorf("the notes are %q", notes.String())
	}
}
