package host_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/authz"
	"termhost/ptypool"
)

// killed returns a copy of a host's state folder: what the host leaves behind when it is killed
// now.
func killed(t testing.TB, h *host.Host) string {
	t.Helper()
	for {
		dir := t.TempDir()
		err := os.CopyFS(dir, os.DirFS(host.StateDir(h)))
		if err == nil {
			return dir
		}
		if !errors.Is(err, fs.ErrNotExist) { // the host is still removing a folder
			t.Fatal(err)
		}
	}
}

// after returns a host that is started with the state folder of another one.
func after(t testing.TB, dir string, change ...func(*host.Config)) *host.Host {
	t.Helper()
	return hosttest.New(t, append(change, func(c *host.Config) { c.StateDir = dir })...)
}

func find(t testing.TB, h *host.Host, name string) *host.Terminal {
	t.Helper()
	term, err := hosttest.Find(h, carol, name)
	if err != nil {
		t.Fatal(err)
	}
	return term
}

// logged returns all that `log` and `peek` show of a terminal.
func logged(t testing.TB, h *host.Host, term *host.Terminal) (all struct{ raw, text, json, screen string }) {
	t.Helper()
	c := hosttest.Conn(t, h, carol)
	defer c.Close()
	pieces, _, err := c.LogRaw(term)
	if err != nil {
		t.Fatal(err)
	}
	all.raw = string(bytes.Join(pieces, nil))
	plain, _, err := c.LogText(workOf(t, h, carol), term)
	if err != nil {
		t.Fatal(err)
	}
	log, err := hosttest.Retained(h, carol, term)
	if err != nil {
		t.Fatal(err)
	}
	screen, err := hosttest.Peek(h, carol, term, true)
	if err != nil {
		t.Fatal(err)
	}
	all.text, all.json, all.screen = string(plain), string(log.JSON()), string(screen)
	return all
}

const told = "\x1b]633;A\a$ \x1b]633;E;make all\a\x1b]633;C\amaking\r\n\x1b]633;D;3\a" +
	"\x1b]633;A\a$ \x1b]0;the title\a"

func TestAKilledHostsTerminalsAreListedAsTheyWere(t *testing.T) {
	t.Parallel()
	// What a running program waits for is seen by and by, and a killed one waits for nothing.
	h := hosttest.New(t, func(c *host.Config) { c.NoLookout = true })
	term, err := hosttest.Create(h, carol, host.CreateOptions{Name: "x", Cols: 100, Rows: 30,
		Argv: sh("printf '" + strings.ReplaceAll(told, "\x1b", `\033`) + "'; exec cat")})
	if err != nil {
		t.Fatal(err)
	}
	awaitOutput(t, h, term, "the title")
	want, was := term.Info(carol), logged(t, h, term)
	if want.LastCommand == nil || want.Title != "the title" {
		t.Fatalf("before: %+v", want)
	}

	later := after(t, killed(t, h))
	term = find(t, later, "x")
	got := term.Info(carol)
	code := ptypool.UnknownExit
	want.State, want.ExitCode, want.Ended = host.StateExited, &code, "because the host was restarted"
	want.PrintedAt = time.Time{} // this host has seen nothing printed
	if g, w := asJSON(t, got), asJSON(t, want); g != w {
		t.Errorf("listed as\n%s\nwant\n%s", g, w)
	}
	if !got.CreatedAt.Equal(find(t, h, "x").Info(carol).CreatedAt) {
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
	log, err := hosttest.Retained(later, carol, term)
	list := log.Commands()
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
	h := hosttest.New(t)
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
	h := hosttest.New(t)
	run(t, h, carol, "x", "exec cat")
	if err := hosttest.Dispose(h, carol, find(t, h, "x")); err != nil {
		t.Fatal(err)
	}
	if list, _ := hosttest.List(after(t, killed(t, h)), carol); len(list) > 0 {
		t.Errorf("listed: %v", list)
	}
	if err := h.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Join(host.StateDir(h), "terms"))
	if err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func TestWhatPeopleDidIsThereAfterARestart(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	p := connect(t, h, carol, "c1")
	uri := p.create("x", "/bin/sh", "-c", "echo before; exec cat")
	term := find(t, h, "x")
	awaitOutput(t, h, term, "before")
	for _, a := range []ahp.Action{
		ahp.TerminalTitleChanged{Title: "mine"}, ahp.TerminalResized{Cols: 50, Rows: 10},
		ahp.TerminalClaimed{Claim: ahp.Claim{Kind: ahp.ClaimSession, Session: "agent:/1"}},
		ahp.TerminalCleared{}, ahp.TerminalInput{Data: []byte("after\r")},
	} {
		if why := p.dispatch(uri, a); why != "" {
			t.Fatalf("%s: %s", a.Type(), why)
		}
	}
	awaitOutput(t, h, term, "after\r\nafter")
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
	h := hosttest.New(t)
	run(t, h, carol, "x", "exec cat")
	dir := killed(t, h)
	metas, _ := filepath.Glob(filepath.Join(dir, "terms", "*", "meta"))
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
		if got := find(t, h, "x").EndedBy(); got != "because the machine was restarted" {
			t.Errorf("ended %q", got)
		}
		dir = killed(t, h)
	}
}

