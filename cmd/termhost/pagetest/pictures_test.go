package pagetest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"termhost/ahp"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// picturesProfile makes a shell in which a small project is worked on. What its commands print is
// made up.
const picturesProfile = `PS1='\[\e[34m\]\w\[\e[m\] $ '
git() { command sleep 0.1; printf '\e[33m51c0e7a\e[m host: one lock less\n'; }
go() {
	case $1 in
	vet) command sleep 0.2 ;;
	test) command sleep 0.5; printf 'ok  \tshop/cart\t0.41s\n--- \e[31mFAIL\e[m: TestRefund (0.02s)\n    refund_test.go:31: got 1999, want 2000\n'
		printf '\e[31mFAIL\e[m\tshop/refund\t0.02s\nok  \tshop/stock\t1.20s\n'; return 1 ;;
	run) printf 'listening on \e[32m127.0.0.1:8080\e[m\n'; command sleep 1000000 ;;
	esac
}
deploy() { read -rsp 'Passphrase for deploy@shop: ' x; }
`

// TestPicturesOfThePage makes the README's pictures of the page, in the folder that TERMHOST_SHOTS
// names; without, it tests that what they show can be shown.
func TestPicturesOfThePage(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	hosttest.Check(t, os.WriteFile(filepath.Join(s.dir, ".bash_profile"), []byte(picturesProfile), 0o600))
	hosttest.Check(t, os.Mkdir(filepath.Join(s.dir, "shop"), 0o700))
	for _, name := range []string{"build", "server", "deploy"} {
		s.ssh("new", "-d", "-n", name, "-C", "shop")
	}
	s.ssh("new", "-d", "-n", "lint", "--", "true")
	agent := s.agent("codex")
	agentWork := ahp.TerminalURI("agent-7")
	hosttest.Check(t, agent.CreateTerminal(t.Context(), ahp.CreateTerminalParams{Channel: agentWork, Cwd: "file://" + filepath.Join(s.dir, "shop")}))
	s.ssh("guard", "agent-7", "on")
	refused := make(chan error, 1)
	go func() {
		refused <- agent.Dispatch(t.Context(), agentWork, ahp.TerminalInput{Data: []byte("git push --force origin main\r")})
	}()

	p := s.open("about:blank")
	p.window(900, 370)
	p.prefers("light")
	p.run(chromedp.Navigate(s.ticket("build") + "&debug=screen"))
	p.ready().shows("build", "shop $ ")
	p.takes("build")
	for _, line := range []string{"git log --oneline", "go vet ./...", "go test ./..."} {
		p.typeLine("build", line)
		p.command(line, map[bool]string{true: "failed 1", false: "ok 0"}[strings.HasPrefix(line, "go test")])
	}
	s.ssh("send", "--enter", "server", "go run .")
	s.ssh("send", "--enter", "deploy", "deploy")
	p.until(`document.querySelectorAll('.entry .mark.needs').length === 2`)
	p.until(`document.querySelector('.entry[aria-label^="server, running"]')`)
	p.shot("page-light")

	p.prefers("dark")
	p.menu("Replay")
	p.shows("replay of build", "FAIL")
	p.run(chromedp.Click(chromedp.CSS(`.replay .marks button:nth-child(3)`)))
	p.until(`document.querySelector('[data-terminal="replay of build"] [data-screen]').dataset.screen.trimEnd().endsWith('go test ./...')`)
	p.shot("page-dark")

	s.ssh("asks")
	s.ssh("refuse", "agent-7", "not", "today")
	if err := <-refused; err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("the agent is told %v", err)
	}
	p.until(`document.querySelectorAll('.entry .mark.needs').length === 1`)
}
