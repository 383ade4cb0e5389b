package pagetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"termhost/ahp"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// notification is what a webhook gets.
type notification struct {
	Title     string
	URL       string
	Terminals []struct{ Terminal, Why, Text string }
}

// notified has a person of the host notified, after a second, by a webhook with links to the page.
func (s *site) notified(person string) <-chan notification {
	s.t.Helper()
	got := make(chan notification, 16)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var n notification
		if err := json.NewDecoder(r.Body).Decode(&n); err != nil {
			s.t.Errorf("the webhook gets no JSON: %v", err)
		}
		got <- n
	}))
	s.t.Cleanup(hook.Close)
	text, err := os.ReadFile(s.config)
	hosttest.Check(s.t, err)
	s.write(fmt.Sprintf("%s[[notify]]\nprincipal = %q\nwebhook = %q\nurl = \"http://%s/\"\nafter = \"1s\"\ntext = true\n",
		text, person, hook.URL, s.address()))
	hosttest.Eventually(s.t, "the host knows whom to notify", func() bool {
		return strings.Contains(s.log.String(), "notify")
	})
	return got
}

// comes returns the first notification that has a title. Before an agent asks, the program may have
// waited for input for so long that this is told, too.
func comes(t *testing.T, got <-chan notification, title string) notification {
	t.Helper()
	for late := time.After(hosttest.Patience); ; {
		select {
		case n := <-got:
			if n.Title == title {
				return n
			}
		case <-late:
			t.Fatalf("nobody is notified of %s", title)
		}
	}
}

// next returns the next notification, which is to have a title and a link.
func next(t *testing.T, got <-chan notification, title string) notification {
	t.Helper()
	select {
	case n := <-got:
		if n.Title != title || n.URL == "" {
			t.Fatalf("notified of %+v, want %s", n, title)
		}
		return n
	case <-time.After(hosttest.Patience):
		t.Fatalf("nobody is notified: %s", title)
	}
	return notification{}
}

