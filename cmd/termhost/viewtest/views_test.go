package viewtest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/authz"
	"termhost/sshd/verbs"
)

func TestNoAudienceReadsWhatItMayNotDecide(t *testing.T) {
	t.Parallel()
	cells := 0
	for name := range newSite(t).audiences() {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			c := s.dial(s.audiences()[name])
			m := &matrix{s: s, audience: name, told: map[string]string{}}
			feed := m.feed(c)
			m.verbs(c)
			m.methods(c)
			m.tools(c)
			m.pages(c.p)
			m.events(feed)
			for cell, text := range m.told {
				if at := found(text); at != "" {
					t.Errorf("%s: %s tells %s", name, cell, at)
				}
			}
			s.holds(typed, 2) // nobody has decided meanwhile, so there was something to read
			s.holds(started, 1)
			cells += len(m.told)
		})
	}
	t.Logf("%d cells", cells)
}

// TestThoseWhoDecideReadWhatOthersMayNot keeps the matrix honest: the canary is there to be found.
func TestThoseWhoDecideReadWhatOthersMayNot(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c := s.dial(hosttest.Principal("olaf", authz.Operator))
	m := &matrix{s: s, audience: "operator", told: map[string]string{}}
	for _, command := range []string{"asks", "asks --json", "log --json typed",
		"log --json -f typed &", "log --json started"} {
		if text := m.run(c, command); found(text) == "" {
			t.Errorf("%s does not tell it: %s", command, text)
		}
	}
	l := c.ahp()
	for method, params := range map[string]string{
		"subscribe":     `{"channel":"ahp-terminal:/typed"}`,
		"termhost/held": `{"channel":"ahp-terminal:/first","ask":"@1"}`,
	} {
		if text := l.call(method, params); found(text) == "" {
			t.Errorf("%s does not tell it: %s", method, text)
		}
	}
}

// matrix has an audience's answers by its questions.
type matrix struct {
	s        *site
	audience string
	told     map[string]string
}

func (m *matrix) add(kind, name, text string) { m.told[kind+" "+name] += text }

// complete fails the test where the program's list and the rows differ.
func (m *matrix) complete(kind string, program []string, have rows) {
	m.s.t.Helper()
	for _, name := range program {
		if have[name] == nil {
			m.s.t.Errorf("%s %s has no row: say how each audience asks for it", kind, name)
		}
	}
	for name := range have {
		if !slices.Contains(program, name) {
			m.s.t.Errorf("%s %s has a row, and is not there any more", kind, name)
		}
	}
}

var base64Text = regexp.MustCompile(`[A-Za-z0-9+/]{20,}={0,2}`)

// found returns where a text has the canary, also within base64.
func found(text string) string {
	for _, one := range append(base64Text.FindAllString(text, -1), text) {
		plain := []byte(one)
		if one != text {
			plain, _ = base64.StdEncoding.DecodeString(one)
		}
		if at := bytes.Index(plain, []byte(canary)); at >= 0 {
			return strconv.Quote(string(plain[max(0, at-100):min(len(plain), at+40)]))
		}
	}
	return ""
}

// feed collects all events from now on.
func (m *matrix) feed(c *client) *output {
	session, err := c.NewSession()
	hosttest.Check(m.s.t, err)
	out := newOutput()
	session.Stdout = out
	hosttest.Check(m.s.t, session.Start("termhost events --json"))
	n := 0
	hosttest.Eventually(m.s.t, "events are read", func() bool {
		n++
		hosttest.Check(m.s.t, m.s.alice.Label(m.s.find("first"), "n="+strconv.Itoa(n)))
		return out.String() != ""
	})
	return out
}

func (m *matrix) verbs(c *client) {
	var names []string
	for _, v := range verbs.Verbs() {
		names = append(names, v.Name)
	}
	have := verbRows()
	m.complete("verb", names, have)
	for _, name := range names {
		m.add("verb", name, "")
		for _, command := range have[name] {
			m.add("verb", name, m.run(c, command))
		}
	}
}

// run returns what a command prints.
func (m *matrix) run(c *client, command string) string {
	t := m.s.t
	t.Helper()
	command, stays := strings.CutSuffix(command, " &")
	command, terminal := strings.CutPrefix(command, "-t ")
	command, keys, _ := strings.Cut(command, " <")
	session, err := c.NewSession()
	hosttest.Check(t, err)
	defer session.Close()
	out := newOutput()
	session.Stdout, session.Stderr = out, out
	in, err := session.StdinPipe()
	hosttest.Check(t, err)
	if terminal {
		hosttest.Check(t, session.RequestPty("xterm", 24, 200, gossh.TerminalModes{}))
	}
	hosttest.Check(t, session.Start("termhost "+command))
	done := make(chan struct{})
	go func() {
		_ = session.Wait() // its status is no matter
		close(done)
	}()
	if keys == "" && !terminal {
		in.Close()
	}
	if stays || keys != "" {
		select {
		case <-out.some:
		case <-done:
		case <-time.After(slowtest.PatienceOf(t)):
			t.Fatalf("%s prints nothing", command)
		}
	}
	if stays {
		return out.String()
	}
	_, _ = io.WriteString(in, keys) // it may have ended
	slowtest.Receive(t, command, done)
	return out.String()
}

