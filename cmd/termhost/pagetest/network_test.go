package pagetest

import (
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// proxyTo passes requests to a site on, with the path's prefix taken away and the Host header as it
// came: what the page's users are told to set up.
func proxyTo(s *site, prefix string) http.Handler {
	return http.StripPrefix(prefix, &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: s.address()})
			r.Out.Host = r.In.Host
			r.SetXForwarded()
		},
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo), // the host is down at times
	})
}

// lost waits until the page says that it is not connected, why, and that it tries again.
func (p *tab) lost(why string) {
	p.t.Helper()
	p.until(fmt.Sprintf(`document.documentElement.dataset.termhost === "lost" &&
		document.querySelector('.strip').innerText.includes(%q)`, why))
	p.until(`document.querySelector('.strip').innerText.toLowerCase().includes('trying again')`)
}

func TestThePageWorksBehindAProxy(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "build")
	proxy := httptest.NewServer(proxyTo(s, "/x/y"))
	defer proxy.Close()
	p := s.open(s.ticket("--url", proxy.URL+"/x/y/", "build") + "&debug=screen").ready()
	p.takesIt()
	p.until(`document.querySelector('.pane.held')`)
	p.typeLine("build", "echo through $((6*7)) proxies")
	p.shows("build", "through 42 proxies")
	p.sameAs(s, "build")
	if at := eval[string](p, "location.href"); at != proxy.URL+"/x/y/#/build?debug=screen" {
		t.Errorf("the address is %s", at)
	}
	p.mu.Lock()
	for _, r := range p.requests {
		if at, ok := strings.CutPrefix(r.URL, "ws"); !strings.HasPrefix(r.URL, proxy.URL+"/x/y/") &&
			!(ok && strings.HasPrefix("http"+at, proxy.URL+"/x/y/")) {
			t.Errorf("the page asks for %s", r.URL)
		}
	}
	p.mu.Unlock()

	// Without its host the proxy answers by itself, which ends nothing.
	s.crash()
	p.lost("A proxy in between does not reach the host (status 502)")
	p.shot("lost-proxy")
	s.start()
	p.ready()
	p.typeLine("build", "echo and $((6*8)) again")
	p.shows("build", "and 48 again")
	p.sameAs(s, "build")
}

func TestThePageSaysWhatAProxyKeepsBack(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "build")
	var upgrades, wantsLogin atomic.Bool
	through := proxyTo(s, "")
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case wantsLogin.Load():
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, "<!doctype html><h1>Log in</h1>")
			return
		case !upgrades.Load():
			r.Header.Del("Upgrade")
			r.Header.Del("Connection")
		}
		through.ServeHTTP(w, r)
	}))
	defer proxy.Close()
	p := s.open(s.ticket("--url", proxy.URL, "build") + "&debug=screen")
	p.lost("has to pass on the headers Upgrade and Connection")
	p.shot("lost-upgrade")
	upgrades.Store(true)
	p.ready().shows("build", "# ")

	wantsLogin.Store(true)
	s.crash() // which ends the WebSocket
	p.lost("reload this page, and log in if it wants that")
	p.shot("lost-login")
	s.start()
	wantsLogin.Store(false)
	p.ready().sameAs(s, "build")
}

func TestAProxyThatChangesTheHostHeaderIsExplained(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: "http", Host: s.address()})
	}})
	defer proxy.Close()
	address := s.ticket("--url", proxy.URL)
	p := s.open(address)
	p.until(`document.documentElement.dataset.termhost === "refused"`)
	for _, want := range []string{"You are not let in", "http.allowed_origins", "pass on the Host header"} {
		if text := p.text(); !strings.Contains(text, want) {
			t.Errorf("the page says %q, which lacks %q", text, want)
		}
	}
	p.shot("refused-origin")
	s.set("http.allowed_origins", fmt.Sprintf("[%q]", proxy.URL))
	s.open(address).ready() // the ticket was not used up
}

// All WebSockets are taken: the page says so, and comes when there is room.
func TestAPageWaitsForRoom(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.set("http.max_connections", "1")
	p := s.open(s.ticket()).ready()
	late := s.open(s.ticket())
	late.lost("All 1 connections are taken; see http.max_connections")
	late.shot("lost-room")
	p.run(chromedp.Navigate("about:blank"))
	late.ready()
}

// cable is a TCP connection between the browser and a host, of which the network may let nothing
// through.
type cable struct {
	net.Listener
	to string

	mu    sync.Mutex
	ends  map[net.Conn]bool
	held  bool
	deaf  bool // what the host says is lost
	freed *sync.Cond
}

func newCable(t *testing.T, to string) *cable {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	hosttest.Check(t, err)
	c := &cable{Listener: l, to: to, ends: map[net.Conn]bool{}}
	c.freed = sync.NewCond(&c.mu)
	var running sync.WaitGroup
	running.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() { c.pass(near) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		c.hold(false)
		c.reset()
		running.Wait()
	})
	return c
}

