package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"termhost/ahp/hosttest"
	"termhost/cmd/termhost/bench"
)

// outlived is what the upgrade of a host must leave as it is, of a line of `ls --json`. Later versions
// may list more.
type outlived struct {
	Name, URI, Title, State, Executor, CreatedAt string
	ExitCode                                     *int
	Cols, Rows                                   int
	IsPty, Guarded                               bool
	Claim                                        map[string]string
}

func listAll(t *testing.T, do verbRunner) map[string]outlived {
	t.Helper()
	var list []outlived
	if err := json.Unmarshal([]byte(do("ls", "--all", "--json")), &list); err != nil {
		t.Fatal(err)
	}
	all := map[string]outlived{}
	for _, l := range list {
		all[l.Name] = l
	}
	return all
}

// TestAStateFolderOfFormat1IsTakenOver starts a host on what one of an earlier version has left when
// it and its keeper were killed, before the machine restarted. While format 1 is read, so is this.
func TestAStateFolderOfFormat1IsTakenOver(t *testing.T) {
	t.Parallel()
	start, state, do := keptHost(t, "\nterminal.exited_ttl = \"0s\"\n")
	if err := os.CopyFS(state, os.DirFS("testdata/state-format-1")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(state, 0o700); err != nil {
		t.Fatal(err)
	}
	start()
	all := listAll(t, do)
	for name, want := range map[string]struct {
		uri, log string
		code     int
		guarded  bool
	}{
		"made":  {"ahp-terminal:/build", "compiling\nresult: ok\n", 3, false},
		"shell": {"ahp-terminal:/shell", "ready\nmore\ngot more\n", -1, true},
		"taped": {"ahp-terminal:/taped", "on tape\n", 0, false},
	} {
		got := all[name]
		if got.URI != want.uri || got.State != "exited" || got.ExitCode == nil ||
			*got.ExitCode != want.code || got.Guarded != want.guarded || got.Cols != 80 ||
			!strings.HasPrefix(got.CreatedAt, "2026-11-23T10:06:47.") {
			t.Errorf("%s is %+v", name, got)
		}
		if log := do("log", name); log != want.log {
			t.Errorf("the log of %s is %q, want %q", name, log, want.log)
		}
	}
	if len(all) != 3 {
		t.Errorf("there are %v", all)
	}
	if tape := do("cast", "taped-20261123T100647"); !strings.Contains(tape, "on tape") {
		t.Errorf("the recording is %q", tape)
	}
	if left, err := filepath.Glob(filepath.Join(state, "*/*.damaged")); err != nil || left != nil {
		t.Errorf("set aside: %q, %v", left, err)
	}
}

// TestUpgradeFromTheLastRelease has this host take over from the last release, with shells running
// under that one's keeper, and then takes the host one step back. Without a tag there is no release
// to build; TERMHOST_UPGRADE_FROM names any commit in its place.
func TestUpgradeFromTheLastRelease(t *testing.T) {
	slow(t)
	old := lastRelease(t)
	for _, how := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		t.Run(how.String(), func(t *testing.T) { testUpgrade(t, old, how) })
	}
}

func testUpgrade(t *testing.T, old string, how syscall.Signal) {
	serve, state, do := keptHosts(t, "")
	start := func(program string) *bench.Host {
		t.Helper()
		h, err := serve(program)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	h := start(old)
	done := filepath.Join(t.TempDir(), "done")
	do("new", "-d", "-n", "shell", "--", "sh", "-c",
		"echo pid=$$; while read x; do echo got $x; done; exit 7")
	do("new", "-d", "-n", "meanwhile", "--", "sh", "-c",
		"until test -e "+done+"; do sleep 0.05; done; echo bye; exit 5")
	do("new", "-d", "-n", "past", "--", "sh", "-c", "echo past; exit 3")
	do("guard", "shell", "on")
	do("rename", "past", "gone-by")
	pid := printedPid(t, do, "shell")
	hosttest.Eventually(t, "one has ended", func() bool {
		return strings.Contains(do("ls"), "exited 3")
	})
	before, log := listAll(t, do), do("log", "shell")
	keeper := keepersOf(t, state)[0]

	_ = h.Stop(how)
	writeFile(t, done, "")
	hosttest.Eventually(t, "the program ends that does so meanwhile", func() bool {
		return len(childrenOf(t, keeper)) == 1
	})
	h = start("termhost")
	after := listAll(t, do)
	for _, name := range []string{"shell", "gone-by"} {
		if !reflect.DeepEqual(before[name], after[name]) {
			t.Errorf("%s is %+v, was %+v", name, after[name], before[name])
		}
	}
	if m := after["meanwhile"]; m.ExitCode == nil || *m.ExitCode != 5 {
		t.Errorf("the one that has ended meanwhile is %+v", m)
	}
	if got := do("log", "shell"); got != log {
		t.Errorf("the log is %q, was %q", got, log)
	}
	if got := do("log", "meanwhile"); got != "bye\n" {
		t.Errorf("meanwhile it has printed %q", got)
	}
	do("send", "--enter", "shell", "more")
	do("wait", "--match", "got more", "shell")
	if now := keepersOf(t, state); len(now) != 1 || now[0] != keeper {
		t.Errorf("the keepers are %v, %d before", now, keeper)
	}

	// One step back.
	_ = h.Stop(syscall.SIGTERM)
	if back, err := serve(old); err == nil {
		do("send", "--enter", "shell", "again")
		do("wait", "--match", "got again", "shell")
		_ = back.Stop(syscall.SIGTERM)
	} else if !strings.Contains(err.Error(), "newer") && !strings.Contains(err.Error(), "version") {
		t.Errorf("the last release says neither that something is newer nor its version: %v", err)
	}
	if !alive(pid) {
		t.Fatal("the shell has ended")
	}

	start("termhost")
	do("send", "--key", "ctrl-d", "shell")
	hosttest.Eventually(t, "the exit is seen", func() bool {
		return strings.Contains(do("ls"), "exited 7")
	})
}

// lastRelease builds the newest release that the commit has behind it, and returns the program.
func lastRelease(t *testing.T) (program string) {
	t.Helper()
	from := os.Getenv("TERMHOST_UPGRADE_FROM")
	if from == "" {
		tag, err := git("describe", "--tags", "--match", "v[0-9]*", "--abbrev=0", "HEAD^").Output()
		if err != nil {
			t.Skip("SKIPPED: git knows no tag of a release before this commit")
		}
		from = strings.TrimSpace(string(tag))
	}
	dir := t.TempDir()
	archive := filepath.Join(dir, "release.tar")
	program = filepath.Join(dir, "termhost")
	build := exec.Command("go", "build", "-buildvcs=false", "-ldflags", "-X main.release="+from,
		"-o", program, "./cmd/termhost")
	build.Dir = filepath.Join(dir, "src")
	if err := os.Mkdir(build.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, cmd := range []*exec.Cmd{
		git("archive", "-o", archive, from), exec.Command("tar", "-xf", archive, "-C", build.Dir), build,
	} {
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v: %s", cmd.Args, err, out)
		}
	}
	t.Logf("the last release is %s", from)
	return program
}

// git returns a git command in the repository, which may belong to another user.
func git(args ...string) *exec.Cmd {
	root, err := filepath.Abs(moduleRoot)
	if err != nil {
		panic(err) // the working folder is gone
	}
	return exec.Command("git", append([]string{"-C", root, "-c", "safe.directory=" + root}, args...)...)
}
