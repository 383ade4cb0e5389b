package pagetest

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// asked returns the paths that the page has asked the host for since it was opened, itself
// excepted.
func (p *tab) asked() []string {
	p.t.Helper()
	return eval[[]string](p, `performance.getEntriesByType('resource').filter((r) => r.transferSize > 0)
		.map((r) => new URL(r.name).pathname)`)
}

func TestASecondVisitLoadsThePageAlone(t *testing.T) {
	slowtest.Skip(t)
	browser(t)
	s := newSite(t)
	p := s.open(s.ticket()).ready()
	first := p.asked()
	for _, part := range []string{"/app.*.css", "/app.*.js", "/vendor/xterm.*.mjs"} {
		start, end, _ := strings.Cut(part, "*")
		if !slices.ContainsFunc(first, func(at string) bool {
			return strings.HasPrefix(at, start) && strings.HasSuffix(at, end)
		}) {
			t.Errorf("the first visit has not asked for %s, but for %v", part, first)
		}
	}
	p.run(chromedp.Navigate("about:blank"), chromedp.Navigate(s.ticket()))
	if again := p.ready().asked(); !slices.Equal(again, []string{"/page/enter"}) {
		t.Errorf("the second visit has asked for %v", again)
	}
}

// The page does not wait for the host to be seen, and says nothing then that it does not know.
func TestThePageIsSeenBeforeTheHostAnswers(t *testing.T) {
	slowtest.Skip(t)
	browser(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "build")
	host := proxyTo(s, "")
	answers := make(chan struct{})
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/page/enter" {
			<-answers
		}
		host.ServeHTTP(w, r)
	}))
	defer proxy.Close()
	p := s.open(s.ticket("--url", proxy.URL, "build") + "&debug=screen")
	p.until(`performance.getEntriesByName('first-contentful-paint').length`)
	p.until(`document.querySelector('[data-terminal=build] .xterm-rows')`) // which is as far as it gets
	if said := p.text(); !strings.HasPrefix(said, "starting\ntermhost\n") ||
		strings.Contains(said, "No terminal") || strings.Contains(said, "exited") || strings.Contains(said, "keyboard: ") {
		t.Errorf("before the host answers the page says\n%s", said)
	}
	if eval[int](p, `document.querySelectorAll('[aria-label=Filter], [role=tab], .stale').length`) != 2 {
		t.Error("it has no list, no tab, or looks stale")
	}
	close(answers)
	p.ready().shows("build", "# ")
	p.until(`document.querySelector('.entry[aria-current]')`)
}

// What the browser has kept of another program that listened here is not run later.
func TestASquattersFilesAreNotRun(t *testing.T) {
	slowtest.Skip(t)
	browser(t)
	for _, c := range []struct{ file, instead string }{
		{"app.", "reload this page with Ctrl-Shift-R"}, // which the page says without any
		{"vendor/xterm.", "A part of it cannot be loaded"},
	} {
		s := newSite(t)
		get := func(path string) string {
			t.Helper()
			answer, err := http.Get("http://" + s.address() + "/" + path)
			hosttest.Check(t, err)
			defer answer.Body.Close()
			text, err := io.ReadAll(answer.Body)
			hosttest.Check(t, err)
			return string(text)
		}
		var file string
		for _, word := range strings.Split(get(""), `"`) {
			if strings.HasPrefix(word, c.file) && strings.HasSuffix(word, "js") {
				file = word
			}
		}
		genuine := get(file)
		s.crash()
		var l net.Listener
		hosttest.Eventually(t, "the port is free", func() bool {
			var err error
			l, err = net.Listen("tcp", s.address())
			return err == nil
		})
		squatter := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/":
				w.Header().Set("Content-Type", "text/html")
				fmt.Fprintf(w, `<script type="module" src="%s"></script>`, file)
			case "/" + file:
				w.Header().Set("Content-Type", "text/javascript")
				w.Header().Set("Cache-Control", "max-age=31536000, immutable")
				fmt.Fprintln(w, "document.documentElement.dataset.squatter = 'was here';")
				fmt.Fprintln(w, genuine)
			default:
				http.NotFound(w, r)
			}
		})}
		done := make(chan error, 1)
		go func() { done <- squatter.Serve(l) }()
		p := s.open("http://" + s.address())
		p.until(`document.documentElement.dataset.squatter`)
		squatter.Close()
		<-done

		s.start()
		p.run(chromedp.Navigate("about:blank"), chromedp.Navigate(s.ticket()))
		p.until(fmt.Sprintf(`document.readyState === 'complete' && document.body.innerText.includes(%q)`, c.instead))
		if eval[bool](p, `'squatter' in document.documentElement.dataset`) {
			t.Errorf("%s of a squatter is run", file)
		}
		p.mu.Lock()
		if told := strings.Join(p.troubles, "\n"); !strings.Contains(told, "integrity") {
			t.Errorf("the browser has refused nothing, but said %q", told)
		}
		p.troubles = nil
		p.mu.Unlock()
	}
}
