package acp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termhost/ahp"
	"termhost/ahp/acp/wire"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
)

func TestArgumentsAreLiteral(t *testing.T) {
	t.Parallel()
	a := connect(t, hosttest.New(t), alice)
	out, st := a.run(command("printf", "%s|", "a  b", "$HOME", "'", "*"))
	wantCode(t, st, 0)
	if out.Output != "a  b|$HOME|'|*|" || out.Truncated || out.ExitStatus == nil {
		t.Fatalf("got %+v", out)
	}
}

func TestACommandThatIsALineRunsInAShell(t *testing.T) {
	t.Parallel()
	a := connect(t, hosttest.New(t), alice)
	out, st := a.run(command("echo one && exit 3"))
	wantCode(t, st, 3)
	if out.Output != "one\r\n" {
		t.Fatalf("got %q", out.Output)
	}
}

// script writes an executable file.
func script(t testing.TB, file, text string) {
	t.Helper()
	check(t, os.WriteFile(file, []byte(text), 0o700))
}

func TestAProgramWithSpacesInItsNameIsAProgram(t *testing.T) {
	t.Parallel()
	a := connect(t, hosttest.New(t), alice)
	dir := t.TempDir()
	script(t, dir+"/my tool", "#!/bin/sh\necho tool \"$0\"\n")
	out, st := a.run(command("./my tool").with("cwd", dir))
	wantCode(t, st, 0)
	if out.Output != "tool ./my tool\r\n" {
		t.Fatalf("got %q", out.Output)
	}
}

func TestALineWithArgumentsIsNoLine(t *testing.T) {
	t.Parallel()
	a := connect(t, hosttest.New(t), alice)
	_, st := a.run(command("echo one", "two"))
	wantCode(t, st, 127)
}

func TestAScriptThatNamesNoInterpreterRunsInAShell(t *testing.T) {
	t.Parallel()
	a := connect(t, hosttest.New(t), alice)
	dir := t.TempDir()
	script(t, dir+"/tool", "echo $# $1; exit 4\n")
	out, st := a.run(command("./tool", "a b").with("cwd", dir))
	wantCode(t, st, 4)
	if out.Output != "1 a b\r\n" {
		t.Fatalf("got %q", out.Output)
	}
}

func TestWhatCannotBeStartedSaysSoInItsTerminal(t *testing.T) {
	t.Parallel()
	a := connect(t, hosttest.New(t), alice)
	dir := t.TempDir()
	check(t, os.WriteFile(filepath.Join(dir, "data"), []byte("x"), 0o600))
	script(t, dir+"/my tool", "#!/no/such/interpreter -x\n")
	long := strings.Repeat("x", 200<<10) // Linux takes 128 KiB
	for program, want := range map[string]struct {
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
		id, name := a.create(command(program, want.args...))
		program = program[:min(len(program), 100)]
		if name != "" {
			t.Errorf("%s: there is a terminal %s", program, name)
		}
		wantCode(t, a.wait(id), want.code)
		out := a.output(id)
		wantCode(t, *out.ExitStatus, want.code)
		if !strings.Contains(out.Output, want.said) || len(out.Output) > 300 {
			t.Errorf("%s: output %+v", program, out)
		}
		a.must(wire.MethodKill, of(id), nil)
		a.must(wire.MethodRelease, of(id), nil)
	}
}

func TestWhatIsAskedForWronglyIsRefused(t *testing.T) {
	t.Parallel()
	a := connect(t, hosttest.New(t), alice)
	gone := filepath.Join(t.TempDir(), "gone")
	for _, c := range []struct {
		field string
		p     params
	}{
		{"command", params{"sessionId": "s"}},
		{"command", params{"sessionId": "s", "command": "ec\x00ho"}},
		{"sessionId", params{"command": "true"}},
		{"cwd", command("true").with("cwd", gone)},
		{"args", command("true").with("args", "x")},
		{"args", command("true").with("args", []string{"a\x00b"})},
		{"env", command("true").with("env", []params{{"name": "A=B", "value": ""}})},
		{"env", command("true").with("env", []params{{"name": "A"}})},
		{"outputByteLimit", command("true").with("outputByteLimit", -1)},
		{"outputByteLimit", command("true").with("outputByteLimit", "1")},
	} {
		e := a.refused(wire.MethodCreate, c.p, ahp.CodeInvalidParams)
		var data struct{ Field string }
		if json.Unmarshal(e.Data, &data) != nil || data.Field != c.field {
			t.Errorf("%v: %+v %s", c.p, e, e.Data)
		}
		if c.field == "cwd" && !strings.Contains(e.Message, gone+": there is no such directory") {
			t.Errorf("the message does not say what is missing: %s", e.Message)
		}
	}
	connect(t, hosttest.New(t), eve).refused(wire.MethodCreate, command("true"), ahp.CodeNotPermitted)
}

func TestTheCommandRunsWhereAndWithWhatItWasTold(t *testing.T) {
	t.Parallel()
	pages := func(c *host.Config) { c.Env = map[string]string{"PAGER": "less"} }
	a := connect(t, hosttest.New(t, pages), alice)
	dir := t.TempDir()
	line := `pwd; echo $A $PAGER $GIT_PAGER $GIT_TERMINAL_PROMPT; tty >/dev/null && echo tty`
	env := []params{{"name": "A", "value": "b"}, {"name": "GIT_PAGER", "value": "mine"}}
	out, _ := a.run(command("sh", "-c", line).with("cwd", dir).with("env", env))
	if want := dir + "\r\nb cat mine 0\r\ntty\r\n"; out.Output != want {
		t.Fatalf("got %q, want %q", out.Output, want)
	}
}