// TestACreatorWithAnUnknownRestrictionMayDoNothing: a newer host has written what restricts it.
func TestACreatorWithAnUnknownRestrictionMayDoNothing(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	run(t, h, carol, "x", "exec cat")
	dir := killed(t, h)
	file := filepath.Join(folderOf(t, dir), "meta")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, file, strings.Replace(string(text), `"role":`, `"onlyOnMondays":true,"role":`, 1))
	var log bytes.Buffer
	later := after(t, dir, func(c *host.Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	if got := find(t, later, "x").Creator(); got.Role != authz.NoRole || got.ID != carol.ID {
		t.Errorf("the creator is %+v", got)
	}
	if _, err := later.Connect(find(t, later, "x").Creator(), host.DoorUnix); err == nil {
		t.Error("what runs in it may come in")
	}
	if err := later.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "its rights are not known") {
		t.Errorf("the log says %s", log.String())
	}
}

func TestALongLogEndsAsItDid(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, func(c *host.Config) { c.LogBytes, c.ScrollbackBytes = 1<<20, 256<<10 })
	term := run(t, h, carol, "x", "seq 1 400000; printf '\\033[31mend'; exec cat")
	awaitOutput(t, h, term, "end")
	was := logged(t, h, term)

	dir := killed(t, h)
	var size int64
	files, _ := filepath.Glob(filepath.Join(dir, "terms", "*", "log.*"))
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
	later := after(t, dir, func(c *host.Config) { c.LogBytes, c.ScrollbackBytes = 1<<20, 256<<10 })
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
	if _, truncated, _ := hosttest.Conn(t, later, carol).LogText(workOf(t, later, carol), term); !truncated {
		t.Error("nothing says that the beginning is gone")
	}
}

func TestPositionsGoOn(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, func(c *host.Config) { c.LogBytes, c.ScrollbackBytes = 256<<10, 64<<10 })
	term := run(t, h, carol, "x", "printf '\\033]0;t\\007'; seq 1 100000; exec cat")
	awaitOutput(t, h, term, "100000")
	position := func(h *host.Host, term *host.Terminal) int64 {
		p := connect(t, h, carol, "c")
		p.subscribe(term.URI())
		p.seq++
		p.c.Dispatch(term.URI(), p.seq, ahp.TerminalTitleChanged{Title: "new"})
		return p.answer(p.seq).Position()
	}
	want := position(h, term) + 2 // behind this one and the exit
	seq := h.Stats().ServerSeq
	later := after(t, killed(t, h),
		func(c *host.Config) { c.LogBytes, c.ScrollbackBytes = 256<<10, 64<<10 })
	term = find(t, later, "x")
	if later.Stats().ServerSeq <= seq {
		t.Error("the serverSeq falls")
	}
	if got := position(later, term); got != want {
		t.Errorf("the next position is %d, want %d", got, want)
	}
}

func TestATerminalThatIsSharedIsThereAfterARestart(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	c := connect(t, h, carol, "c1").c
	s, err := c.Share(host.ShareOptions{Name: "x", Pty: true})
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
	if err := hosttest.Dispose(later, carol, term); err != nil {
		t.Error(err)
	}
}

