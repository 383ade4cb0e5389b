package host_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/store"
	"termhost/authz"
)

func TestTheRootListFollowsEverything(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	p, admin := connect(t, h, carol, "c"), connect(t, h, alice, "a")
	p.follow("ahp-root:")
	info := func(what string, want func(ahp.TerminalInfo) bool) {
		t.Helper()
		p.until(what, func(e *store.Entry) bool {
			l, ok := e.Action().(ahp.RootTerminalsChanged)
			return ok && len(l.Terminals) == 1 && want(l.Terminals[0])
		})
	}
	uri := p.create("x", "/bin/cat")
	info("its creation", func(i ahp.TerminalInfo) bool {
		return i.Resource == uri &&
			i.Title == "x" && i.Claim.ClientID == "c"
	})
	p.dispatch(uri, ahp.TerminalTitleChanged{Title: "y"})
	info("its title", func(i ahp.TerminalInfo) bool { return i.Title == "y" })
	admin.claim(uri, "a")
	info("its claim", func(i ahp.TerminalInfo) bool { return i.Claim.ClientID == "a" })
	admin.dispatch(uri, ahp.TerminalInput{Data: []byte("\x04")})
	info("its exit", func(i ahp.TerminalInfo) bool { return i.Exited && *i.ExitCode == 0 })
}

func TestFind(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	for _, name := range []string{"build", "builder", "web", "x1"} {
		run(t, h, carol, name, "exec cat")
	}
	titled, err := hosttest.Create(h, carol,
		host.CreateOptions{Name: "shell", Title: "Logs of today", Argv: []string{"/bin/cat"}})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"build": "build", "builde": "builder", "w": "web", "Logs": "shell", "shell": "shell",
	} {
		term, err := hosttest.Conn(t, h, eve).FindBegun(name)
		if err != nil || term.Name() != want {
			t.Errorf("%q: %v %v", name, term, err)
		}
		// What only begins so, or has such a title, is not what is named.
		if term, err := hosttest.Find(h, eve, name); (err == nil) != (name == want) {
			t.Errorf("%q finds %v, %v", name, term, err)
		}
	}
	var missing *host.NotFoundError
	if _, err := hosttest.Conn(t, h, eve).FindBegun("bui"); !errors.As(err, &missing) ||
		strings.Join(missing.Candidates, " ") != "build builder" {
		t.Errorf("an ambiguous prefix: %v", err)
	}
	for _, name := range []string{"", "none", "\x1b[31m"} {
		if _, err := hosttest.Find(h, eve, name); !errors.As(err, &missing) ||
			strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%q: %v", name, err)
		}
	}
	var denied *authz.Denied
	forced := carol
	forced.ID, forced.Command = "SHA256:forced", "date"
	if _, err := hosttest.Find(h, forced, "web"); !errors.As(err, &denied) {
		t.Errorf("a key with a forced command finds: %v", err)
	}
	if _, err := hosttest.List(h, forced); !errors.As(err, &denied) {
		t.Errorf("a key with a forced command lists: %v", err)
	}
	if titled.Info(eve).Mine {
		t.Error("it is eve's")
	}
}

func TestLastUsed(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	if hosttest.Conn(t, h, carol).LastUsed() != nil {
		t.Error("there is one where there is none")
	}
	first := run(t, h, carol, "first", "exec cat")
	if hosttest.Conn(t, h, eve).LastUsed() != first {
		t.Error("the only one there is")
	}
	second := run(t, h, carol, "second", "exec cat")
	if hosttest.Conn(t, h, eve).LastUsed() != nil {
		t.Error("somebody else's")
	}
	if hosttest.Conn(t, h, carol).LastUsed() != second {
		t.Error("not the newest")
	}
	attach(t, h, carol, "first", host.AttachOptions{}).a.Close()
	if hosttest.Conn(t, h, carol).LastUsed() != first {
		t.Error("not the last used")
	}
	if err := hosttest.Dispose(h, carol, first); err != nil {
		t.Fatal(err)
	}
	if hosttest.Conn(t, h, carol).LastUsed() != second {
		t.Error("not the newest after the last used went")
	}
	attach(t, h, carol, "second", host.AttachOptions{}).a.Close()
	third := run(t, h, bot, "third", "exec cat")
	if got := attach(t, h, alice, "third", host.AttachOptions{}); got.a.Claim() != nil ||
		hosttest.Conn(t, h, alice).LastUsed() != third {
		t.Error("not the one that alice has taken")
	}
	if err := attach(t, h, carol, "second", host.AttachOptions{}).a.Input([]byte("\x04")); err != nil {
		t.Fatal(err)
	}
	wait(t, "exit", second.Done())
	if hosttest.Conn(t, h, carol).LastUsed() != second {
		t.Error("the last used has exited, and there is no other")
	}
}

