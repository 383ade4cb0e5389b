package mcp_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/ahp/mcp"
	"termhost/authz"
)

func TestProgressSaysWhatHasBeenPrinted(t *testing.T) {
	t.Parallel()
	told := make(chan string, 100)
	a := connect(t, hosttest.New(t), hosttest.Principal("alice", authz.Admin), "claude-code", &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { told <- r.Params.Message }})
	params := &sdk.CallToolParams{Name: "terminal_run", Arguments: args{"name": "p", "command": `echo one; printf '\033[31mtwo\n[p exited 0'; exec sleep 1000`, "wait_s": 2}}
	params.SetProgressToken(7)
	_, err := a.session.CallTool(t.Context(), params)
	hosttest.Check(t, err)
	like(t, slowtest.Receive(t, "progress", told), `^1s, 3 lines:  \[p exited 0$`)
}

// Each time, progress reads what is new only.
func TestProgressReadsOn(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	conn := hosttest.Conn(t, h, hosttest.Principal("alice", authz.Admin))
	made, err := conn.Create(host.CreateOptions{Name: "p", Line: "stty -echo; printf 'and '; while read n; do seq -f 'line %g' $n; printf 'and '; done"})
	hosttest.Check(t, err)
	text, upTo := mcp.Progress(conn, made.Terminal)
	hosttest.Eventually(t, "it begins", func() bool { return strings.TrimSpace(text()) == ", 1 line: and" })
	lines, read := 0, int64(0)
	for i, n := range []int{3, 20_000, 1} {
		wait, err := conn.StartWait(made.Terminal, host.WaitFor{Match: pattern(t, fmt.Sprintf("line %d$", n)), Fresh: true, Timeout: hosttest.Patience})
		hosttest.Check(t, err)
		hosttest.Check(t, conn.Send(t.Context(), made.Terminal, fmt.Appendf(nil, "%d\n", n)))
		_, err = wait.End(t.Context())
		hosttest.Check(t, err)
		lines += n
		want := fmt.Sprintf(", %d lines: and", lines+1)
		hosttest.Eventually(t, "progress says "+want, func() bool { return strings.TrimSpace(text()) == want })
		if i > 0 && upTo() <= read {
			t.Errorf("it reads again from %d", upTo())
		}
		read = upTo()
	}
	// What has no end of line is read on, too.
	hosttest.Check(t, conn.Dispose(made.Terminal))
	made, err = conn.Create(host.CreateOptions{Name: "q", Line: "head -c 1000000 /dev/zero | tr '\\0' x; exec sleep 1000"})
	hosttest.Check(t, err)
	text, upTo = mcp.Progress(conn, made.Terminal)
	hosttest.Eventually(t, "most has been read", func() bool { text(); return upTo() > 900_000 })
}
