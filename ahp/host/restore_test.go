package host

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termhost/ahp"
	"termhost/ptypool"
)

// killed returns a copy of a host's state folder: what the host leaves behind when it is killed
// now.
func killed(t testing.TB, h *Host) string {
	t.Helper()
	for {
		dir := t.TempDir()
		err := os.CopyFS(dir, os.DirFS(h.cfg().StateDir))
		if err == nil {
			return dir
		}
		if !errors.Is(err, fs.ErrNotExist) { // the host is still removing a folder
			t.Fatal(err)
		}
	}
}

// after returns a host that is started with the state folder of another one.
func after(t testing.TB, dir string, change ...func(*Config)) *Host {
	t.Helper()
	return newHost(t, append(change, func(c *Config) { c.StateDir = dir })...)
}

func find(t testing.TB, h *Host, name string) *Terminal {
	t.Helper()
	term, err := h.Find(carol, name)
	if err != nil {
		t.Fatal(err)
	}
	return term
}

// logged returns all that `log` and `peek` show of a terminal.
func logged(t testing.TB, h *Host, term *Terminal) (all struct{ raw, text, json, screen string }) {
	t.Helper()
	pieces, _, err := h.LogRaw(carol, term)
	if err != nil {
		t.Fatal(err)
	}
	all.raw = string(bytes.Join(pieces, nil))
	plain, _, err := h.LogText(carol, term)
	if err != nil {
		t.Fatal(err)
	}
	state, _, err := h.LogJSON(carol, term)
	if err != nil {
		t.Fatal(err)
	}
	screen, err := h.Peek(carol, term, true)
	if err != nil {
		t.Fatal(err)
	}
	all.text, all.json, all.screen = string(plain), string(state), string(screen)
	return all
}

const told = "\x1b]633;A\a$ \x1b]633;E;make all\a\x1b]633;C\amaking\r\n\x1b]633;D;3\a" +
	"\x1b]633;A\a$ \x1b]0;the title\a"