// manyKilled returns the state folder of a killed host with n terminals, each of which has printed
// 1 MiB.
func manyKilled(t testing.TB, n int) string {
	h := hosttest.New(t)
	awaitOutput(t, h, run(t, h, carol, "x", "seq 1 150000; exec cat"), "150000")
	dir := killed(t, h)
	found, _ := filepath.Glob(filepath.Join(dir, "terms", "*"))
	text, err := os.ReadFile(filepath.Join(found[0], "meta"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range n - 1 {
		name := fmt.Sprintf("y-%d", i)
		to := filepath.Join(dir, "terms", name)
		if err := os.CopyFS(to, os.DirFS(found[0])); err != nil {
			t.Fatal(err)
		}
		m := bytes.ReplaceAll(text, []byte(`"ahp-terminal:/x"`), []byte(`"ahp-terminal:/`+name+`"`))
		m = bytes.Replace(m, []byte(`"name":"x"`), []byte(`"name":"`+name+`"`), 1)
		writeFile(t, filepath.Join(to, "meta"), string(m))
	}
	return dir
}

func TestALogIsReadOnlyWhenItIsLookedAt(t *testing.T) {
	t.Parallel()
	h := after(t, manyKilled(t, 3))
	list, err := hosttest.List(h, carol)
	if err != nil || len(list) != 3 {
		t.Fatalf("%d terminals, %v", len(list), err)
	}
	if _, _, err := hosttest.Conn(t, h, carol).LogText(workOf(t, h, carol), find(t, h, "y-0")); err != nil {
		t.Fatal(err)
	}
	for name, read := range map[string]bool{"x": false, "y-0": true, "y-1": false} {
		if got := host.LogRead(find(t, h, name)); got != read {
			t.Errorf("%s: read %v, want %v", name, got, read)
		}
	}
}

// BenchmarkRestart is a start with 500 terminals of 1 MiB each, up to the first list.
func BenchmarkRestart(b *testing.B) {
	dir := manyKilled(b, 500)
	for b.Loop() {
		h := after(b, dir, func(c *host.Config) { c.MaxExited = 1000 })
		if list, _ := hosttest.List(h, carol); len(list) != 500 {
			b.Fatalf("%d terminals", len(list))
		}
		if err := h.Shutdown(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

func TestWhoeverSharedATerminalMaySoAgainAfterARestart(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	s, err := connect(t, h, carol, "c1").c.Share(host.ShareOptions{Name: "x", Pty: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	later := after(t, killed(t, h))
	if _, err := connect(t, later, bot, "c2").c.Share(host.ShareOptions{Name: "x"}); err == nil {
		t.Error("somebody else took its place")
	}
	again, err := connect(t, later, carol, "c1").c.Share(host.ShareOptions{Name: "x", Pty: true})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if list, err := hosttest.List(later, carol); err != nil || len(list) != 1 || list[0].State != host.StateRunning {
		t.Errorf("listed: %v, %v", list, err)
	}
}

// A picture takes cells, whose pixels the log has: without them the output would have other
// positions after a restart.
func TestPicturesAreAsLargeAfterARestartAsBefore(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	const sixels = `\033P0;1q"1;1;200;48#1;2;100;0;0!200~\033\\`
	term, err := hosttest.Create(h, carol, host.CreateOptions{Name: "x", Cols: 100, Rows: 30,
		Pixels: host.Pixels{Width: 1000, Height: 720},
		Argv:   sh("stty -icanon -echo; printf '" + sixels + "one'; head -c 1; printf '" + sixels + "two'; exec cat")})
	hosttest.Check(t, err)
	v := attach(t, h, carol, "x", host.AttachOptions{Cols: 100, Rows: 30,
		Pixels: host.Pixels{Width: 1000, Height: 720}})
	v.shows("one")
	v.a.ResizeTo(100, 30, host.Pixels{Width: 2000, Height: 1440})
	hosttest.Check(t, v.a.Input([]byte("x")))
	v.shows("two")
	was := logged(t, h, term)
	if !strings.Contains(was.screen, "200×48") {
		t.Fatalf("the screen has no picture: %s", was.screen)
	}
	later := after(t, killed(t, h))
	is := logged(t, later, find(t, later, "x"))
	content, _, _ := strings.Cut(is.json, `"lifecycle"`)
	if is.screen != was.screen || !strings.HasPrefix(was.json, content) {
		t.Errorf("the screen is\n%s\nand the content %s\nnot\n%s\nand %s", is.screen, content, was.screen, was.json)
	}
}
