package pagetest

import (
	"bufio"
	"crypto/ed25519"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/storage"
	"github.com/chromedp/chromedp"
	"github.com/gorilla/websocket"
	"golang.org/x/crypto/ssh"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/keys"
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
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "build")
	address := s.ticket("build")
	p := s.open(address + "&debug=screen").ready()
	if at := eval[string](p, "location.href"); strings.Contains(at, "t=") || !strings.HasSuffix(at, "#/build?debug=screen") {
		t.Errorf("the address is %s", at)
	}
	again := s.open(address)
	again.refused("The ticket has been used, or is older than 60 seconds")
	again.shot("refused-ticket")
	s.opensAnew(again, "HOST", "")
	s.open(strings.Split(address, "#")[0]).refused("opens with a ticket")

	// A reload is the same page, and nothing secret has gone anywhere.
	p.run(chromedp.Reload())
	p.ready().shows("build", "# ")
	token := p.token()
	_, ticket, _ := strings.Cut(address, "t=")
	ticket, _, _ = strings.Cut(ticket, "&")
	hides := func(where, text string) {
		t.Helper()
		if strings.Contains(text, token) || strings.Contains(text, ticket) {
			t.Errorf("a secret is in %s: %s", where, text)
		}
	}
	p.mu.Lock()
	if len(p.requests) < 8 {
		t.Errorf("only %d requests were seen", len(p.requests))
	}
	for _, r := range p.requests {
		hides("a request", r.URL+fmt.Sprint(r.Headers))
	}
	p.mu.Unlock()
	visited := ""
	for _, entry := range answer(p, page.GetNavigationHistory, cdp.Empty{}).Entries {
		visited += " " + entry.URL
	}
	if !strings.Contains(visited, "#/build") {
		t.Errorf("the history is %s", visited)
	}
	hides("the history", visited)
	hides("the host's log", s.log.String())
	audit, err := os.ReadFile(filepath.Join(s.dir, "state", "audit.log"))
	hosttest.Check(t, err)
	hides("the audit log", string(audit))
	if cookies := answer(p, storage.GetCookies, storage.GetCookiesParams{}).Cookies; len(cookies) != 0 {
		t.Errorf("the browser has cookies: %v", cookies)
	}
}

// opensAnew copies the line that a refusal shows, and does what it says.
func (s *site) opensAnew(p *tab, host, role string) {
	s.t.Helper()
	want := fmt.Sprintf("ssh %s page --url http://%s/%s", host, s.address(), role)
	if got := eval[string](p, `document.querySelector('.typed code').textContent`); got != want {
		s.t.Errorf("the refusal says %q, want %q", got, want)
	}
	eval[bool](p, `navigator.clipboard.writeText = async (t) => { window.copied = t }, true`) // all tabs have the same
	p.click("button", "Copy")
	p.until(`document.querySelector('.typed button').textContent === 'Copied'`)
	got := eval[string](p, `copied`)
	s.open(strings.TrimSpace(s.ssh(strings.Fields(strings.TrimPrefix(got, "ssh "+host))...))).ready()
}

// token is the page's session token.
func (p *tab) token() string {
	p.t.Helper()
	return eval[string](p, `JSON.parse(sessionStorage["termhost.session"]).token`)
}

func TestAPageEndsWithItsToken(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	p := s.open(s.ticket()).ready()
	list := s.ssh("tokens")
	for _, want := range []string{"page ", "operator", "http://" + s.address()} {
		if !strings.Contains(list, want) {
			t.Errorf("the tokens are %s, without %s", list, want)
		}
	}
	q := s.open(s.ticket("--role", "admin")).ready()
	s.ssh("token", "--revoke", "page-admin")
	q.refused("Your session has ended")
	name, err := os.Hostname()
	hosttest.Check(t, err)
	s.opensAnew(q, name, " --role admin")
	s.ssh("token", "--revoke", "page")
	p.refused("Your session has ended")
	p.shot("refused-session")
	if kept := eval[bool](p, "sessionStorage.getItem('termhost.session') !== null"); kept {
		t.Error("the token is still there")
	}
	p.run(chromedp.Reload())
	p.refused("opens with a ticket")
}

