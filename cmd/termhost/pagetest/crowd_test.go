package pagetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/ptypool/vt"
)

// keyAgent runs a person's ssh-agent with a key of that comment, as on the person's own machine.
func (s *site) keyAgent(comment string) (socket string) {
	s.t.Helper()
	key := filepath.Join(s.dir, "agent-"+comment)
	hosttest.Check(s.t, exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", key).Run())
	socket = key + ".sock"
	cmd := exec.Command("ssh-agent", "-D", "-a", socket)
	hosttest.Check(s.t, cmd.Start())
	s.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	hosttest.Eventually(s.t, "the agent has the key", func() bool {
		add := exec.Command("ssh-add", "-q", key)
		add.Env = append(os.Environ(), "SSH_AUTH_SOCK="+socket)
		return add.Run() == nil
	})
	return socket
}

// has waits until the window's screen has a text.
func (w *window) has(t testing.TB, text string) {
	t.Helper()
	var shown string
	defer func() {
		if t.Failed() {
			t.Log(shown)
		}
	}()
	hosttest.Eventually(t, "the screen has "+text, func() bool {
		screen := vt.New(80, 24, vt.Options{})
		screen.Feed([]byte(w.shown.String()), nil)
		shown = string(screen.AppendText(nil, false))
		return strings.Contains(shown, text)
	})
}

// TestTopAndTheAgentsSocketInACrowd: one person has all terminals on one screen of 80x24, another
// looks on with ssh, a phone has the list, and three agents of different kinds want something. Both
// people's keys are where their own hands are.
func TestTopAndTheAgentsSocketInACrowd(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	text, err := os.ReadFile(s.config)
	hosttest.Check(t, err)
	s.write(string(text) + "ssh.agent_forwarding = true\n")
	me := strings.Fields(s.ssh("whoami"))[0]
	bob := s.person("bob")
	mine := []string{"-F", filepath.Join(s.dir, "ssh_config"), "-o", "ControlPath=none", "host"}

	top := s.attachedBy(append([]string{"-tt"}, append(mine, "top")...))
	top.has(t, "there are no terminals")
	said := filepath.Join(s.dir, "said")
	s.ssh("new", "-d", "-n", "claude", "--label", "group=shop", "--",
		program(t)+" status waiting 'May I? [y/N]'; read x; echo \"$x\" >"+said+"; sleep 1000")
	tool, err := mcp.NewClient(&mcp.Implementation{Name: "tool", Version: "1"}, nil).Connect(t.Context(),
		&mcp.CommandTransport{Command: exec.Command("ssh", append(mine, "mcp")...)}, nil)
	hosttest.Check(t, err)
	defer tool.Close()
	ran, err := tool.CallTool(t.Context(), &mcp.CallToolParams{Name: "terminal_run",
		Arguments: map[string]any{"command": "echo fi''ne"}})
	if err != nil || ran.IsError {
		t.Fatalf("the MCP client is answered %+v, %v", ran, err)
	}
	g := s.guarded("deploy")
	phone := g.tab
	phone.phone()
	phone.run(chromedp.Navigate("about:blank"), chromedp.Navigate(s.ticket()))
	phone.ready()
	_, answer := g.wants("deploy", "make\r")

	// What wants somebody is first, and the screen follows what happens.
	top.has(t, "3 terminals, 2 want you")
	list := `[...document.querySelectorAll('.entry')].map((e) => e.ariaLabel).join('\n')`
	phone.until(list + `.includes('May I? [y/N]')`)
	phone.until(asked("make^M"))
	look := s.attachedBy(append([]string{"-tt"}, append(bob, "attach", "deploy")...))
	look.shows(t, "wants to type")

	top.types(t, "/deploy\x1b[B")
	top.has(t, "wants to type 1 line and run it")
	next := time.Time{} // a key that comes before the question can have been read answers nothing
	hosttest.Eventually(t, "the person's yes counts", func() bool {
		if now := time.Now(); now.After(next) {
			top.types(t, "y")
			next = now.Add(2 * time.Second)
		}
		out, _ := os.ReadFile(g.out)
		return string(out) == "make\r"
	})
	hosttest.Check(t, <-answer)
	look.shows(t, me)
	phone.until("!(" + asked("make^M") + ")")
	top.types(t, "/\x15claude\x1b[B")
	top.has(t, "May I?")
	top.types(t, "sy\r")
	top.has(t, "typed into claude")
	hosttest.Eventually(t, "the program has its answer", func() bool {
		text, _ := os.ReadFile(said)
		return string(text) == "y\n"
	})
	phone.until(`[...document.querySelectorAll('.entries section')].some((s) => /^running/i.test(s.innerText) && s.innerText.includes('claude'))`)

	// One path leads to the agent of whoever has the keyboard.
	anns, bobs := s.keyAgent("anns"), s.keyAgent("bobs")
	s.ssh("new", "-d", "-n", "keys", "--",
		`stty -echo; echo ready; while read x; do ssh-add -l >list 2>&1; echo "<$x $? $(cut -d' ' -f3 list)>"; done`)
	with := func(agent string, args []string) *window {
		return s.attachedBy(append([]string{"-tt", "-A", "-o", "IdentityAgent=" + agent}, append(args, "attach", "keys")...))
	}
	ann := with(anns, mine)
	ann.shows(t, "ready")
	other := with(bobs, bob)
	other.shows(t, "ready")
	for _, c := range []struct {
		hand        *window
		types, want string
	}{{ann, "1", "<1 0 anns>"}, {other, "2", "<2 0 bobs>"}, {ann, "3", "<3 0 anns>"}} {
		c.hand.types(t, c.types+"\r")
		c.hand.shows(t, c.want)
	}
	phone.until(list + `.includes('keys')`)
	top.types(t, "/\x15keys\x1b[B")
	top.has(t, "<3 0 anns>")
}