func TestAKilledHostsTerminalsAreListedAsTheyWere(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	term, err := h.Create(carol, CreateOptions{Name: "x", Cols: 100, Rows: 30,
		Argv: sh("printf '" + strings.ReplaceAll(told, "\x1b", `\033`) + "'; exec cat")})
	if err != nil {
		t.Fatal(err)
	}
	term.awaitOutput(t, "the title")
	want, was := term.Info(carol), logged(t, h, term)
	if want.LastCommand == nil || want.Title != "the title" {
		t.Fatalf("before: %+v", want)
	}

	later := after(t, killed(t, h))
	term = find(t, later, "x")
	got := term.Info(carol)
	code := ptypool.UnknownExit
	want.State, want.ExitCode, want.Ended = StateExited, &code, endedWithHost
	if g, w := asJSON(t, got), asJSON(t, want); g != w {
		t.Errorf("listed as\n%s\nwant\n%s", g, w)
	}
	if !term.created.Equal(find(t, h, "x").created) || term.created.UnixNano() != find(t, h, "x").created.UnixNano() {
		t.Error("it was made at another time")
	}
	if term.Creator() != carol {
		t.Errorf("made by %+v", term.Creator())
	}
	is := logged(t, later, term)
	if is.raw != was.raw || is.text != was.text || is.screen != was.screen {
		t.Errorf("shows\n%q\nwant\n%q", is, was)
	}
	if got := term.Info(carol); asJSON(t, got) != asJSON(t, want) {
		t.Errorf("once read it is listed as\n%s\nwant\n%s", asJSON(t, got), asJSON(t, want))
	}
	list, _, err := later.LogCommands(carol, term)
	if err != nil || len(list) != 1 || *list[0].ExitCode != 3 {
		t.Errorf("commands %s, %v", asJSON(t, list), err)
	}
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestWhatHasExitedKeepsItsStatus(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	term := run(t, h, carol, "x", "echo hello; exit 7")
	wait(t, "the exit", term.Done())
	was, exitedAt := logged(t, h, term), term.ExitedAt()
	dir := killed(t, h)
	for range 2 {
		h := after(t, dir)
		term := find(t, h, "x")
		if st, ok := term.Exit(); !ok || st.Code != 7 || term.EndedBy() != "" {
			t.Errorf("ended with %v, %v %q", st, ok, term.EndedBy())
		}
		if !term.ExitedAt().Equal(exitedAt) {
			t.Errorf("ended at %v, not %v", term.ExitedAt(), exitedAt)
		}
		if is := logged(t, h, term); is != was {
			t.Errorf("shows\n%q\nwant\n%q", is, was)
		}
		dir = killed(t, h)
	}
}

func TestARemovedTerminalStaysAway(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	run(t, h, carol, "x", "exec cat")
	if err := h.DisposeNamed(carol, "x"); err != nil {
		t.Fatal(err)
	}
	if list, _ := after(t, killed(t, h)).List(carol); len(list) > 0 {
		t.Errorf("listed: %v", list)
	}
	if err := h.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Join(h.cfg().StateDir, termsDir))
	if err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func TestWhatPeopleDidIsThereAfterARestart(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	p := connect(t, h, carol, "c1")
	uri := p.create("x", "/bin/sh", "-c", "echo before; exec cat")
	term := find(t, h, "x")
	term.awaitOutput(t, "before")
	for _, a := range []ahp.Action{
		ahp.TerminalTitleChanged{Title: "mine"}, ahp.TerminalResized{Cols: 50, Rows: 10},
		ahp.TerminalClaimed{Claim: ahp.Claim{Kind: ahp.ClaimSession, Session: "agent:/1"}},
		ahp.TerminalCleared{}, ahp.TerminalInput{Data: []byte("after\r")},
	} {
		if why := p.dispatch(uri, a); why != "" {
			t.Fatalf("%s: %s", a.Type(), why)
		}
	}
	term.awaitOutput(t, "after\r\nafter")
	want, was := term.Info(carol), logged(t, h, term)

	later := after(t, killed(t, h))
	term = find(t, later, "x")
	got := term.Info(carol)
	if got.Title != "mine" || got.Cols != 50 || got.Claim != want.Claim || got.Holder != want.Holder {
		t.Errorf("listed as %+v, before %+v", got, want)
	}
	if is := logged(t, later, term); is.raw != was.raw || is.screen != was.screen {
		t.Errorf("shows\n%q\nwant\n%q", is, was)
	}
}

func TestAfterABootTheMachineIsToBlame(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	run(t, h, carol, "x", "exec cat")
	dir := killed(t, h)
	metas, _ := filepath.Glob(filepath.Join(dir, termsDir, "*", metaFile))
	text, err := os.ReadFile(metas[0])
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte(`"boot":"`), []byte(`"boot":"another `), 1)
	if err := os.WriteFile(metas[0], text, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		h := after(t, dir)
		if got := find(t, h, "x").EndedBy(); got != endedWithMachine {
			t.Errorf("ended %q", got)
		}
		dir = killed(t, h)
	}
}

func TestALongLogEndsAsItDid(t *testing.T) {
	t.Parallel()
	h := newHost(t, func(c *Config) { c.LogBytes, c.ScrollbackBytes = 1<<20, 256<<10 })
	term := run(t, h, carol, "x", "seq 1 400000; printf '\\033[31mend'; exec cat")
	term.awaitOutput(t, "end")
	was := logged(t, h, term)

	dir := killed(t, h)
	var size int64
	files, _ := filepath.Glob(filepath.Join(dir, termsDir, "*", "log.*"))
	for _, f := range files {
		st, err := os.Stat(f)
		if err != nil {
			t.Fatal(err)
		}
		size += st.Size()
	}
	if size > 1<<20 || size < 1<<19 {
		t.Errorf("the log takes %d bytes", size)
	}
	later := after(t, dir, func(c *Config) { c.LogBytes, c.ScrollbackBytes = 1<<20, 256<<10 })
	term = find(t, later, "x")
	is := logged(t, later, term)
	if is.screen != was.screen {
		t.Errorf("the screen is\n%q\nwant\n%q", is.screen, was.screen)
	}
	tail := func(s string) string { return s[len(s)-150<<10:] }
	if len(is.raw) < 150<<10 || tail(is.raw) != tail(was.raw) {
		t.Errorf("%d bytes, which do not end as the %d before", len(is.raw), len(was.raw))
	}
	if tail(is.text) != tail(was.text) {
		t.Error("the text does not end as before")
	}
	if _, truncated, _ := later.LogText(carol, term); !truncated {
		t.Error("nothing says that the beginning is gone")
	}
}

