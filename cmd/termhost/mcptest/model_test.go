package mcptest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// turn is a request to a model after so many calls of tools.
type turn struct {
	number  int      // of calls so far
	results []string // of the calls, as the client shows them to its model
}

// step is what a model does: it calls a tool, or says something and ends.
type step struct {
	tool string
	args args
	says string // if tool is empty
}

type args = map[string]any

// script is a model. It runs in the test's goroutine.
type script func(turn) step

// calls is the script of a model that makes some calls and then says done.
func calls(steps ...step) script {
	return func(n turn) step {
		if n.number < len(steps) {
			return steps[n.number]
		}
		return step{says: "done"}
	}
}

// request is what a wire reads from a client's request.
type request struct {
	tools   []string // their names, as the client has them
	results []string
	body    string
	stream  bool
}

// tool returns the client's name for a tool of ours; "": it has none.
func (r *request) tool(name string) string {
	for _, known := range r.tools {
		if strings.HasSuffix(known, name) {
			return known
		}
	}
	return ""
}

// wire is how a client talks to its model.
type wire struct {
	parse func(body []byte) (*request, error)
	// answer writes what the model does. The tool's name in it is the client's.
	answer func(w http.ResponseWriter, r *request, s step)
}

// model is a server that a client takes for its model's.
type model struct {
	url   string
	wire  wire
	tool  string // which tool the requests offer that are for the script
	turns chan asked

	mu    sync.Mutex
	last  *request // with our tools; nil: there was none
	count int      // of requests
	err   error    // of a request that was not understood
}

// asked is a request that waits for the model's step.
type asked struct {
	request *request
	step    chan<- step
}

// answer gives the request its step.
func (a asked) answer(s step) {
	if s.tool != "" {
		s.tool = a.request.tool(s.tool)
	}
	if s.args == nil {
		s.args = args{}
	}
	a.step <- s
}

// newModel serves a model, whose turns are for [model.play].
func newModel(t testing.TB, w wire) *model {
	m := &model{wire: w, tool: "terminal_run", turns: make(chan asked)}
	server := httptest.NewServer(m)
	m.url = server.URL
	t.Cleanup(func() {
		server.CloseClientConnections() // which ends what waits for a step
		server.Close()
	})
	return m
}

// ServeHTTP answers a request of the client. One that does not offer the tool is not for the script:
// clients have their models name a conversation, for instance.
func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if r.Method != http.MethodPost || strings.Contains(r.URL.Path, "count") {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"input_tokens": 10, "totalTokens": 10, "data": [], "models": []}`)
		return
	}
	q, err := m.wire.parse(body)
	if err != nil {
		m.mu.Lock()
		m.err = fmt.Errorf("%s: %w", r.URL, err)
		m.mu.Unlock()
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	q.body, q.stream = string(body), q.stream || strings.Contains(r.URL.Path, "stream")
	ours := q.tool(m.tool) != ""
	m.mu.Lock()
	m.count++
	if ours {
		m.last = q
	}
	m.mu.Unlock()
	if !ours {
		m.wire.answer(w, q, step{says: "{}"})
		return
	}
	decided := make(chan step, 1)
	select {
	case m.turns <- asked{q, decided}:
	case <-r.Context().Done():
		return
	}
	select {
	case s := <-decided:
		m.wire.answer(w, q, s)
	case <-r.Context().Done():
	}
}

// play answers a client with a script, until the client's program ends. It returns the last request,
// which has the results as the model was shown them. A client that asks a second time gets the same
// step.
func (m *model) play(t testing.TB, script script, r *run) *request {
	t.Helper()
	var steps []step
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		late.Reset(patience)
		select {
		case <-r.done:
			r.wait()
			m.mu.Lock()
			defer m.mu.Unlock()
			if m.last == nil || m.err != nil {
				t.Fatalf("of %d requests none has our tools, or %v", m.count, m.err)
			}
			return m.last
		case a := <-m.turns:
			n := turn{len(a.request.results), a.request.results}
			if n.number > len(steps) {
				t.Fatalf("the client has results of calls that were not made: %q", n.results)
			}
			if n.number == len(steps) {
				steps = append(steps, script(n))
			}
			a.answer(steps[n.number])
		case <-late.C:
			t.Fatalf("%s does not end; the model was asked %d times", r.cmd.Args[0], len(steps))
		}
	}
}

// events writes server-sent events. Those with a type have it as their event, too.
func events(w http.ResponseWriter, all ...args) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range all {
		if name, ok := e["type"].(string); ok {
			fmt.Fprintf(w, "event: %s\n", name)
		}
		fmt.Fprintf(w, "data: %s\n\n", toJSON(e))
	}
}

// toJSON returns the JSON of what consists of maps and strings.
func toJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// texts returns what is text in a content: a string, or a list of parts.
func texts(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return string(raw)
	}
	for _, p := range parts {
		text += p.Text
	}
	return text
}
