package acp

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/ahp/acp/wire"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
)

// stateDir returns a change of a host's configuration, and the state folder that it sets.
func stateDir(t testing.TB) (dir string, change func(*host.Config)) {
	dir = t.TempDir()
	return dir, func(c *host.Config) { c.StateDir, c.ClientGrace = dir, time.Hour }
}

// killed returns the state folder that a host leaves if it is killed now.
func killed(t testing.TB, dir string) string {
	t.Helper()
	for {
		to := t.TempDir()
		err := os.CopyFS(to, os.DirFS(dir))
		if err == nil {
			return to
		}
		if !errors.Is(err, fs.ErrNotExist) { // the host is replacing a file
			t.Fatal(err)
		}
	}
}

// next returns a host that is started with the state folder that another one has left, and its
// methods.
func next(t testing.TB, dir string, grace time.Duration) (*host.Host, *Methods) {
	t.Helper()
	h := hosttest.New(t, func(c *host.Config) { c.StateDir, c.ClientGrace = dir, grace })
	return h, NewMethods(h, nil)
}

func TestAnAgentFindsItsTerminalsAtTheNextHost(t *testing.T) {
	t.Parallel()
	dir, change := stateDir(t)
	h := hosttest.New(t, change)
	a := joinAs(t, h, NewMethods(h, nil), bot, "c")
	id, name := a.create(command("sh", "-c", `printf 'one €\n'; exit 3`))
	a.wait(id)
	end, _ := a.create(command("sh", "-c", "seq 1 100000").with("outputByteLimit", 10))
	a.wait(end)
	released, _ := a.sh("true")
	a.wait(released)
	a.must(wire.MethodRelease, of(released), nil)
	before := a.output(id)

	h, m := next(t, killed(t, dir), time.Hour)
	for _, stranger := range []*peer{
		joinAs(t, h, m, bot, "another"), joinAs(t, h, m, carol, "c2"), joinAs(t, h, m, alice, "c3"),
	} {
		stranger.refused(wire.MethodOutput, of(id), wire.CodeNoSuchTerminal)
	}
	b := joinAs(t, h, m, bot, "c")
	b.refused(wire.MethodOutput, of(released), wire.CodeNoSuchTerminal)
	b.refused(wire.MethodOutput, of(id).with("sessionId", "other"), wire.CodeNoSuchTerminal)
	wantCode(t, b.wait(id), 3)
	if out := b.output(id); out.Output != before.Output || out.Truncated {
		t.Errorf("the output is %+v, was %+v", out, before)
	}
	if out := b.output(end); out.Output != "\r\n100000\r\n" || !out.Truncated {
		t.Errorf("the end of the output is %+v", out)
	}
	b.must(wire.MethodKill, of(id), nil)
	if _, err := hosttest.Find(h, bot, name); err != nil {
		t.Error(err)
	}
	b.must(wire.MethodRelease, of(id), nil)
	b.refused(wire.MethodWait, of(id), wire.CodeNoSuchTerminal)
}

func TestTheKeyOfACreationFindsItsTerminal(t *testing.T) {
	t.Parallel()
	dir, change := stateDir(t)
	h := hosttest.New(t, change)
	a := joinAs(t, h, NewMethods(h, nil), bot, "c")
	meta := func(key string) params { return params{"termhost": params{"key": key}} }
	for _, bad := range []string{"short", "Upper0000", "with-dash", strings.Repeat("x", 33)} {
		a.refused(wire.MethodCreate, command("true").with("_meta", meta(bad)), -32602)
	}
	const key = "abcdefgh0123"
	id, _ := a.create(command("sh", "-c", "exit 4").with("_meta", meta(key)))
	a.wait(id)
	if !strings.HasSuffix(id, "-"+key) {
		t.Errorf("the id is %q", id)
	}
	h, m := next(t, killed(t, dir), time.Hour)
	b := joinAs(t, h, m, bot, "c")
	var r wire.CreateResult
	b.must(ahp.MethodACPCreated, params{"sessionId": "s", "key": key}, &r)
	if r.TerminalID != id || r.Meta.Termhost.URI == "" {
		t.Errorf("found is %+v", r)
	}
	for _, p := range []params{{"sessionId": "s", "key": "abcdefgh9999"}, {"sessionId": "x", "key": key}} {
		b.refused(ahp.MethodACPCreated, p, wire.CodeNoSuchTerminal)
	}
}

func TestWhatTheLogDoesNotHoldIsTruncated(t *testing.T) {
	t.Parallel()
	dir, change := stateDir(t)
	h := hosttest.New(t, change, func(c *host.Config) { c.LogBytes = 256 << 10 })
	a := joinAs(t, h, NewMethods(h, nil), bot, "c")
	id, _ := a.create(command("seq", "1", "100000"))
	a.wait(id)
	all := a.output(id)
	if all.Truncated {
		t.Fatal("it is truncated before")
	}
	h, m := next(t, killed(t, dir), time.Hour)
	b := joinAs(t, h, m, bot, "c")
	out := b.output(id)
	if !out.Truncated || len(out.Output) < 64<<10 || !strings.HasSuffix(all.Output, out.Output) {
		t.Errorf("there are %d bytes, %t, that begin with %.20q", len(out.Output), out.Truncated,
			out.Output)
	}
}

func TestWhatAnEarlierHostHasLeftIsReleasedInTheEnd(t *testing.T) {
	t.Parallel()
	dir, change := stateDir(t)
	h := hosttest.New(t, change)
	a := joinAs(t, h, NewMethods(h, nil), bot, "c")
	var last string
	for range keepReleased {
		last, _ = a.sh("true")
		a.wait(last)
		a.must(wire.MethodRelease, of(last), nil)
	}
	for range 3 {
		last, _ = a.sh("true")
		a.wait(last)
	}
	h, m := next(t, killed(t, dir), time.Millisecond)
	listed(t, h, keepReleased)
	b := joinAs(t, h, m, bot, "c")
	b.refused(wire.MethodOutput, of(last), wire.CodeNoSuchTerminal)
}

func TestAHostThatEndsLeavesTheTerminalsToTheNext(t *testing.T) {
	t.Parallel()
	dir, change := stateDir(t)
	h := hosttest.New(t, change)
	a := joinAs(t, h, NewMethods(h, nil), bot, "c")
	id, _ := a.sh("echo up; exec sleep 300")
	a.sees(id, func(s string) bool { return s == "up\r\n" })
	done, _ := a.sh("exit 5")
	a.wait(done)
	check(t, h.Shutdown(t.Context()))
	a.leave()
	h, m := next(t, dir, time.Hour)
	b := joinAs(t, h, m, bot, "c")
	wantSignal(t, b.wait(id), "SIGHUP")
	wantCode(t, b.wait(done), 5)
	if out := b.output(id); out.Output != "up\r\n" || out.Truncated {
		t.Errorf("the output is %+v", out)
	}
}
