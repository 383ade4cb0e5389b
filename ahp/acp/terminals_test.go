package acp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termhost/ahp"
	"termhost/ahp/host"
)

func TestArgumentsAreLiteral(t *testing.T) {
	t.Parallel()
	a := connect(t, newHost(t), alice)
	out, st := a.run(params{"command": "printf", "args": []string{"%s|", "a  b", "$HOME", "'", "*"}})
	wantCode(t, st, 0)
	if out.Output != "a  b|$HOME|'|*|" || out.Truncated || out.ExitStatus == nil {
		t.Fatalf("got %+v", out)
	}
}

func TestACommandThatIsALineRunsInAShell(t *testing.T) {
	t.Parallel()
	a := connect(t, newHost(t), alice)
	out, st := a.run(params{"command": "echo one && exit 3"})
	wantCode(t, st, 3)
	if out.Output != "one\r\n" {
		t.Fatalf("got %q", out.Output)
	}
}

func TestAProgramWithSpacesInItsNameIsAProgram(t *testing.T) {
	t.Parallel()
	a := connect(t, newHost(t), alice)
	dir := t.TempDir()
	check(t, os.WriteFile(filepath.Join(dir, "my tool"), []byte("#!/bin/sh\necho tool \"$0\"\n"), 0o700))
	out, st := a.run(params{"command": "./my tool", "cwd": dir})
	wantCode(t, st, 0)
	if out.Output != "tool ./my tool\r\n" {
		t.Fatalf("got %q", out.Output)
	}
}

func TestALineWithArgumentsIsNoLine(t *testing.T) {
	t.Parallel()
	a := connect(t, newHost(t), alice)
	_, st := a.run(params{"command": "echo one", "args": []string{"two"}})
	wantCode(t, st, 127)
}

func TestAScriptThatNamesNoInterpreterRunsInAShell(t *testing.T) {
	t.Parallel()
	a := connect(t, newHost(t), alice)
	dir := t.TempDir()
	check(t, os.WriteFile(filepath.Join(dir, "tool"), []byte("echo $# $1; exit 4\n"), 0o700))
	out, st := a.run(params{"command": "./tool", "args": []string{"a b"}, "cwd": dir})
	wantCode(t, st, 4)
	if out.Output != "1 a b\r\n" {
		t.Fatalf("got %q", out.Output)
	}
}

func TestWhatCannotBeStartedSaysSoInItsTerminal(t *testing.T) {
	t.Parallel()
	a := connect(t, newHost(t), alice)
	dir := t.TempDir()
	check(t, os.WriteFile(filepath.Join(dir, "data"), []byte("x"), 0o600))
	check(t, os.WriteFile(filepath.Join(dir, "my tool"), []byte("#!/no/such/interpreter -x\n"), 0o700))
	long := strings.Repeat("x", 200<<10) // Linux takes 128 KiB
	for command, want := range map[string]struct {
		code int
		said string
		args []string
	}{
		"no-such-program": {127, "cannot run no-such-program: no such program", nil},
		dir + "/none":     {127, "no such program", nil},
		dir + "/data":     {126, "not executable", nil},
		dir + "/my tool":  {126, "its interpreter /no/such/interpreter does not exist", nil},
		"echo":            {126, "cannot run echo: argument list too long", []string{long}},
		"echo " + long:    {126, "argument list too long", nil}, // a line, for sh
	} {
		id, name := a.create(params{"command": command, "args": want.args})
		command = command[:min(len(command), 100)]
		if name != "" {
			t.Errorf("%s: there is a terminal %s", command, name)
		}
		wantCode(t, a.wait(id), want.code)
		out := a.output(id)
		if out.ExitStatus == nil || *out.ExitStatus.ExitCode != want.code || !strings.Contains(out.Output, want.said) || len(out.Output) > 300 {
			t.Errorf("%s: output %+v", command, out)
		}
		a.must(methodKill, of(id), nil)
		a.must(methodRelease, of(id), nil)
	}
}