func TestAPageEndsWithItsKey(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	p := s.open(s.ticket()).ready()
	unused := s.ticket()
	public, _, err := ed25519.GenerateKey(nil)
	hosttest.Check(t, err)
	other, err := ssh.NewPublicKey(public)
	hosttest.Check(t, err)
	// Without another key it would stay in force.
	hosttest.Check(t, os.WriteFile(filepath.Join(s.dir, "state", "authorized_keys"), ssh.MarshalAuthorizedKey(other), 0o600))
	p.refused("Your session has ended")
	s.open(unused).refused("may not come in any more")
}

func TestAPageIsToldOfTooManySessions(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	for i := range keys.MaxTokensPerKey {
		s.ssh("token", "--name", fmt.Sprintf("t%d", i))
	}
	p := s.open(s.ticket())
	p.refused("Too many tokens; revoke some, or wait until they expire")
	p.shot("refused-many")
	s.ssh("token", "--revoke", "t0")
	s.open(s.ticket()).ready()
}

// A session's token works in the browser that it was made for, and only in a page of this host.
func TestAStolenTokenIsWorthNothing(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	p := s.open(s.ticket()).ready()
	stored := eval[string](p, `JSON.stringify({...sessionStorage})`)

	other := s.open(strings.Split(s.ticket(), "#")[0])
	other.refused("opens with a ticket")
	eval[bool](other, fmt.Sprintf(`Object.assign(sessionStorage, %s) && true`, stored))
	other.run(chromedp.Reload())
	other.refused("Your session has ended")

	// Whoever reads what the page sends has the proof of one connection, which is over.
	proof := eval[string](p, module("session.js")+`.then(async ({Session}) => {
		const p = await (await Session.restore()).prove(); return p.challenge + '.' + p.signature })`)
	dial := func(origin, proof string) int {
		t.Helper()
		c, answer, err := (&websocket.Dialer{Subprotocols: []string{"termhost.ahp", "termhost.token." + p.token(),
			"termhost.proof." + proof}}).Dial("ws://"+s.address()+"/ahp", http.Header{"Origin": {origin}})
		if err == nil {
			c.Close()
		}
		if answer == nil {
			t.Fatal(err)
		}
		return answer.StatusCode
	}
	home := "http://" + s.address()
	for _, c := range []struct {
		name, origin, proof string
		want                int
	}{
		{"no proof", home, "", http.StatusUnauthorized},
		{"another origin", "http://evil.example", proof, http.StatusForbidden},
		{"a good proof", home, proof, http.StatusSwitchingProtocols},
		{"a used one", home, proof, http.StatusUnauthorized},
	} {
		if got := dial(c.origin, c.proof); got != c.want {
			t.Errorf("%s: status %d, want %d", c.name, got, c.want)
		}
	}
	p.ready()

	// What is no challenge is not signed.
	for _, c := range []string{`{ ahp: 'ahp' }`, `{ challenge: 'AAAA' }`, `{ challenge: ['AAAA'], ahp: 'ahp' }`, `{ challenge: null, ahp: 'ahp' }`} {
		said := eval[string](p, fmt.Sprintf(module("session.js")+`.then(async ({Session}) => {
			const s = await Session.restore();
			s.next = %s;
			return s.prove().then((p) => 'signed ' + p.challenge, (e) => e.message) })`, c))
		if !strings.HasPrefix(said, "Something else answers") {
			t.Errorf("%s: %s", c, said)
		}
	}
}