func TestListingsHoldNoControlCharacters(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, func(c *host.Config) { c.ShellIntegration = true; c.Shell = "/bin/bash" })
	term := run(t, h, carol, "x",
		`printf '\033]0;a\033[31mb\007\033]0;\302\233c\007\033]7;file:///a\001b\007done'`)
	wait(t, "exit", term.Done())
	infos, err := hosttest.List(h, carol)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range infos {
		for _, s := range []string{i.Title, i.Cwd, i.Holder} {
			if s != host.Printable(s) {
				t.Errorf("%q", s)
			}
		}
	}
}

func TestStats(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	c := connect(t, h, carol, "c")
	c.create("a", "/bin/cat")
	wait(t, "exit", run(t, h, carol, "b", "exit 0").Done())
	attach(t, h, carol, "a", host.AttachOptions{})
	st := h.Stats()
	if st.Terminals != 1 || st.Exited != 1 || st.Connections[host.DoorWebSocket] != 1 ||
		st.Connections[host.DoorSSH] != 1 || st.Clients != 2 || st.ServerSeq == 0 {
		t.Errorf("%+v", st)
	}
}

func TestAFreshNameIsNeverAnothers(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	run := func(fresh bool) *host.Terminal {
		t.Helper()
		term, err := hosttest.Create(h, alice, host.CreateOptions{Argv: []string{"true"}, Fresh: fresh})
		if err != nil {
			t.Fatal(err)
		}
		<-term.Done()
		return term
	}
	seen := map[string]bool{}
	for range 3 {
		term := run(true)
		if seen[term.Name()] {
			t.Fatalf("%s is there again", term.Name())
		}
		seen[term.Name()] = true
		dispose(t, h, term)
	}
	if term := run(false); seen[term.Name()] {
		t.Errorf("a terminal of a person's is called %s", term.Name())
	}
}

func TestATerminalIsFoundExactlyByItsURI(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	for _, name := range []string{"sleep-10", "sleep-2"} {
		if _, err := hosttest.Create(h, alice, host.CreateOptions{Name: name, Argv: []string{"cat"}}); err != nil {
			t.Fatal(err)
		}
	}
	if term, err := hosttest.Conn(t, h, alice).FindBegun("sleep-1"); err != nil || term.Name() != "sleep-10" {
		t.Errorf("a prefix: %v", err)
	}
	if term, err := hosttest.Find(h, alice, "ahp-terminal:/sleep-2"); err != nil || term.Name() != "sleep-2" {
		t.Errorf("a URI: %v", err)
	}
	for _, name := range []string{"ahp-terminal:/sleep-1", "ahp-terminal:/", "ahp-terminal:/sleep-"} {
		if term, err := hosttest.Find(h, alice, name); err == nil {
			t.Errorf("%s is taken for %s", name, term.Name())
		}
	}
}

// A client-executed terminal may have ended without anybody knowing how.
func TestAnUnknownExitCodeIsListedAsSuch(t *testing.T) {
	t.Parallel()
	info := host.Info{Name: "laptop", State: host.StateExited, Executor: ahp.ExecutorClient}
	b, err := json.Marshal([]host.Info{info})
	if err != nil || strings.Contains(string(b), "exitCode") ||
		!strings.Contains(string(b), `"state":"exited"`) {
		t.Errorf("%s, %v", b, err)
	}
}