// pass connects two ends, until one of them ends.
func (c *cable) pass(near net.Conn) {
	far, err := net.Dial("tcp", c.to)
	if err != nil {
		near.Close()
		return
	}
	c.mu.Lock()
	c.ends[near], c.ends[far] = true, true
	c.mu.Unlock()
	var both sync.WaitGroup
	for from, to := range map[net.Conn]net.Conn{near: far, far: near} {
		both.Go(func() {
			defer to.Close()
			for buf := make([]byte, 4096); ; {
				n, err := from.Read(buf)
				c.mu.Lock()
				for c.held && c.ends[from] {
					c.freed.Wait()
				}
				lost := c.deaf && from == far
				c.mu.Unlock()
				if lost && err == nil {
					continue
				}
				if _, bad := to.Write(buf[:n]); err != nil || bad != nil {
					return
				}
			}
		})
	}
	both.Wait()
	near.Close()
	far.Close()
}

// hold lets nothing through from now on, or everything again.
func (c *cable) hold(held bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held = held
	c.freed.Broadcast()
}

// deafen loses what the host says from now on, or no longer.
func (c *cable) deafen(deaf bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deaf = deaf
}

// reset ends all connections as a router does that has forgotten them.
func (c *cable) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for end := range maps.Keys(c.ends) {
		_ = end.(*net.TCPConn).SetLinger(0) // it may have ended
		end.Close()
	}
	clear(c.ends)
	c.freed.Broadcast()
}

func TestANetworkIsCutInAFlood(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	over := filepath.Join(s.dir, "over")
	s.ssh("new", "-d", "-n", "flood", "--", "sh", "-c",
		fmt.Sprintf("'n=0; while ! test -e %s; do n=$((n+1)); seq -f \"$n %%.0f\" 1000; done; echo it is over; cat'", over))
	c := newCable(t, s.address())
	p := s.open(s.ticket("--url", "http://"+c.Addr().String(), "flood") + "&debug=screen").ready()
	flows := func() {
		t.Helper()
		const screen = `document.querySelector('[data-terminal=flood] [data-screen]').dataset.screen`
		was := eval[string](p, screen)
		p.until(fmt.Sprintf(`%s !== %q`, screen, was))
	}
	p.until(`document.querySelector('[data-terminal=flood] [data-screen]')?.dataset.screen`)
	flows()
	for range 2 {
		c.hold(true)
		c.reset()
		p.lost("The host does not answer")
		p.until(`document.querySelector('.pane.stale')`)
		if p.screen("flood") == "" {
			t.Error("what was there is gone")
		}
		c.hold(false)
		p.ready()
		p.until(`!document.querySelector('.pane.stale')`)
		flows()
	}
	hosttest.Check(t, os.WriteFile(over, nil, 0o600))
	p.shows("flood", "it is over")
	p.sameAs(s, "flood")
	if eval[int](p, `document.querySelectorAll('[data-terminal=flood]').length`) != 1 {
		t.Error("the terminal is there twice")
	}
}

func TestTheSamePageTwice(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "build")
	p := s.open(s.ticket("build") + "&debug=screen").ready()
	at := eval[string](p, "location.href")
	stored := eval[string](p, `JSON.stringify({...sessionStorage})`)

	// duplicate opens the page again in the same browser, with a copy of its storage, as browsers
	// do.
	duplicate := func(before string) *tab {
		t.Helper()
		q := newTab(t, p.Context, eval[string](p, `document.querySelector('link[rel=icon]').href`))
		eval[bool](q, fmt.Sprintf(`Object.assign(sessionStorage, %s) && true`, stored))
		answer(q, page.AddScriptToEvaluateOnNewDocument,
			page.AddScriptToEvaluateOnNewDocumentParams{Source: before})
		q.run(chromedp.Navigate(at))
		return q.ready()
	}
	q := duplicate("")
	q.shows("build", "# ")
	q.takesIt()
	q.until(`document.querySelector('.pane.held')`)
	p.until(`document.querySelector('.pane .who').innerText.startsWith('keyboard: ')`)
	if eval[int](p, `document.querySelectorAll('.pane.held').length`) != 0 {
		t.Error("both pages hold the keyboard")
	}
	q.typeLine("build", "echo seen $((1+1)) times")
	p.shows("build", "seen 2 times")
	q.shows("build", "seen 2 times")
	p.ready()
	if own := eval[string](q, `sessionStorage['termhost.client']`); strings.Contains(stored, own) {
		t.Errorf("both pages are %s", own)
	}

	// A browser that does not tell tabs apart gives both one name: the later one replaces the
	// other, which says so and can take it back.
	r := duplicate(`Object.defineProperty(navigator, 'locks', { value: undefined })`)
	p.until(`document.querySelector('.strip').innerText.includes('opened elsewhere')`)
	p.shot("replaced")
	p.until(`document.querySelector('.pane.stale')`)
	r.shows("build", "seen 2 times")
	get(p, chromedp.WaitEvent(page.LoadEventFired, func(page.EventLoadEventFired) bool { return true },
		chromedp.Click(byName("button", "Use it here"))))
	p.ready().shows("build", "seen 2 times")
	p.sameAs(s, "build")
}
