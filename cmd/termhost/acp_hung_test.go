package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/cmd/termhost/acpproxy"
	"termhost/cmd/termhost/bench"
)

// serveHere runs a host of its own and returns its process and its configuration.
func serveHere(t *testing.T) (*os.Process, string) {
	t.Helper()
	home := hosttest.Dir(t)
	file := filepath.Join(home, "termhost.toml")
	config := bench.Config(home) + fmt.Sprintf("state_dir = %q\n", filepath.Join(home, "state"))
	config = hosttest.OwnedConfig(t.Name(), config)
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	h, err := bench.StartHost("termhost", file, append(os.Environ(), "HOME="+home,
		slowtest.Owner(t)), hosttest.LogFile(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Kill)
	return h.Cmd.Process, file
}

// waitingAgent is an agent in a few lines of shell. It runs a command and says "runs". Then it
// waits for the command's end, asks for its output, and tells the answer to both.
const waitingAgent = `
ask() {
	head='{"jsonrpc":"2.0","id":1,"method":"terminal/'
	printf '%s%s","params":{"sessionId":"s",%s}}\n' "$head" "$1" "$2"
	IFS= read -r answer
}
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
	slow(t)
	t.Parallel()
	host, file := serveHere(t)
	way, err := localWay(file)
	if err != nil {
		t.Fatal(err)
	}
	if way.keepalive != acpproxy.Keepalive || way.away != acpproxy.Away {
		t.Fatalf("it is asked for a sign of life every %s, for %s", way.keepalive, way.away)
	}
	way.keepalive, way.away = time.Second, time.Millisecond
	editorIn, fromEditor := io.Pipe()
	toEditor, editorOut := io.Pipe()
	var notes strings.Builder
	status := make(chan int, 1)
	go func() {
		std := stdio{in: editorIn, out: editorOut, err: &notes}
		status <- runAgent(way, []string{"sh", "-c", waitingAgent}, std)
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
		got, want := next(), "has ended with the connection to the host"
		if !strings.HasPrefix(got, question+": ") || !strings.Contains(got, want) {
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
