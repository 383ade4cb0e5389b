package mcp_test

import (
	"strings"
	"testing"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/mcp"
	"termhost/authz"
)

// The token is an admin's, and the keyboard a person's.
func TestAClientWithAnAdminsTokenTakesNothingFromAPerson(t *testing.T) {
	t.Parallel()
	w := newWeb(t, mcp.HTTPOptions{})
	token := w.tokenOf(w.root, "ci", authz.Admin)
	grant, err := w.authority.AuthenticateToken(token, loopback)
	hosttest.Check(t, err)
	if grant.Principal.Role != authz.Admin {
		t.Fatalf("the token's role is %s", grant.Principal.Role)
	}
	alice := hosttest.Principal("alice", authz.Operator)
	const program = "trap 'echo interrupted' INT; trap 'echo terminated' TERM; stty -echo; echo ready; " +
		"while :; do if read x; then echo got $x; fi; done"
	hers, err := hosttest.Create(w.host, alice, host.CreateOptions{Name: "hers", Line: program})
	hosttest.Check(t, err)
	for name, a := range map[string]*agent{
		"old": w.agent(token, "old", older), "new": w.agent(token, "new", newest),
		"lines": connect(t, w.host, grant.Principal, "lines", nil),
	} {
		a.call("terminal_read", args{"terminal": "hers", "cursor": 0, "wait_s": 40, "until": "ready"})
		for _, c := range []struct {
			tool string
			args args
			says string
		}{
			{"terminal_send", args{"text": "canary"}, "nothing was typed"},
			{"terminal_send", args{"keys": "ctrl-c"}, "nothing was typed"},
			{"terminal_send", args{"text": "C-c"}, "nothing was typed"},
			{"terminal_run", args{"command": "canary"}, "nothing was typed"},
			{"terminal_stop", args{}, "nothing was typed"},
			{"terminal_stop", args{"how": "terminate"}, "it was not terminated"},
			{"terminal_stop", args{"how": "remove"}, "it was not removed"},
		} {
			c.args["terminal"] = "hers"
			text, failed := a.callWith(t.Context(), c.tool, c.args)
			if !failed {
				t.Errorf("%s: %s %v: %q", name, c.tool, c.args, text)
			}
			like(t, text, `^error: held by alice; `+c.says+`\. Reading goes on: `)
			if strings.Contains(text, "was sent") || strings.Contains(text, "was typed before") {
				t.Errorf("%s: what was refused is said to be done: %q", name, text)
			}
		}
		// What it starts is no admin either.
		a.call("terminal_run", args{"name": name, "command": "sleep 1000", "background": true})
		term, err := hosttest.Find(w.host, alice, name)
		hosttest.Check(t, err)
		if role := term.Creator().Role; role != authz.Operator {
			t.Errorf("%s: a program that it starts is %s", name, role)
		}
	}
	p := attach(t, w.host, "hers")
	hosttest.Check(t, p.conn.Send(t.Context(), p.term, []byte("mine\n")))
	reader := w.agent(token, "reader", older)
	text := reader.call("terminal_read", args{"terminal": "hers", "cursor": 0, "wait_s": 40, "until": "got mine"})
	like(t, text, `(?s)\]\nready\ngot mine\n`)
	if hers.Info(alice).State != host.StateRunning {
		t.Errorf("the person's terminal is %s", hers.Info(alice).State)
	}
}

// Where everybody may type, another's claim keeps nobody from it, and a result does not say so.
func TestWhereInputIsSharedNoResultSaysThatItIsRefused(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, func(c *host.Config) { c.InputShared = true })
	alice := hosttest.Principal("alice", authz.Admin)
	_, err := hosttest.Create(h, alice, host.CreateOptions{Name: "ours", Line: "echo ready; while read x; do echo got $x; done"})
	hosttest.Check(t, err)
	a := connect(t, h, hosttest.Principal("bob", authz.Operator), "claude-code", nil)
	a.call("terminal_read", args{"terminal": "ours", "wait_s": 40, "until": "ready"})
	a.answers(`(?s)^\[ours (running|waiting for input)[^\n]*\]\nit\ngot it\n`, args{"terminal": "ours", "text": "it"})
	text := a.call("terminal_read", args{"terminal": "ours", "cursor": 0})
	if strings.Contains(text, "Somebody else") || strings.Contains(text, "refused") {
		t.Errorf("%q", text)
	}
}

// What a program has not read when it begins to ask for a secret is dropped. How much of it was
// read, nobody says.
func TestTextThatASecretsQuestionCutsIsNotSaidToBeUntyped(t *testing.T) {
	t.Parallel()
	a := connect(t, hosttest.New(t), hosttest.Principal("alice", authz.Admin), "claude-code", nil)
	a.call("terminal_run", args{"name": "s", "command": "read x; echo first $x; stty -echo; printf 'Password: '; read y; stty echo; echo; echo $y | wc -c", "background": true})
	text, failed := a.callWith(t.Context(), "terminal_send", args{"terminal": "s", "text": "one\ntwo"})
	if failed {
		like(t, text, `^error: s asks for a secret, and what it had not read of what you sent was dropped\. A person must type it: `)
	}
	if strings.Contains(text, "nothing was typed") {
		t.Errorf("a line of it was read: %q", text)
	}
	like(t, a.call("terminal_read", args{"terminal": "s", "cursor": 0, "wait_s": 40}), `(?s)^\[s waiting for a secret .*first one`)
}
