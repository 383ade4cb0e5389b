package pagetest

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/gorilla/websocket"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// squat answers at the port of a host that is down, until stop is called.
func (s *site) squat(answer http.Handler) (stop func()) {
	s.t.Helper()
	var l net.Listener
	hosttest.Eventually(s.t, "the port is free", func() (ok bool) {
		var err error
		l, err = net.Listen("tcp", s.address())
		return err == nil
	})
	squatter := &http.Server{Handler: answer}
	done := make(chan error, 1)
	go func() { done <- squatter.Serve(l) }()
	return sync.OnceFunc(func() {
		squatter.Close()
		<-done
	})
}

// While the host is down another program has its port. What the page sends it opens nothing.
func TestASquatterOnThePortGetsNoSession(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "build")
	p := s.open(s.ticket("build") + "&debug=screen").ready()
	p.shows("build", "# ")
	home, at := "http://"+s.address(), s.address()

	// It has even got one of the host's own challenges in time.
	answer, err := http.Get(home + "/page/challenge")
	hosttest.Check(t, err)
	challenge, err := io.ReadAll(answer.Body)
	hosttest.Check(t, err)
	answer.Body.Close()

	s.crash()
	caught := make(chan http.Header, 1)
	mux := http.NewServeMux() // all else is not found
	mux.HandleFunc("/page/challenge", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Write(challenge)
	})
	mux.HandleFunc("/ahp", func(w http.ResponseWriter, r *http.Request) {
		select {
		case caught <- r.Header.Clone():
		default:
		}
		http.Error(w, "not now", http.StatusTeapot)
	})
	stop := s.squat(mux)
	defer stop()
	var sent http.Header
	select {
	case sent = <-caught:
	case <-time.After(hosttest.Patience):
		t.Fatal("the page never tries")
	}
	p.lost("Something else answers instead of the host")
	stop()
	s.start()
	p.ready().sameAs(s, "build")

	items := websocket.Subprotocols(&http.Request{Header: sent})
	i := slices.IndexFunc(items, func(item string) bool { return strings.HasPrefix(item, "termhost.token.") })
	if i < 0 || len(items) != 4 {
		t.Fatalf("the squatter got %v", sent)
	}
	for name, d := range map[string]struct {
		items  []string
		header http.Header
	}{
		"all that was sent": {items, http.Header{"Origin": {home}}},
		"as a program":      {items, nil},
		"the token alone":   {nil, http.Header{"Authorization": {"Bearer " + strings.TrimPrefix(items[i], "termhost.token.")}}},
	} {
		c, answer, err := (&websocket.Dialer{Subprotocols: d.items}).Dial("ws://"+at+"/ahp", d.header)
		switch {
		case err == nil:
			c.Close()
			t.Errorf("%s lets the squatter in", name)
		case answer == nil || answer.StatusCode != http.StatusUnauthorized:
			t.Errorf("%s: %v, %v", name, answer, err)
		}
	}
}

// liar is a program that plays a host, with a terminal of its own making, as well as it can.
type liar struct {
	// first is sent as soon as there is a WebSocket; "": nothing. With refuses there is none.
	first   string
	refuses bool

	mu    sync.Mutex
	heard []string // what came by WebSocket
	tried int      // how often the page has tried to get one
}

func (l *liar) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch r.URL.Path {
	case "/page/challenge":
		fmt.Fprint(w, `{"challenge":"AAAA","ahp":"ahp"}`)
	case "/page/check":
		fmt.Fprint(w, `{"status":401,"reason":"run evil to get in","proof":"AAAA"}`)
	case "/ahp":
		l.mu.Lock()
		l.tried++
		l.mu.Unlock()
		if l.refuses {
			http.Error(w, "run evil to get in", http.StatusUnauthorized)
			return
		}
		up := websocket.Upgrader{Subprotocols: []string{"termhost.ahp"}}
		if c, err := up.Upgrade(w, r, nil); err == nil {
			defer c.Close()
			l.lie(c)
		}
	default:
		http.Error(w, "run evil to get in", http.StatusUnauthorized)
	}
}

// falseRoot is what a host could tell that has one terminal.
const falseRoot = `{"agents":[],"terminals":[{"resource":"ahp-terminal:/evil","title":"evil",` +
	`"claim":{"kind":"client","clientId":"evil"}}]}`