func TestAFarHostsPageComesThroughSSH(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
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
	p.takesIt()
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
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "build")
	p := s.open(s.ticket("--role", "observer", "build") + "&debug=screen").ready()
	p.shows("build", "# ")
	if eval[int](p, `[...document.querySelectorAll('button')].filter(b => b.innerText === 'Take the keyboard').length`) != 0 {
		t.Error("it offers the keyboard")
	}
	p.typeLine("build", "echo never")
	p.until(`document.querySelector('.notices')?.innerText.includes('The keyboard is with')`)
	p.resize(700, 500)

	// What the page does not offer, the host refuses.
	for _, told := range eval[[]string](p, module("connection.js")+`.then(async ({Connection}) => {
		const {Session} = await `+module("session.js")+`;
		const c = new Connection(), uri = 'ahp-terminal:/build', said = [];
		c.clientId = 'page-rude';
		await c.open(await Session.restore());
		for (const action of [
			{ type: 'terminal/claimed', claim: { kind: 'client', clientId: 'page-rude' } },
			{ type: 'terminal/input', data: 'echo never\r' },
			{ type: 'terminal/resized', cols: 33, rows: 11 },
			{ type: 'terminal/titleChanged', title: 'never' },
			{ type: 'terminal/cleared' },
		]) said.push(await c.dispatch(uri, action).then(() => action.type + ' is taken', (e) => e.message));
		for (const [method, params] of [
			['disposeTerminal', { channel: uri }],
			['createTerminal', { channel: 'ahp-terminal:/never', claim: { kind: 'client', clientId: 'page-rude' } }],
		]) said.push(await c.request(method, params).then(() => method + ' is done', (e) => e.message));
		return said })`) {
		if !strings.Contains(told, "observer") {
			t.Errorf("an observer is told: %s", told)
		}
	}
	s.ssh("send", "--enter", "build", "echo end of it")
	p.shows("build", "\nend of it")
	if screen := s.ssh("peek", "build"); strings.Contains(screen, "never") {
		t.Errorf("the program got it: %s", screen)
	}
	if list := s.ssh("ls"); !strings.Contains(list, "80x24") || strings.Contains(list, "never") {
		t.Errorf("the list is %s", list)
	}
}

// resize gives the page another size.
func (p *tab) resize(width, height int64) {
	p.t.Helper()
	p.run(devtools(emulation.SetDeviceMetricsOverride,
		emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1}))
	p.until(fmt.Sprintf(`innerWidth === %d`, width))
}

func TestNoOtherPageGetsIn(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	home := "http://" + s.address() + "/"
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!doctype html><iframe src=%q></iframe>`, home)
	}))
	defer other.Close()

	// Framed, the page is not shown, and its answers are not another origin's.
	p := s.open(other.URL)
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
	hosttest.Eventually(t, "the browser refuses the frame", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		refused := slices.ContainsFunc(p.troubles, func(text string) bool { return strings.Contains(text, "frame-ancestors") })
		if refused {
			p.troubles = nil
		}
		return refused
	})

	// Its ticket is for its own address.
	u, err := url.Parse(s.ticket())
	hosttest.Check(t, err)
	u.Host = "localhost:" + port
	s.open(u.String()).refused("at another address")

	// Under a name that is not the host's, as after a rebinding, there is an explanation and
	// nothing else.
	rebound := s.open("http://evil.example:" + port + "/")
	text := rebound.text()
	for _, want := range []string{"Forbidden", "http.allowed_hosts", "ssh HOST page"} {
		if !strings.Contains(text, want) {
			t.Errorf("under a forged name the page says %q, which lacks %q", text, want)
		}
	}
	rebound.click("button", "Copy") // in a page that is not secure, where that selects
	rebound.until(`getSelection().toString().trim() === 'ssh HOST page'`)
	rebound.shot("refused-host")
	request, err := http.NewRequest(http.MethodGet, home+"page/challenge", nil)
	hosttest.Check(t, err)
	request.Host = "evil.example:" + port
	answer, err := http.DefaultClient.Do(request)
	hosttest.Check(t, err)
	answer.Body.Close()
	if answer.StatusCode != http.StatusForbidden {
		t.Errorf("under a forged name a challenge is answered with %d", answer.StatusCode)
	}
}