// person lets another person in, and returns how ssh is called by that person.
func (s *site) person(name string) []string {
	s.t.Helper()
	key := filepath.Join(s.dir, name)
	hosttest.Check(s.t, exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", key).Run())
	line, err := os.ReadFile(key + ".pub")
	hosttest.Check(s.t, err)
	file := filepath.Join(s.dir, "state", "authorized_keys")
	all, err := os.ReadFile(file)
	hosttest.Check(s.t, err)
	hosttest.Check(s.t, os.WriteFile(file, append(all, line...), 0o600))
	words := []string{"-F", filepath.Join(s.dir, "ssh_config"), "-o", "ControlPath=none", "-o", "IdentityFile=none",
		"-i", key, "host"}
	hosttest.Eventually(s.t, name+" comes in", func() bool {
		return exec.Command("ssh", append(words, "whoami")...).Run() == nil
	})
	return words
}

// TestPeopleAgentsAndAPhoneAtOnce: one person at a page, another with ssh, three agents of different
// kinds, and the first person's phone, which notifications lead to what wants them.
func TestPeopleAgentsAndAPhoneAtOnce(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	me := strings.Fields(s.ssh("whoami"))[0]
	got := s.notified(me)
	bob := s.person("bob")

	// A program in a terminal says itself that it waits.
	said := filepath.Join(s.dir, "said")
	s.ssh("new", "-d", "-n", "claude", "--", fmt.Sprintf(
		`printf '\033]9;look\007'; %s status waiting 'May I? [y/N]'; read x; echo "$x" >%s; sleep 1000`, program(t), said))
	s.ssh("label", "claude", "project=shop")
	s.ssh("new", "-d", "-n", "notes")
	desk := s.open(s.ticket("notes") + "&debug=screen").ready() // the person looks elsewhere
	desk.shows("notes", "# ")

	n := next(t, got, "claude waits for input")
	phone := s.open("about:blank")
	phone.phone()
	phone.run(chromedp.Navigate(n.URL + "?debug=screen"))
	phone.ready()
	phone.until(`document.querySelector('.pane [data-terminal="claude"]')`)
	list := `[...document.querySelectorAll('.entry')].map((e) => e.ariaLabel).join('\n')`
	phone.until(list + `.includes('May I? [y/N]') && ` + list + `.includes('project=shop')`)
	if all := eval[string](phone, list); strings.Contains(all, "notes") {
		t.Errorf("the phone lists what the notification was not about: %s", all)
	}
	phone.shot("away-waits")
	phone.typeLine("claude", "y")
	hosttest.Eventually(t, "the program has its answer", func() bool {
		text, _ := os.ReadFile(said)
		return string(text) == "y\n"
	})

	// An agent that speaks MCP makes a terminal, and one that speaks AHP wants to type where nobody
	// looks.
	tool, err := mcp.NewClient(&mcp.Implementation{Name: "tool", Version: "1"}, nil).Connect(t.Context(),
		&mcp.CommandTransport{Command: exec.Command("ssh", "-F", filepath.Join(s.dir, "ssh_config"), "host", "mcp")}, nil)
	hosttest.Check(t, err)
	defer tool.Close()
	ran, err := tool.CallTool(t.Context(), &mcp.CallToolParams{Name: "terminal_run",
		Arguments: map[string]any{"command": "echo fi''ne"}})
	if err != nil || ran.IsError || !strings.Contains(ran.Content[0].(*mcp.TextContent).Text, "fine") {
		t.Fatalf("the MCP client is answered %+v, %v", ran.Content[0], err)
	}
	desk.until(`[...document.querySelectorAll('.entry')].some((e) => e.ariaLabel.startsWith('echo-'))`)

	g := &guarded{tab: phone, s: s, agent: s.agent("codex"), out: filepath.Join(s.dir, "deploy.out")}
	claim := ahp.ClientClaim(g.agent.ID())
	hosttest.Check(t, g.agent.CreateTerminal(t.Context(), ahp.CreateTerminalParams{
		Channel: ahp.TerminalURI("deploy"), Claim: &claim,
		Meta: &ahp.CreateTerminalMeta{Termhost: &ahp.CreateTerminalExtras{Command: "/bin/sh",
			Args: []string{"-c", "stty raw -echo; printf ready; exec cat >" + g.out}}}}))
	s.ssh("wait", "--match", "ready", "deploy")
	s.ssh("guard", "deploy", "on")
	s.ssh("status", "deploy", "working", "shipping 1.2")
	s.ssh("label", "deploy", "group=shop")
	const text = "first\n\nsecond \x1b[2K\r"
	_, answer := g.wants("deploy", text)
	n = comes(t, got, "deploy waits for an approval")
	if strings.Contains(fmt.Sprint(n.Terminals), "second") {
		t.Errorf("the notification has what the agent wants to type: %+v", n)
	}

	// The other person looks at it, too, with ssh.
	ssh := s.attachedBy(append([]string{"-tt"}, append(bob, "attach", "deploy")...))
	ssh.shows(t, "wants to type")
	phone.run(chromedp.Navigate("about:blank"), chromedp.Navigate(n.URL))
	phone.until(answerable("Approve"))
	if seen := phone.shown(); seen.Does != "runs" || len(seen.Cut) > 0 || seen.Seen != "first^J\n^J\nsecond ^[[2K^M" {
		t.Errorf("the phone shows %+v", seen)
	}
	phone.shot("away-asks")
	phone.decides("Approve")
	g.got(text)
	hosttest.Check(t, <-answer)
	ssh.shows(t, me+"/page")
	out, err := exec.Command("ssh", append(bob, "approve", "deploy", "@1")...).CombinedOutput()
	if want := "@1 is not waiting for an answer in deploy: it was approved by " + me + "/page"; err == nil || !strings.Contains(string(out), want) {
		t.Errorf("the second yes is told %q, want %s", out, want)
	}
	phone.until(list + `.includes('group=shop')`)
	if all := s.ssh("ls", "--json"); !strings.Contains(all, "shipping 1.2") {
		t.Errorf("the agent's status is gone: %s", all)
	}

	// Opened a second time the link lets nobody in, and no fetch of it spends anything.
	again := s.open(n.URL)
	again.refused("opened already")
	fetched, err := http.Get(n.URL)
	hosttest.Check(t, err)
	fetched.Body.Close()
	if policy := fetched.Header.Get("Referrer-Policy"); policy != "no-referrer" {
		t.Errorf("the page is sent with the referrer policy %q", policy)
	}
	if log := s.log.String(); strings.Contains(log, n.URL[strings.Index(n.URL, "link-"):][5:40]) || strings.Contains(log, "first") {
		t.Errorf("the log has a link or what was typed: %s", log)
	}
}

// TestAPhoneDecidesInItsList: the card of a terminal has all that an agent wants to type. A link to
// what is decided meanwhile says by whom and how. Where there are several groups, they are told apart.
func TestAPhoneDecidesInItsList(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	me := strings.Fields(s.ssh("whoami"))[0]
	got := s.notified(me)
	g := s.guarded("deploy")
	g.run(chromedp.Navigate("about:blank")) // nobody looks
	for _, name := range []string{"web", "api", "misc"} {
		s.ssh("new", "-d", "-n", name, "-C", "/usr", "--", "sleep 1000")
	}
	s.ssh("label", "api", "group=shop")
	s.ssh("label", "web", "group=site")
	_, first := g.wants("deploy", "rm -rf build\r")
	n := comes(t, got, "deploy waits for an approval")
	_, second := g.wants("deploy", "make\r")

	p := s.open(s.ticket())
	p.phone()
	p.ready()
	headings := `[...document.querySelectorAll('.entries section')].map((s) => [...s.querySelectorAll('.group, .entry .name')].map((e) => e.textContent).join()).filter(Boolean).join(' ')`
	p.until(headings + ` === 'deploy misc,shop,api,site,web'`)
	p.until(`[...document.querySelectorAll('.entry')].some((e) => e.ariaLabel.startsWith('api,') && e.ariaLabel.endsWith(', shop'))`)
	p.until(`[...document.querySelectorAll('.entry')].some((e) => /^web,.*, sleep 1000, [/]usr /.test(e.ariaLabel))`)
	p.until(asked("rm -rf build^M"))
	p.until(`document.querySelector('.answer .more').innerText === '1 more behind it'`)
	p.shot("away-card")
	newAxe(t).check(p, "the card of an approval")
	p.decides("Refuse")
	if err := <-first; err == nil || !strings.Contains(err.Error(), "refused by "+me+"/page") {
		t.Errorf("the agent is told %v", err)
	}
	p.until(asked("make^M")) // which the list itself does not tell
	p.decides("Approve")
	g.got("make\r")
	hosttest.Check(t, <-second)

	late := s.open("about:blank")
	late.phone()
	late.run(chromedp.Navigate(n.URL))
	late.until(`document.querySelector('.outcome:not([hidden])').innerText.startsWith('@1 was refused by ` + me + `/page, ')`)
	late.shot("away-decided")
	late.click("button", "OK")
	late.until(`document.querySelector('.outcome').hidden`)
}

// TestARestartNotifiesOfNothingAgain: what waited before a crash of the host waits since then.
func TestARestartNotifiesOfNothingAgain(t *testing.T) {
	slowtest.Skip(t)
	t.Parallel()
	s := newSite(t)
	got := s.notified(strings.Fields(s.ssh("whoami"))[0])
	s.ssh("new", "-d", "-n", "claude", "--", "read -p 'May I? ' x")
	s.ssh("new", "-d", "-n", "agent", "--", program(t)+" status waiting 'Yes?'; read x")
	for names := 2; names > 0; { // they are told of together, or not
		select {
		case n := <-got:
			names -= len(n.Terminals)
		case <-time.After(hosttest.Patience):
			t.Fatal("nobody is notified")
		}
	}
	s.crash()
	s.start()
	hosttest.Eventually(t, "the host knows that they wait", func() bool {
		return s.listed("claude").Waiting == "input" && s.listed("agent").Waiting == "input"
	})
	s.ssh("new", "-d", "-n", "late", "--", "read -p 'And I? ' x")
	next(t, got, "late waits for input")
}