func TestWhatIsAskedForWronglyIsRefused(t *testing.T) {
	t.Parallel()
	a := connect(t, newHost(t), alice)
	gone := filepath.Join(t.TempDir(), "gone")
	for _, c := range []struct {
		field string
		p     params
	}{
		{"command", params{"sessionId": "s"}},
		{"command", params{"sessionId": "s", "command": "ec\x00ho"}},
		{"sessionId", params{"command": "true"}},
		{"cwd", params{"sessionId": "s", "command": "true", "cwd": gone}},
		{"args", params{"sessionId": "s", "command": "true", "args": "x"}},
		{"args", params{"sessionId": "s", "command": "true", "args": []string{"a\x00b"}}},
		{"env", params{"sessionId": "s", "command": "true", "env": []params{{"name": "A=B", "value": ""}}}},
		{"env", params{"sessionId": "s", "command": "true", "env": []params{{"name": "A"}}}},
		{"outputByteLimit", params{"sessionId": "s", "command": "true", "outputByteLimit": -1}},
		{"outputByteLimit", params{"sessionId": "s", "command": "true", "outputByteLimit": "1"}},
	} {
		e := a.call(methodCreate, c.p, nil)
		var data struct{ Field string }
		if e == nil || e.Code != ahp.CodeInvalidParams || json.Unmarshal(e.Data, &data) != nil || data.Field != c.field {
			t.Errorf("%v: %+v %s", c.p, e, e.Data)
		}
	}
	if e := a.call(methodCreate, params{"sessionId": "s", "command": "true", "cwd": gone}, nil); !strings.Contains(e.Message, gone) || !strings.Contains(e.Message, "no such directory") {
		t.Errorf("the message does not say what is missing: %s", e.Message)
	}
	if e := connect(t, newHost(t), eve).call(methodCreate, params{"sessionId": "s", "command": "true"}, nil); e == nil || e.Code != ahp.CodeNotPermitted {
		t.Errorf("an observer may create: %+v", e)
	}
}

func TestTheCommandRunsWhereAndWithWhatItWasTold(t *testing.T) {
	t.Parallel()
	a := connect(t, newHost(t, func(c *host.Config) { c.Env = map[string]string{"PAGER": "less"} }), alice)
	dir := t.TempDir()
	line := `pwd; echo $A $PAGER $GIT_PAGER $GIT_TERMINAL_PROMPT; tty >/dev/null && echo tty`
	out, _ := a.run(params{"command": "sh", "args": []string{"-c", line}, "cwd": dir,
		"env": []params{{"name": "A", "value": "b"}, {"name": "GIT_PAGER", "value": "mine"}}})
	if want := dir + "\r\nb cat mine 0\r\ntty\r\n"; out.Output != want {
		t.Fatalf("got %q, want %q", out.Output, want)
	}
}

func TestTheTerminalIsAnOrdinaryOne(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	a := connect(t, h, alice)
	id, name := a.create(params{"command": "bash", "args": []string{"-lc", "cd /tmp && cat"}, "_meta": params{"termhost": params{"agent": "gem\x1b[1mini"}}})
	list, err := h.List(alice)
	check(t, err)
	if len(list) != 1 || list[0].Name != name || name != "cat-1" || !strings.HasPrefix(id, name) {
		t.Fatalf("list %+v, id %s", list, id)
	}
	got := list[0]
	if got.Claim.Session != "ahp-session:/s" || !got.Mine || got.Title != "cd /tmp && cat (gem[1mini)" {
		t.Fatalf("got %+v", got)
	}
	a.must(methodRelease, of(id), nil)
}

func TestAProgramDoesNotHideWhoseItIs(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	a := connect(t, h, alice)
	id, _ := a.sh(`printf '\033]2;mine\007x'`)
	a.wait(id)
	list, err := h.List(alice)
	check(t, err)
	if !strings.HasSuffix(list[0].Title, "(alice)") {
		t.Fatalf("the title is %q", list[0].Title)
	}
}