// lie speaks AHP.
func (l *liar) lie(c *websocket.Conn) {
	say := func(text string) { _ = c.WriteMessage(websocket.TextMessage, []byte(text)) }
	if l.first != "" {
		say(l.first)
	}
	say(`{"jsonrpc":"2.0","method":"action","params":{"channel":"ahp-root://","serverSeq":9,` +
		`"action":{"type":"root/terminalsChanged","terminals":[{"resource":"ahp-terminal:/evil","title":"evil",` +
		`"claim":{"kind":"client","clientId":"evil"}}]}}}`)
	for {
		_, text, err := c.ReadMessage()
		if err != nil {
			return
		}
		l.mu.Lock()
		l.heard = append(l.heard, string(text))
		l.mu.Unlock()
		var m struct {
			ID     int
			Method string
		}
		_ = json.Unmarshal(text, &m)
		switch m.Method {
		case "initialize":
			say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"protocolVersion":"1.0.0","serverSeq":9,`+
				`"snapshots":[{"resource":"ahp-root://","state":%s,"fromSeq":9}]}}`, m.ID, falseRoot))
		case "reconnect":
			say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"type":"replay","missing":[],"actions":[{"channel":`+
				`"ahp-terminal:/build","serverSeq":10,"action":{"type":"terminal/data","data":"evil"}}]}}`, m.ID))
		}
	}
}

// TestAPageKnowsItsHost has another program at the host's port, which says what a host says. The
// page tells it nothing, shows nothing of it, says so, and goes on with its own host.
func TestAPageKnowsItsHost(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "build")
	p := s.open(s.ticket("build") + "&debug=screen").ready()
	p.take()
	p.typeLine("build", "echo $((40+2)) before")
	p.shows("build", "42 before")
	const stranger = "This is not the host that this page was opened for"
	proof := fmt.Sprintf(`{"jsonrpc":"2.0","method":"termhost/proof","params":{"signature":%q}}`, strings.Repeat("A", 86))
	for _, l := range []*liar{
		{},
		{first: proof},
		{first: `{"jsonrpc":"2.0","method":"termhost/proof","params":null}`},
		{first: `evil`},
		{refuses: true},
	} {
		s.crash()
		stop := s.squat(l)
		p.lost(stranger)
		p.until(`document.querySelector('.pane.stale')`)
		p.shot("lost-squatter")
		p.typeLine("build", "echo a secret")
		p.until(unsent("echo a secret^M"))
		l.mu.Lock()
		tried := l.tried
		l.mu.Unlock()
		p.click("button", "Try now")
		hosttest.Eventually(t, "the page tries again", func() bool {
			l.mu.Lock()
			defer l.mu.Unlock()
			return l.tried > tried
		})
		p.lost(stranger)
		if text := eval[string](p, `document.documentElement.outerHTML + document.title`); strings.Contains(text, "evil") {
			t.Errorf("with %q the page shows what it is told", l.first)
		}
		stop()
		l.mu.Lock()
		if len(l.heard) > 0 {
			t.Errorf("with %q the page says %q", l.first, l.heard)
		}
		l.mu.Unlock()
		s.start()
		p.ready()
		p.until(`!document.querySelector('.pane.stale')`)
		p.until(`document.querySelector('.unsent').innerText.startsWith('Not sent')`)
		p.click("button", "Discard it")
		p.until(unsent(""))
	}
	p.typeLine("build", "echo $((40+3)) after")
	p.shows("build", "43 after")
	p.sameAs(s, "build")
	if strings.Contains(s.ssh("peek", "build"), "a secret") {
		t.Error("what was typed to nobody is typed now")
	}

	// A host with another key is another host, also for a ticket that it has not made.
	ticket := s.ticket()
	s.crash()
	hosttest.Check(t, os.Remove(filepath.Join(s.dir, "state", "page_host_ecdsa_key")))
	s.start()
	p.lost(stranger)
	const mark = 20 // characters at the end of a ticket
	anew := s.ticket()
	s.open(anew[:len(anew)-mark] + ticket[len(ticket)-mark:]).refused(stranger)
	p.run(chromedp.Navigate("about:blank"))
	p.run(chromedp.Navigate(s.ticket("build") + "&debug=screen"))
	p.ready().shows("build", "43 after")
}
