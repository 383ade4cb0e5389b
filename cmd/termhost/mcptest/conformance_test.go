package mcptest

import (
	"encoding/json"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// conforms are the scenarios of the suite that must pass. A check counts unless the suite says that
// it cannot be made without a tool that the suite names.
var conforms = []string{
	"caching", "dns-rebinding-protection", "http-header-validation", "ping", "resources-list",
	"sep-2164-resource-not-found", "server-initialize", "server-session-lifecycle", "server-sse-multiple-streams",
	"server-stateless", "tools-list",
}

// leftOut says why other scenarios are left out, by how their names begin.
var leftOut = map[string]string{
	"completion-":            "the host completes nothing",
	"elicitation-":           "they call tools of the suite's, and the host asks nothing",
	"http-custom-header-":    "no tool has parameters in headers",
	"input-required-result-": "they call tools of the suite's, and the host asks nothing",
	"json-schema-":           "it looks for a tool of the suite's",
	"logging-":               "the host has no logging",
	"prompts-":               "the host has no prompts",
	"resources-read-":        "they read resources of the suite's",
	"resources-subscribe":    "it subscribes to a resource of the suite's",
	"resources-templates-":   "they read resources of the suite's",
	"resources-unsubscribe":  "it subscribes to a resource of the suite's",
	"sep-2640-":              "the host has no skills",
	"server-sse-polling":     "it calls a tool of the suite's, and the host resumes no streams",
	"tasks-":                 "the host has no tasks",
	"tools-call-":            "they call tools of the suite's",
}

// check is what the suite has found.
type check struct {
	ID, Status, ErrorMessage string
	Details                  struct{ Untestable bool }
}

func TestConformance(t *testing.T) {
	slowtest.Skip(t)
	t.Parallel()
	suite := bin(t, "@modelcontextprotocol/conformance", "conformance")
	node(t)
	s := newSite(t)
	results := filepath.Join(s.dir, "results")
	r := s.start("suite", s.dir, s.environment("suite-home"), suite, "server", "--url", s.authorized()+"/mcp",
		"--suite", "all", "-o", results)
	<-r.done // its status is that of all scenarios
	files, err := filepath.Glob(filepath.Join(results, "*", "checks.json"))
	hosttest.Check(t, err)
	ran := map[string]bool{}
	for _, file := range files {
		name := strings.TrimPrefix(filepath.Base(filepath.Dir(file)), "server-")
		name = regexp.MustCompile(`-\d{4}-\d\d-\d\dT.*$`).ReplaceAllString(name, "")
		text, err := os.ReadFile(file)
		hosttest.Check(t, err)
		var checks []check
		hosttest.Check(t, json.Unmarshal(text, &checks))
		ran[name] = true
		for _, c := range checks {
			// That check asks for prompts, which the host does not have and says so.
			prompts := c.ID == "sep-2549-prompts-list-caching-hints"
			if c.Status == "FAILURE" && !c.Details.Untestable && !isLeftOut(name) && !prompts {
				t.Errorf("%s: %s: %s", name, c.ID, c.ErrorMessage)
			}
		}
		if !isLeftOut(name) && !slices.Contains(conforms, name) {
			t.Errorf("the scenario %s is not known", name)
		}
	}
	for _, name := range conforms {
		if !ran[name] {
			t.Errorf("the scenario %s has not run", name)
		}
	}
}

func isLeftOut(name string) bool {
	for begin := range leftOut {
		if strings.HasPrefix(name, begin) {
			return true
		}
	}
	return false
}

// authorized returns the URL of a server that passes requests on to the host with a token, which the
// suite cannot.
func (s *site) authorized() string {
	s.t.Helper()
	to, err := url.Parse(strings.Replace(s.host.Find("ws://"), "ws", "http", 1))
	hosttest.Check(s.t, err)
	to.Path = ""
	token := strings.TrimSpace(s.ssh("token", "--name", "suite"))
	proxy := httptest.NewServer(&httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host // which the suite has say something wrong
		r.Out.Header.Set("Authorization", "Bearer "+token)
	}})
	s.t.Cleanup(func() {
		proxy.CloseClientConnections()
		proxy.Close()
	})
	return proxy.URL
}
