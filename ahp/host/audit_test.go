package host_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/rpc"
	"termhost/authz"
)

// records returns those of an audit log that are about a terminal.
func records(t *testing.T, log *bytes.Buffer, terminal string) (list []map[string]any) {
	t.Helper()
	for line := range strings.Lines(log.String()) {
		var r map[string]any
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if r["terminal"] == terminal {
			list = append(list, r)
		}
	}
	return list
}

func TestWhatAConnectionDoesIsFoundByIt(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	h := hosttest.New(t, func(c *host.Config) { c.Audit = slog.New(slog.NewJSONHandler(&log, nil)) })
	from := authz.Source{ID: "abc", From: "192.0.2.1:5", Door: host.DoorWebSocket}
	c, err := h.ConnectFrom(bot, host.DoorWebSocket, from)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if _, e := c.Initialize(initParams("0.5.0", "agent")); e != nil {
		t.Fatal(e)
	}
	agent := &peer{t: t, h: h, c: c, id: "agent"}
	uri := agent.create("x", "/bin/cat")
	ann, err := h.ConnectFrom(alice, host.DoorSSH, authz.Source{ID: "anns"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ann.Close)
	if err := ann.SetGuard(lookup(h, uri), true); err != nil {
		t.Fatal(err)
	}
	agent.c.Dispatch(uri, 1, ahp.TerminalInput{Data: []byte("ls\r")})
	if e := rpc.DisposeTerminal(c, uri); e != nil {
		t.Fatal(e)
	}
	var events []string
	for _, r := range records(t, &log, "x") {
		event := r["msg"].(string)
		events = append(events, event)
		switch {
		case event == authz.AuditGuard && r["connection"] == "anns" && r["key"] == alice.ID:
		case event == authz.AuditRefuse && r["connection"] == nil: // nobody has refused: it is gone
		case r["connection"] != "abc", r["from"] != "192.0.2.1:5", r["door"] != host.DoorWebSocket,
			r["key"] != "SHA256:alice/bot":
			t.Errorf("the record is %v", r)
		}
	}
	if got := strings.Join(events, " "); got != "create guard ask refuse dispose" {
		t.Errorf("the events are %s", got)
	}
}

// TestADenialNamesItsTerminalAndItsConnection has an observer, an agent and a stranger try what
// they may not, by the ways that doors use.
func TestADenialNamesItsTerminalAndItsConnection(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	h := hosttest.New(t, func(c *host.Config) { c.Audit = slog.New(slog.NewJSONHandler(&log, nil)) })
	ann := door(t, h, alice, host.DoorSSH)
	term, err := hosttest.Create(h, alice, host.CreateOptions{Name: "old", Argv: []string{"/bin/cat"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ann.GiveName(term, "work"); err != nil {
		t.Fatal(err)
	}
	if err := ann.SetGuard(term, true); err != nil {
		t.Fatal(err)
	}
	connect := func(p authz.Principal, id string) *host.Conn {
		c, err := h.ConnectFrom(p, host.DoorWebSocket, authz.Source{ID: id, From: "192.0.2.1:5",
			Door: host.DoorWebSocket})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return c
	}
	observer, agent := connect(eve, "eves"), connect(bot, "bots")
	for id, c := range map[string]*host.Conn{"eves": observer, "bots": agent} {
		if _, e := c.Initialize(initParams("0.5.0", id)); e != nil {
			t.Fatal(e)
		}
	}
	viewer := attach(t, h, eve, term.Name(), window)
	for name, try := range map[string]func(){
		"dispose":           func() { rpc.DisposeTerminal(observer, term.URI()) },
		"dispose, by name":  func() { observer.Denied(observer.Dispose(term)) },
		"input":             func() { observer.Denied(observer.Send(t.Context(), term, []byte("x"))) },
		"input, read-only":  func() { observer.Denied(viewer.a.SendSignal(2)) },
		"rename":            func() { observer.Dispatch(term.URI(), 1, ahp.TerminalTitleChanged{Title: "x"}) },
		"name":              func() { _, err := observer.GiveName(term, "x"); observer.Denied(err) },
		"kick":              func() { _, _, err := observer.Kick(term, "ann"); observer.Denied(err) },
		"approve":           func() { observer.Denied(observer.SetGuard(term, false)) },
		"claim":             func() { _, err := observer.HandBack(term, nil, false); observer.Denied(err) },
		"approve, an agent": func() { agent.Denied(agent.SetGuard(term, false)) },
		"input, too much": func() {
			agent.Denied(agent.Send(t.Context(), term, make([]byte, maxHeldText+1)))
		},
	} {
		log.Reset()
		try()
		list := records(t, &log, "work")
		want := "eves"
		if strings.Contains(name, "agent") || strings.Contains(name, "too much") {
			want = "bots"
		}
		if len(list) != 1 || list[0]["msg"] != authz.AuditDenied || list[0]["connection"] != want ||
			list[0]["from"] != "192.0.2.1:5" || list[0]["door"] != host.DoorWebSocket ||
			list[0]["key"] == nil || !strings.HasPrefix(name, list[0]["verb"].(string)) {
			t.Errorf("%s: %s", name, log.String())
		}
	}
}

// A door that the metrics and the audit log do not know lets nobody in.
func TestAnUnknownDoorIsRefused(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	for _, name := range []string{"", "window", "ssh\n"} {
		if c, err := h.Connect(alice, name); err == nil {
			c.Close()
			t.Errorf("%q is a door", name)
		}
	}
	for _, d := range authz.Doors() {
		if c, err := h.Connect(alice, d.Name); err != nil {
			t.Errorf("%s: %v", d.Name, err)
		} else {
			c.Close()
		}
	}
}
