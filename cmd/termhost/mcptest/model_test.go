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

	"termhost/ahp/hosttest"
)

// turn is what a model is asked: what to do after so many calls of tools.
type turn struct {
	number  int      // of calls so far
	results []string // of the calls, as the client shows them to its model
}

// last returns the result of the last call.
func (n turn) last() string {
	if len(n.results) == 0 {
		return ""
	}
	return n.results[len(n.results)-1]
}

// step is what a model does: it calls a tool, or says something and ends.
type step struct {
	tool string
	args args
	says string // if tool is empty
}

type args = map[string]any

// script is a model. A client that asks a second time gets the same answer.
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
	context string // instructions and the like
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
	t      testing.TB
	url    string
	wire   wire
	script script

	mu     sync.Mutex
	steps  map[int]*answered // by the turn's number
	asked  []request
	bodies []string
}

// answered is a step, which is decided once.
type answered struct {
	once sync.Once
	step step
}

// newModel serves a model that follows a script.
func newModel(t testing.TB, w wire, s script) *model {
	m := &model{t: t, wire: w, script: s, steps: map[int]*answered{}}
	server := httptest.NewServer(m)
	m.url = server.URL
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return m
}

// ServeHTTP answers a request of the client. One that offers none of our tools is not for the
// script: clients have their models name a conversation, for instance.
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
	asked, err := m.wire.parse(body)
	if err != nil {
		m.t.Errorf("%s: %v", r.URL, err)
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	asked.stream = asked.stream || strings.Contains(r.URL.Path, "stream")
	m.mu.Lock()
	m.bodies = append(m.bodies, r.URL.String()+" "+string(body))
	m.mu.Unlock()
	if asked.tool("terminal_run") == "" {
		m.wire.answer(w, asked, step{says: "{}"})
		return
	}
	m.wire.answer(w, asked, m.next(asked))
}

// next asks the script.
func (m *model) next(r *request) step {
	n := turn{len(r.results), r.results}
	m.mu.Lock()
	m.asked = append(m.asked, *r)
	if m.steps[n.number] == nil {
		m.steps[n.number] = &answered{}
	}
	a := m.steps[n.number]
	m.mu.Unlock()
	a.once.Do(func() {
		a.step = m.script(n)
		if a.step.tool != "" {
			a.step.tool = r.tool(a.step.tool)
		}
		if a.step.args == nil {
			a.step.args = args{}
		}
	})
	return a.step
}

// told returns the results that the client has shown to the model.
func (m *model) told() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.asked) == 0 {
		m.t.Errorf("the model was never asked with our tools; %d requests", len(m.bodies))
		return nil
	}
	return m.asked[len(m.asked)-1].results
}

// instructed reports whether the client has shown a text to the model beside tools and results.
func (m *model) instructed(text string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.asked {
		if strings.Contains(r.context, text) {
			return true
		}
	}
	return false
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

var _ = hosttest.Check