func TestPositionsGoOn(t *testing.T) {
	t.Parallel()
	h := newHost(t, func(c *Config) { c.LogBytes, c.ScrollbackBytes = 256<<10, 64<<10 })
	term := run(t, h, carol, "x", "printf '\\033]0;t\\007'; seq 1 100000; exec cat")
	term.awaitOutput(t, "100000")
	seq, want := h.store.Seq(), term.ch.Position()
	later := after(t, killed(t, h),
		func(c *Config) { c.LogBytes, c.ScrollbackBytes = 256<<10, 64<<10 })
	term = find(t, later, "x")
	term.load()
	if got := term.ch.Position(); got != want+1 { // for the exit
		t.Errorf("the next position is %d, want %d", got, want+1)
	}
	if later.store.Seq() <= seq {
		t.Error("the serverSeq falls")
	}
}

func TestATerminalThatIsSharedIsThereAfterARestart(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	c := connect(t, h, carol, "c1").c
	s, err := c.Share(ShareOptions{Name: "x", Pty: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Output(t.Context(), []byte("shared\r\n")); err != nil {
		t.Fatal(err)
	}
	was := logged(t, h, s.Terminal())
	later := after(t, killed(t, h))
	term := find(t, later, "x")
	if is := logged(t, later, term); is.raw != was.raw || !term.Client() {
		t.Errorf("shows %q, want %q", is.raw, was.raw)
	}
	if err := later.Dispose(carol, term); err != nil {
		t.Error(err)
	}
}

// manyKilled returns the state folder of a killed host with n terminals, each of which has printed
// 1 MiB.
func manyKilled(t testing.TB, n int) string {
	h := newHost(t)
	run(t, h, carol, "x", "seq 1 150000; exec cat").awaitOutput(t, "150000")
	dir := killed(t, h)
	found, _ := filepath.Glob(filepath.Join(dir, termsDir, "*"))
	text, err := os.ReadFile(filepath.Join(found[0], metaFile))
	if err != nil {
		t.Fatal(err)
	}
	for i := range n - 1 {
		name := fmt.Sprintf("y-%d", i)
		to := filepath.Join(dir, termsDir, name)
		if err := os.CopyFS(to, os.DirFS(found[0])); err != nil {
			t.Fatal(err)
		}
		m := bytes.ReplaceAll(text, []byte(`"ahp-terminal:/x"`), []byte(`"ahp-terminal:/`+name+`"`))
		m = bytes.Replace(m, []byte(`"name":"x"`), []byte(`"name":"`+name+`"`), 1)
		writeFile(t, filepath.Join(to, metaFile), string(m))
	}
	return dir
}

func TestALogIsReadOnlyWhenItIsLookedAt(t *testing.T) {
	t.Parallel()
	h := after(t, manyKilled(t, 3))
	list, err := h.List(carol)
	if err != nil || len(list) != 3 {
		t.Fatalf("%d terminals, %v", len(list), err)
	}
	if _, _, err := h.LogText(carol, find(t, h, "y-0")); err != nil {
		t.Fatal(err)
	}
	for name, read := range map[string]bool{"x": false, "y-0": true, "y-1": false} {
		if got := find(t, h, name).past.Load() == nil; got != read {
			t.Errorf("%s: read %v, want %v", name, got, read)
		}
	}
}

// BenchmarkRestart is a start with 500 terminals of 1 MiB each, up to the first list.
func BenchmarkRestart(b *testing.B) {
	dir := manyKilled(b, 500)
	for b.Loop() {
		h := after(b, dir, func(c *Config) { c.MaxExited = 1000 })
		if list, _ := h.List(carol); len(list) != 500 {
			b.Fatalf("%d terminals", len(list))
		}
		if err := h.Shutdown(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

func TestWhoeverSharedATerminalMaySoAgainAfterARestart(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	s, err := connect(t, h, carol, "c1").c.Share(ShareOptions{Name: "x", Pty: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	later := after(t, killed(t, h))
	if _, err := connect(t, later, bot, "c2").c.Share(ShareOptions{Name: "x"}); err == nil {
		t.Error("somebody else took its place")
	}
	again, err := connect(t, later, carol, "c1").c.Share(ShareOptions{Name: "x", Pty: true})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if list, err := later.List(carol); err != nil || len(list) != 1 || list[0].State != StateRunning {
		t.Errorf("listed: %v, %v", list, err)
	}
}
