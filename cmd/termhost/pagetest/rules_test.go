package pagetest

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"golang.org/x/crypto/ssh"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/ahp/page"
	"termhost/ahp/ws"
	"termhost/authz"
	"termhost/keys"
)

// Whatever the page loads comes with the headers that keep others away from it, and so do refusals.
func TestAllThatThePageLoadsHasItsHeaders(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	p := s.open(s.ticket()).ready()
	if eval[bool](p, `navigator.serviceWorker.getRegistrations().then((all) => all.length > 0 || !!navigator.serviceWorker.controller)`) {
		t.Error("the page has a service worker, which would outlive it")
	}
	home := "http://" + s.address() + "/"
	addresses := map[string]bool{home + "nothing": true}
	p.mu.Lock()
	for _, r := range p.requests {
		if at, _, _ := strings.Cut(r.URL, "#"); strings.HasPrefix(at, home) && r.Method == http.MethodGet {
			addresses[at] = true
		}
	}
	p.mu.Unlock()
	if len(addresses) < 6 { // the page, its script, its style, its icon, xterm.js
		t.Errorf("the page loads only %d things", len(addresses))
	}
	check := func(at, name string) {
		t.Helper()
		r, err := http.NewRequest(http.MethodGet, at, nil)
		hosttest.Check(t, err)
		r.Host = name
		r.Header.Set("Accept", "text/html")
		answer, err := http.DefaultClient.Do(r)
		hosttest.Check(t, err)
		answer.Body.Close()
		h := answer.Header
		for header, want := range map[string]string{"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
			"Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin",
			"Cross-Origin-Resource-Policy": "same-origin"} {
			if got := h.Values(header); len(got) != 1 || got[0] != want {
				t.Errorf("%s of %s: %s is %q", at, name, header, got)
			}
		}
		policy := strings.Join(h.Values("Content-Security-Policy"), ",")
		for _, want := range []string{"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"} {
			if !strings.Contains(policy, want) {
				t.Errorf("%s of %s: the policy %q lacks %s", at, name, policy, want)
			}
		}
		if strings.Contains(policy, "unsafe") || strings.Contains(policy, "*") {
			t.Errorf("%s of %s: the policy is %q", at, name, policy)
		}
		if html := strings.HasPrefix(h.Get("Content-Type"), "text/html"); html && h.Get("Cache-Control") != "no-store" {
			t.Errorf("%s of %s may be stored", at, name)
		}
		if len(h.Values("Set-Cookie")) > 0 {
			t.Errorf("%s of %s sets a cookie", at, name)
		}
	}
	for at := range addresses {
		check(at, s.address())
	}
	check(home, "evil.example")
}

func TestThePageOfAHostOnThisMachine(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "build")
	cmd := exec.Command("termhost", "page", "--local", "-c", s.config, "build")
	cmd.Env = append(os.Environ(), "DISPLAY=", "WAYLAND_DISPLAY=", "BROWSER=")
	address, err := cmd.Output()
	hosttest.Check(t, err)
	p := s.open(strings.TrimSpace(string(address)) + "&debug=screen").ready()
	p.shows("build", "# ")
}

// A ticket is good for a minute, and a session for 8 hours.
func TestTicketsAndSessionsExpire(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	var ahead atomic.Int64
	clock := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	public, _, err := ed25519.GenerateKey(rand.Reader)
	hosttest.Check(t, err)
	key, err := ssh.NewPublicKey(public)
	hosttest.Check(t, err)
	dir := t.TempDir()
	authority := hosttest.AuthorityAt(t, clock, keys.Options{Home: dir, StateDir: dir}, authz.Entry{Name: "alice",
		Role: authz.Admin, Keys: []string{strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key)))}})
	h := hosttest.New(t, func(c *host.Config) { c.Authority = authority })
	var web *ws.Server
	web = ws.New(ws.Config{Host: h, Authority: authority, Refuse: page.Refuse, Routes: page.Routes(page.Config{
		Authority: authority, AHPPath: "/ahp", Room: func(g authz.Grant, p ws.Peer) error { return web.Room(g, p) }})})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	hosttest.Check(t, err)
	var serving sync.WaitGroup
	serving.Go(func() { _ = web.Serve(l) })
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), hosttest.Patience)
		defer cancel()
		web.Stop()
		hosttest.Check(t, h.Shutdown(ctx))
		hosttest.Check(t, web.Shutdown(ctx))
		serving.Wait()
	})
	ticket := func() string {
		t.Helper()
		grant, err := authority.AuthenticateKey("alice", key, l.Addr())
		hosttest.Check(t, err)
		url, err := hosttest.Conn(t, h, grant.Principal).OpenPage(grant, host.PageRequest{URL: "http://" + l.Addr().String()})
		hosttest.Check(t, err)
		return url
	}
	open := func(address string) *tab {
		t.Helper()
		return newTab(t, browser(t), address, chromedp.WithNewBrowserContext())
	}
	old := ticket()
	ahead.Add(int64(authz.TicketTTL))
	late := open(old)
	late.refused("older than 60 seconds")
	late.shot("refused-late")

	p := open(ticket()).ready()
	ahead.Add(int64(keys.DefaultTokenTTL))
	p.run(chromedp.Reload())
	p.refused("Your session has ended")
}
