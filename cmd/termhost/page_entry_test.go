package main

import (
	"bufio"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"termhost/ahp/hosttest"
)

// refused waits until the page says that it is not let in, and returns what it says.
func (p *tab) refused(part string) {
	p.t.Helper()
	p.until(`document.documentElement.dataset.termhost === "refused"`)
	if text := p.text(); !strings.Contains(text, part) || !strings.Contains(text, "termhost page") {
		p.t.Errorf("the refusal says %q, which lacks %q or what to do", text, part)
	}
}

func TestATicketOpensOnePage(t *testing.T) {
	slow(t)
	browser(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "build")
	address := s.ticket("build")
	p := s.open(address + "&debug=screen").ready()
	if at := eval[string](p, "location.href"); strings.Contains(at, "t=") || !strings.HasSuffix(at, "#/build?debug=screen") {
		t.Errorf("the address is %s", at)
	}
	s.open(address).refused("The ticket has been used")
	s.open(strings.Split(address, "#")[0]).refused("opens with a ticket")

	// A reload is the same page, and nothing secret has gone anywhere.
	p.run(chromedp.Reload())
	p.ready().shows("build", "# ")
	token := eval[string](p, `JSON.parse(sessionStorage["termhost.session"]).token`)
	ticket := strings.Split(address, "t=")[1]
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.requests {
		sent := r.URL + fmt.Sprint(r.Headers["Referer"])
		if strings.Contains(sent, token) || strings.Contains(sent, ticket) {
			t.Errorf("a secret is in %s", sent)
		}
	}
	if text := s.log.String(); strings.Contains(text, token) || strings.Contains(text, ticket) {
		t.Error("a secret was logged")
	}
}

func TestAPageEndsWithItsToken(t *testing.T) {
	slow(t)
	browser(t)
	s := newSite(t)
	p := s.open(s.ticket()).ready()
	if list := s.ssh("tokens"); !strings.Contains(list, "page ") || !strings.Contains(list, "operator") {
		t.Errorf("the tokens are %s", list)
	}
	s.ssh("token", "--revoke", "page")
	p.refused("session has ended")
	if kept := eval[int](p, "sessionStorage.getItem('termhost.session') === null ? 0 : 1"); kept != 0 {
		t.Error("the token is still there")
	}
}

func TestAFarHostsPageComesThroughSSH(t *testing.T) {
	slow(t)
	browser(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "build")
	cmd := exec.Command("termhost", "page", "--role", "admin", "-F", filepath.Join(s.dir, "ssh_config"), "host", "build")
	cmd.Env = append(os.Environ(), "DISPLAY=", "WAYLAND_DISPLAY=", "BROWSER=")
	out, err := cmd.StdoutPipe()
	hosttest.Check(t, err)
	hosttest.Check(t, cmd.Start())
	address, err := bufio.NewReader(out).ReadString('\n')
	hosttest.Check(t, err)
	p := s.open(strings.TrimSpace(address) + "&debug=screen").ready()
	p.click("button", "Take the keyboard")
	p.until(`document.querySelector('.pane.held')`)
	p.typeLine("build", "echo from $((40+2)) far")
	p.shows("build", "from 42 far")
	hosttest.Check(t, cmd.Process.Signal(os.Interrupt))
	if err := cmd.Wait(); err != nil {
		t.Errorf("termhost page ends with %v", err)
	}
	p.until(`document.documentElement.dataset.termhost === "lost"`)
}

func TestAnObserversPageOnlyLooks(t *testing.T) {
	slow(t)
	browser(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "build")
	p := s.open(s.ticket("--role", "observer", "build") + "&debug=screen").ready()
	p.shows("build", "# ")
	if eval[int](p, `[...document.querySelectorAll('button')].filter(b => b.innerText === 'Take the keyboard').length`) != 0 {
		t.Error("it offers the keyboard")
	}
	p.typeLine("build", "echo never")
	p.until(`document.querySelector('.notices')?.innerText.includes('Held by')`)
	if screen := s.ssh("peek", "build"); strings.Contains(screen, "never") {
		t.Errorf("the program got it: %s", screen)
	}
}

func TestNoOtherPageGetsIn(t *testing.T) {
	slow(t)
	browser(t)
	s := newSite(t)
	home := "http://" + s.address() + "/"
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!doctype html><iframe src=%q></iframe>`, home)
	}))
	defer other.Close()

	// Framed, the page is not shown, and neither its answers nor its storage are another origin's.
	p := s.open(other.URL)
	p.until(`document.querySelector('iframe')`)
	if shown := eval[bool](p, `(() => { try { return !!frames[0].document.querySelector('.app, .refusal') } catch { return false } })()`); shown {
		t.Error("the page is shown in a frame")
	}
	_, port, _ := strings.Cut(s.address(), ":")
	for name, script := range map[string]string{
		"a challenge is readable": fmt.Sprintf(`fetch(%q).then(() => 'yes', () => 'no')`, home+"page/challenge"),
		"a WebSocket opens": fmt.Sprintf(`new Promise(r => { const w = new WebSocket('ws://127.0.0.1:%s/ahp', ['termhost.ahp']);
			w.onopen = () => r('yes'); w.onerror = () => r('no') })`, port),
		"cookies are there": `Promise.resolve(document.cookie === '' ? 'no' : 'yes')`,
	} {
		if eval[string](p, script) != "no" {
			t.Errorf("at another port %s", name)
		}
	}
	p.mu.Lock()
	p.troubles = nil // the browser complains of the frame, as it should
	p.mu.Unlock()

	// Its ticket is for its own address.
	u, err := url.Parse(s.ticket())
	hosttest.Check(t, err)
	u.Host = "localhost:" + port
	s.open(u.String()).refused("at another address")

	// Under a name that is not the host's there is an explanation and nothing else.
	request, err := http.NewRequest(http.MethodGet, home, nil)
	hosttest.Check(t, err)
	request.Host = "evil.example"
	request.Header.Set("Accept", "text/html")
	answer, err := http.DefaultClient.Do(request)
	hosttest.Check(t, err)
	answer.Body.Close()
	if answer.StatusCode != http.StatusForbidden || answer.Header.Get("Content-Security-Policy") == "" {
		t.Errorf("another Host gets %d %v", answer.StatusCode, answer.Header)
	}
}