func TestOutputEndsWithTheLastByteBeforeTheExitIsTold(t *testing.T) {
	t.Parallel()
	a := connect(t, newHost(t), alice)
	for range 20 {
		out, st := a.run(params{"command": "seq", "args": []string{"1", "20000"}})
		wantCode(t, st, 0)
		if !strings.HasSuffix(out.Output, "\r\n20000\r\n") || len(out.Output) != 128894 {
			t.Fatalf("%d bytes, ends in %q", len(out.Output), out.Output[max(0, len(out.Output)-20):])
		}
	}
}

func TestTheEndIsKeptAtARuneBoundary(t *testing.T) {
	t.Parallel()
	a := connect(t, newHost(t), alice)
	const euro, pile = "€", "💩"
	line := `i=0; while [ $i -lt 300 ]; do printf '€💩é'; i=$((i+1)); done; printf END`
	for limit := 0; limit < 40; limit += 3 {
		id, _ := a.create(params{"command": "sh", "args": []string{"-c", line}, "outputByteLimit": limit})
		a.wait(id)
		out := a.output(id)
		whole := strings.Repeat(euro+pile+"é", 300) + "END"
		if !out.Truncated || len(out.Output) > limit || !strings.HasSuffix(whole, out.Output) || limit-len(out.Output) > 3 {
			t.Fatalf("limit %d: %d bytes %q, truncated %t", limit, len(out.Output), out.Output, out.Truncated)
		}
		a.must(methodRelease, of(id), nil)
	}
	for limit := range 4 {
		out, _ := a.run(params{"command": "printf", "args": []string{pile + pile}, "outputByteLimit": limit})
		if out.Output != "" || !out.Truncated {
			t.Fatalf("limit %d: %+v", limit, out)
		}
	}
	out, _ := a.run(params{"command": "printf", "args": []string{"€€"}, "outputByteLimit": 6})
	if out.Output != "€€" || out.Truncated {
		t.Fatalf("what fits was cut: %+v", out)
	}
}

func TestInvalidBytesStayWithinTheLimit(t *testing.T) {
	t.Parallel()
	a := connect(t, newHost(t), alice)
	out, _ := a.run(params{"command": "printf", "args": []string{`\377\377\377\377end`}, "outputByteLimit": 10})
	if out.Output != "��end" || !out.Truncated {
		t.Fatalf("got %q, truncated %t", out.Output, out.Truncated)
	}
}

func TestALimitIsAnIntegerHoweverItIsWritten(t *testing.T) {
	t.Parallel()
	a := connect(t, newHost(t), alice)
	for text, want := range map[string]string{"5.0": "56789", "0.5e1": "56789", "500E-2": "56789", "null": "0123456789", "1e300": "0123456789", "0": ""} {
		out, _ := a.run(params{"command": "printf", "args": []string{"0123456789"}, "outputByteLimit": json.RawMessage(text)})
		if out.Output != want {
			t.Errorf("%s: %q", text, out.Output)
		}
	}
	for _, text := range []string{"5.5", "-1", "-0.5", `"5"`, "true", "{}"} {
		e := a.call(methodCreate, params{"sessionId": "s", "command": "true", "outputByteLimit": json.RawMessage(text)}, nil)
		if e == nil || e.Code != ahp.CodeInvalidParams || !strings.Contains(string(e.Data), "outputByteLimit") {
			t.Errorf("%s: %+v", text, e)
		}
	}
}

func TestTheHostsCeilingAppliesAsWell(t *testing.T) {
	t.Parallel()
	a := connect(t, newHost(t), alice)
	for _, limit := range []any{nil, uint64(1) << 60} {
		out, _ := a.run(params{"command": "sh", "args": []string{"-c", "seq 1 400000; echo END"}, "outputByteLimit": limit})
		if !out.Truncated || len(out.Output) != MaxOutput || !strings.HasSuffix(out.Output, "400000\r\nEND\r\n") {
			t.Fatalf("%d bytes, truncated %t", len(out.Output), out.Truncated)
		}
	}
}