// output collects what a command prints.
type output struct {
	mu   sync.Mutex
	text []byte
	some chan struct{} // closed when there is some
}

func newOutput() *output { return &output{some: make(chan struct{})} }

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.text == nil {
		close(o.some)
	}
	o.text = append(o.text, p...)
	return len(p), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(o.text)
}

func (m *matrix) methods(c *client) {
	program := constants(m.s.t, "../../../ahp/method.go", "Method")
	have := methodRows()
	m.complete("method", program, have)
	l := c.ahp()
	for _, method := range program {
		m.add("method", method, "")
		for _, params := range have[method] {
			of := l
			if method == "initialize" || method == "reconnect" {
				of = c.subsystem("ahp")
			}
			m.add("method", method, of.call(method, params))
		}
	}
	m.s.changes()
	m.add("method", "action", l.until("the last change", func(text string) bool {
		return strings.Contains(text, "that was all")
	}))
}

// constants returns the values of the string constants in a file whose names begin with prefix.
func constants(t *testing.T, file, prefix string) (values []string) {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	hosttest.Check(t, err)
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, prefix) {
			return true
		}
		value := ""
		ast.Inspect(spec.Values[0], func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				value += "termhost/" // the constant extension
			case *ast.BasicLit:
				text, err := strconv.Unquote(n.Value)
				hosttest.Check(t, err)
				value += text
			}
			return true
		})
		values = append(values, value)
		return true
	})
	if len(values) < 20 {
		t.Fatalf("%s has only %q", file, values)
	}
	return values
}

func (m *matrix) tools(c *client) {
	var listed struct {
		Result struct{ Tools []struct{ Name string } }
	}
	text := m.s.dial(alice).mcp().call("tools/list", "{}")
	hosttest.Check(m.s.t, json.Unmarshal([]byte(text), &listed))
	var program []string
	for _, tool := range listed.Result.Tools {
		program = append(program, tool.Name)
	}
	have := toolRows()
	m.complete("tool", program, have)
	l := c.mcp()
	for _, tool := range program {
		for _, arguments := range have[tool] {
			m.add("tool", tool, l.call("tools/call",
				fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, arguments)))
		}
	}
	for method, all := range mcpRows() {
		for _, params := range all {
			m.add("mcp", method, l.call(method, params))
		}
	}
}

// pages asks the HTTP door for each of the page's routes, and its own.
func (m *matrix) pages(p authz.Principal) {
	get := map[string]string{"/healthz": http.MethodGet, "/metrics": http.MethodGet, "/ahp": http.MethodGet}
	for _, r := range m.s.routes {
		get[r.Path] = http.MethodGet
		if len(r.Methods) > 0 {
			get[r.Path] = r.Methods[0]
		}
	}
	for path, method := range get {
		m.add("page", path, m.s.fetch(p, method, path))
	}
}

// fetch returns the answer of the HTTP door to a request on a connection of its own.
func (s *site) fetch(p authz.Principal, method, path string) string {
	near, far := pipe(s.t)
	served := make(chan error, 1)
	go func() { served <- s.web.ServeConn(near, p) }()
	body := ""
	if method == http.MethodPost {
		body = "{}"
	}
	fmt.Fprintf(far, "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"+
		"Content-Length: %d\r\n\r\n%s", method, path, len(body), body)
	text, _ := io.ReadAll(far) // it may be cut off behind a refusal
	far.Close()
	slowtest.Receive(s.t, "the connection ends", served)
	return string(text)
}

// events checks what a reader of all events was told, by the kinds that package host names.
func (m *matrix) events(feed *output) {
	hosttest.Eventually(m.s.t, "the last event", func() bool {
		return strings.Contains(feed.String(), `"event":"status"`)
	})
	m.add("verb", "events", feed.String())
	for _, kind := range constants(m.s.t, "../../../ahp/host/feed_event.go", "Event") {
		var of []string
		for _, text := range strings.Split(feed.String(), "\n") {
			if strings.Contains(text, `"event":"`+kind+`"`) {
				of = append(of, text)
			}
		}
		m.add("event", kind, strings.Join(of, "\n"))
	}
	for _, kind := range []string{"asks", "refused", "approved", "labels"} {
		if m.told["event "+kind] == "" {
			m.s.t.Errorf("%s is not told that something %s", m.audience, kind)
		}
	}
}

// changes has alice's agent ask for more and alice decide, and last of all set a status.
func (s *site) changes() {
	t := s.find("first")
	for _, d := range []host.Decision{host.RefuseOnce, host.ApproveOnce} {
		text, reason := "echo "+canary, "no "+canary
		if d == host.ApproveOnce {
			text, reason = `true\r`, ""
		}
		s.agent.types("first", text)
		hosttest.Eventually(s.t, "something is held in first", func() bool {
			is, ok := s.alice.Asking(t)
			if ok {
				_, err := s.alice.Decide(t, nil, is.Ask, d, reason)
				hosttest.Check(s.t, err)
			}
			return ok
		})
	}
	hosttest.Check(s.t, s.alice.SetStatus(t, host.Said{State: "done", Text: "that was all"}))
}