func TestTheTerminalIsAnOrdinaryOne(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	a := connect(t, h, alice)
	meta := params{"termhost": params{"agent": "gem\x1b[1mini"}}
	id, name := a.create(command("bash", "-lc", "cd /tmp && cat").with("_meta", meta))
	list, err := hosttest.List(h, alice)
	check(t, err)
	if len(list) != 1 || list[0].Name != name || name != "cat-1" || !strings.HasPrefix(id, name) {
		t.Fatalf("list %+v, id %s", list, id)
	}
	got := list[0]
	const title = "cd /tmp && cat (gem[1mini)"
	if got.Claim.Session != "ahp-session:/s" || got.Holder != "alice/gem_1mini" || got.Mine || got.Title != title {
		t.Fatalf("got %+v", got)
	}
	a.must(wire.MethodRelease, of(id), nil)
}

func TestAProgramDoesNotHideWhoseItIs(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	a := connect(t, h, alice)
	id, _ := a.sh(`printf '\033]2;mine\007x'`)
	a.wait(id)
	list, err := hosttest.List(h, alice)
	check(t, err)
	if !strings.HasSuffix(list[0].Title, "("+list[0].Holder+")") {
		t.Fatalf("the title is %q", list[0].Title)
	}
}

func TestOutputEndsWithTheLastByteBeforeTheExitIsTold(t *testing.T) {
	t.Parallel()
	a := connect(t, hosttest.New(t), alice)
	for range 20 {
		out, st := a.run(command("seq", "1", "20000"))
		wantCode(t, st, 0)
		if !strings.HasSuffix(out.Output, "\r\n20000\r\n") || len(out.Output) != 128894 {
			end := out.Output[max(0, len(out.Output)-20):]
			t.Fatalf("%d bytes, ends in %q", len(out.Output), end)
		}
	}
}

func TestTheEndIsKeptAtARuneBoundary(t *testing.T) {
	t.Parallel()
	a := connect(t, hosttest.New(t), alice)
	const euro, pile = "€", "💩"
	line := `i=0; while [ $i -lt 300 ]; do printf '€💩é'; i=$((i+1)); done; printf END`
	for limit := 0; limit < 40; limit += 3 {
		id, _ := a.create(command("sh", "-c", line).with("outputByteLimit", limit))
		a.wait(id)
		out := a.output(id)
		whole := strings.Repeat(euro+pile+"é", 300) + "END"
		n := len(out.Output)
		if !out.Truncated || n > limit || limit-n > 3 || !strings.HasSuffix(whole, out.Output) {
			t.Fatalf("limit %d: %d bytes %q, truncated %t", limit, n, out.Output, out.Truncated)
		}
		a.must(wire.MethodRelease, of(id), nil)
	}
	for limit := range 4 {
		out, _ := a.run(command("printf", pile+pile).with("outputByteLimit", limit))
		if out.Output != "" || !out.Truncated {
			t.Fatalf("limit %d: %+v", limit, out)
		}
	}
	out, _ := a.run(command("printf", "€€").with("outputByteLimit", 6))
	if out.Output != "€€" || out.Truncated {
		t.Fatalf("what fits was cut: %+v", out)
	}
}

func TestInvalidBytesStayWithinTheLimit(t *testing.T) {
	t.Parallel()
	a := connect(t, hosttest.New(t), alice)
	out, _ := a.run(command("printf", `\377\377\377\377end`).with("outputByteLimit", 10))
	if out.Output != "��end" || !out.Truncated {
		t.Fatalf("got %q, truncated %t", out.Output, out.Truncated)
	}
}

func TestALimitIsAnIntegerHoweverItIsWritten(t *testing.T) {
	t.Parallel()
	a := connect(t, hosttest.New(t), alice)
	const digits = "0123456789"
	for text, want := range map[string]string{
		"5.0": "56789", "0.5e1": "56789", "500E-2": "56789",
		"null": digits, "1e300": digits, "0": "",
	} {
		out, _ := a.run(command("printf", digits).with("outputByteLimit", json.RawMessage(text)))
		if out.Output != want {
			t.Errorf("%s: %q", text, out.Output)
		}
	}
	for _, text := range []string{"5.5", "-1", "-0.5", `"5"`, "true", "{}"} {
		p := command("true").with("outputByteLimit", json.RawMessage(text))
		e := a.refused(wire.MethodCreate, p, ahp.CodeInvalidParams)
		if !strings.Contains(string(e.Data), "outputByteLimit") {
			t.Errorf("%s: %+v", text, e)
		}
	}
}

func TestTheHostsCeilingAppliesAsWell(t *testing.T) {
	t.Parallel()
	a := connect(t, hosttest.New(t), alice)
	for _, limit := range []any{nil, uint64(1) << 60} {
		line := "seq 1 400000; echo END"
		out, _ := a.run(command("sh", "-c", line).with("outputByteLimit", limit))
		whole := strings.HasSuffix(out.Output, "400000\r\nEND\r\n")
		if !out.Truncated || len(out.Output) != MaxOutput || !whole {
			t.Fatalf("%d bytes, truncated %t", len(out.Output), out.Truncated)
		}
	}
}
