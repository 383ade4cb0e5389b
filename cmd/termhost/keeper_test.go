package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/cmd/termhost/bench"
	"termhost/ptypool/keeper"
)

// keepersOf returns the process ids of the keepers of a state folder.
func keepersOf(t *testing.T, stateDir string) (pids []int) {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		line, _ := os.ReadFile(filepath.Join(dir, "cmdline")) // it may have ended
		want := "\x00keeper\x00-dir\x00" + filepath.Join(stateDir, "keeper") + "\x00"
		if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil &&
			strings.HasSuffix(string(line), want) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// verbRunner runs a local verb and returns what it prints. It fails the test if the verb fails.
type verbRunner func(args ...string) string

// keptHost starts a host and returns it with its state folder. do runs a local verb.
func keptHost(t testing.TB, more string) (start func() *bench.Host, state string, do verbRunner) {
	t.Helper()
	serve, state, do := keptHosts(t, more)
	start = func() *bench.Host {
		h, err := serve("termhost")
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	return start, state, do
}

// keptHosts is keptHost for hosts of several versions. serve runs a program; where that does not
// serve, the error has what the programs have logged.
func keptHosts(t testing.TB, more string) (
	serve func(program string) (*bench.Host, error), state string, do verbRunner,
) {
	t.Helper()
	dir := hosttest.Dir(t)
	file := filepath.Join(dir, "c.toml")
	config := hosttest.OwnedConfig(t.Name(), bench.Config(dir)+more)
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "HOME="+dir, "XDG_STATE_HOME=", slowtest.Owner(t))
	log := hosttest.LogFile(t)
	serve = func(program string) (*bench.Host, error) {
		h, err := bench.StartHost(program, file, env, log)
		if err != nil {
			text, _ := os.ReadFile(log.Name()) // for people
			return nil, fmt.Errorf("%w: %s", err, text)
		}
		t.Cleanup(h.Kill)
		return h, nil
	}
	return serve, filepath.Join(dir, ".local/state/termhost"), localVerbs(t, env, file)
}

// localVerbs returns what runs commands with an environment and a configuration.
func localVerbs(t testing.TB, env []string, file string) verbRunner {
	return func(args ...string) string {
		t.Helper()
		args = append([]string{args[0], "-c", file}, args[1:]...)
		cmd := exec.Command("termhost", args...)
		cmd.Env = env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%q: %v: %s", args, err, out)
		}
		return string(out)
	}
}

// printedPid returns the number that a terminal's program prints behind "pid=".
func printedPid(t *testing.T, do verbRunner, name string) int {
	t.Helper()
	line := regexp.MustCompile(`pid=(\d+)\n`)
	var found []string
	hosttest.Eventually(t, name+" prints its pid", func() bool {
		found = line.FindStringSubmatch(do("log", name))
		return found != nil
	})
	pid, err := strconv.Atoi(found[1])
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// alive reports whether a process runs. One that has ended may be there until somebody collects its
// status, which is the system's affair for orphans.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

func TestTheKeeperIsTheParentOfShellsAndEndsWithTheHost(t *testing.T) {
	t.Parallel()
	start, state, do := keptHost(t, "")
	h := start()
	keepers := keepersOf(t, state)
	if len(keepers) != 1 {
		t.Fatalf("there are the keepers %v", keepers)
	}
	if got := do("run", "--", "sh", "-c", "echo $PPID"); got != fmt.Sprintln(keepers[0]) {
		t.Errorf("a program's parent is %q, the keeper %v", got, keepers)
	}
	do("new", "-d", "-n", "a", "--", "sleep", "1234")
	if err := h.Stop(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	hosttest.Eventually(t, "the keeper ends with the host", func() bool { return !alive(keepers[0]) })
	if left, err := os.ReadFile(filepath.Join(state, "keeper/log")); err != nil || len(left) > 0 {
		t.Errorf("the keeper says %s, %v", left, err)
	}
}

func TestWithoutKeepTheHostIsTheParent(t *testing.T) {
	t.Parallel()
	start, state, do := keptHost(t, "\nterminal.keep = false\n")
	h := start()
	if got := do("run", "--", "sh", "-c", "echo $PPID"); got != fmt.Sprintln(h.Cmd.Process.Pid) {
		t.Errorf("a program's parent is %q, the host %d", got, h.Cmd.Process.Pid)
	}
	if keepers := keepersOf(t, state); len(keepers) > 0 {
		t.Errorf("there are the keepers %v", keepers)
	}
	do("new", "-d", "-n", "a", "--", "sleep", "1234")
	if err := h.Stop(syscall.SIGTERM); err != nil || !strings.Contains(h.Farewell, "ending 1 ter") {
		t.Errorf("it ends with %v, and says %q", err, h.Farewell)
	}
	start()
	if got := do("ls"); !strings.Contains(got, "exited 129") {
		t.Errorf("listed: %s", got)
	}
}

func TestTerminalsOutliveTheKeeper(t *testing.T) {
	t.Parallel()
	start, state, do := keptHost(t, "")
	start()
	do("new", "-d", "-n", "a", "--", "sh", "-c", "echo up; read x; echo got $x; sleep 1234")
	do("wait", "--match", "up", "a")
	keeper := keepersOf(t, state)[0]
	if err := syscall.Kill(keeper, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	hosttest.Eventually(t, "the keeper is gone", func() bool { return !alive(keeper) })
	do("send", "--enter", "a", "more")
	do("wait", "--match", "got more", "a")
	if got := do("run", "--", "sh", "-c", "echo $PPID"); got == fmt.Sprintln(keeper) {
		t.Error("no other keeper was started")
	}
	do("rm", "a")
	if got := do("ls"); strings.Contains(got, "running") {
		t.Errorf("rm leaves %s", got)
	}
}

// TestARunningShellSurvivesTheHost: a program that has been started under one host goes on under
// the next, whatever has ended the first.
func TestARunningShellSurvivesTheHost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, config string
		how          syscall.Signal
	}{
		{"SIGKILL", "", syscall.SIGKILL},
		{"SIGTERM", "", syscall.SIGTERM},
		{"in memory", "\nterminal.persist = false\n", syscall.SIGKILL},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			how := c.how
			start, state, do := keptHost(t, c.config)
			h := start()
			do("new", "-d", "-n", "a", "--", "sh", "-c",
				"echo pid=$$; while read x; do echo got $x; done; exit 7")
			do("wait", "--match", "pid=", "a")
			dead := filepath.Join(t.TempDir(), "dead")
			do("new", "-d", "-n", "b", "--", "sh", "-c",
				"until test -e "+dead+"; do sleep 0.05; done; echo bye; exit 5")
			before := do("log", "a")
			keeper := keepersOf(t, state)[0]
			_ = h.Stop(how)
			if said := h.Farewell; how == syscall.SIGTERM &&
				!strings.Contains(said, "2 terminals go on with the keeper") {
				t.Errorf("it says %q", said)
			}
			if err := os.WriteFile(dead, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			hosttest.Eventually(t, "the program is gone that ends meanwhile", func() bool {
				return len(childrenOf(t, keeper)) == 1
			})
			start()
			if got := do("log", "a"); got != before {
				t.Errorf("the log is %q, was %q", got, before)
			}
			if got := do("ls"); !strings.Contains(got, "exited 5") {
				t.Errorf("listed: %s", got)
			}
			if got := do("log", "b"); got != "bye\n" {
				t.Errorf("the log of the other one is %q", got)
			}
			do("send", "--enter", "a", "more")
			do("wait", "--match", "got more", "a")
			do("send", "--key", "ctrl-d", "a")
			hosttest.Eventually(t, "the exit is seen", func() bool {
				return strings.Contains(do("ls"), "exited 7")
			})
			if now := keepersOf(t, state); len(now) != 1 || now[0] != keeper {
				t.Errorf("the keepers are %v, %d before", now, keeper)
			}
			logs, err := filepath.Glob(filepath.Join(state, "terms/*/log.*"))
			if err != nil || (len(logs) == 0) != (c.config != "") {
				t.Errorf("on disk are the logs %q, %v", logs, err)
			}
		})
	}
}

// TestAnExitIsKnownThoughTheKeeperThatSawItIsGone: a program has ended while there was no host, and
// nobody has its log any more, which was in memory.
func TestAnExitIsKnownThoughTheKeeperThatSawItIsGone(t *testing.T) {
	t.Parallel()
	start, state, do := keptHost(t, "\nterminal.persist = false\n")
	h := start()
	dead := filepath.Join(t.TempDir(), "dead")
	do("new", "-d", "-n", "a", "--", "sh", "-c",
		"until test -e "+dead+"; do sleep 0.05; done; exit 5")
	do("new", "-d", "-n", "b", "--", "sh", "-c", "exit 6") // this one ends under the host
	hosttest.Eventually(t, "the other one ends", func() bool {
		return strings.Contains(do("ls"), "exited 6")
	})
	keeper := keepersOf(t, state)[0]
	_ = h.Stop(syscall.SIGKILL)
	if err := os.WriteFile(dead, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	hosttest.Eventually(t, "the keeper notes how it ended", func() bool {
		files, err := filepath.Glob(filepath.Join(state, "terms/*/exit"))
		return err == nil && len(files) == 2
	})
	// It would end by itself, ten seconds later.
	if err := syscall.Kill(keeper, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	hosttest.Eventually(t, "the keeper is gone", func() bool { return !alive(keeper) })
	for range 2 {
		h = start()
		listed := do("ls")
		if !strings.Contains(lineOf(listed, "a"), "exited 5") ||
			!strings.Contains(lineOf(listed, "b"), "exited 6") {
			t.Errorf("listed: %s", listed)
		}
		_ = h.Stop(syscall.SIGKILL)
	}
}

// childrenOf returns the children of a process.
func childrenOf(t *testing.T, pid int) []string {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, file := range files {
		text, _ := os.ReadFile(file) // the thread may have ended
		all = append(all, strings.Fields(string(text))...)
	}
	return all
}

// TestStopEndsWhateverIsThere ends hosts that run, hang and are dead.
func TestStopEndsWhateverIsThere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		with func(h *bench.Host, keeper int)
	}{
		{"a host", func(*bench.Host, int) {}},
		{"a hung host", func(h *bench.Host, _ int) { _ = h.Cmd.Process.Signal(syscall.SIGSTOP) }},
		{"no host", func(h *bench.Host, _ int) { _ = h.Stop(syscall.SIGKILL) }},
		// In this order: a host whose keeper dies starts another one.
		{"neither", func(h *bench.Host, keeper int) {
			_ = h.Stop(syscall.SIGKILL)
			_ = syscall.Kill(keeper, syscall.SIGKILL)
		}},
		{"no keeper", func(h *bench.Host, keeper int) { _ = syscall.Kill(keeper, syscall.SIGKILL) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			start, state, do := keptHost(t, "")
			h := start()
			do("new", "-d", "-n", "a", "--", "sh", "-c",
				"trap '' HUP; echo pid=$$; while :; do sleep 1; done")
			pid := printedPid(t, do, "a")
			keeper := keepersOf(t, state)[0]
			c.with(h, keeper)
			said := do("stop")
			if found := strings.Contains(said, "ending 1 terminal\n"); found == (c.name == "neither") {
				t.Errorf("it says %q", said)
			}
			if alive(pid) {
				t.Error("the program is left")
			}
			if left := keepersOf(t, state); len(left) > 0 {
				t.Errorf("the keepers %v are left", left)
			}
			select {
			case <-h.Ended:
			default:
				t.Error("the host is left")
			}
			do("stop") // nothing is running
		})
	}
}

// otherKeeperMain is a keeper that understands no host of today. Its arguments are its folder, its
// version, and the protocol that it speaks, which is the oldest that it understands.
func otherKeeperMain() {
	l, err := net.Listen("unixpacket", filepath.Join(os.Args[1], "sock"))
	if err != nil {
		panic(err)
	}
	fmt.Println("up")
	for {
		c, err := l.Accept()
		if err != nil {
			panic(err)
		}
		_, _ = c.Read(make([]byte, 4096)) // whoever it is gets the same answer
		fmt.Fprintf(c, `{"op":"answer","version":%q,"protocol":%s,"oldest":%[2]s,"pid":%d}`,
			os.Args[2], os.Args[3], os.Getpid())
		c.Close()
	}
}

func TestAKeeperOfAnotherVersionIsToldAboutAndCanBeStopped(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		version, why string
		protocol     int
	}{
		{"0.0.1", "it is too old", keeper.Oldest - 1},
		{"99.0.0", "it is newer", keeper.Protocol + 1},
	} {
		t.Run(c.version, func(t *testing.T) {
			t.Parallel()
			start, state, do := keptHost(t, "")
			h := start()
			do("stop")
			other := exec.Command("otherkeeper", filepath.Join(state, "keeper"), c.version,
				strconv.Itoa(c.protocol))
			out, err := other.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := other.Start(); err != nil {
				t.Fatal(err)
			}
			defer other.Process.Kill()
			if _, err := out.Read(make([]byte, 2)); err != nil {
				t.Fatal(err)
			}
			said, err := refused(t, h)
			if err == nil || !strings.Contains(said, "version "+c.version) ||
				!strings.Contains(said, c.why) || !strings.Contains(said, "`termhost stop`") {
				t.Errorf("serve ends with %v, and says %s", err, said)
			}
			do("stop")
			if err := other.Wait(); err == nil {
				t.Error("it has ended by itself")
			}
			start()
		})
	}
}

// TestARunningTerminalNeedsNoDescriptionOnDisk: the disk may have been full when it was made.
func TestARunningTerminalNeedsNoDescriptionOnDisk(t *testing.T) {
	t.Parallel()
	start, state, do := keptHost(t, "")
	h := start()
	do("new", "-d", "-n", "a", "--", "sh", "-c", "echo up; read x; echo got $x; read x")
	do("new", "-d", "-n", "b", "--", "sh", "-c", "echo up; read x; echo got $x; read x")
	do("wait", "--match", "up", "a")
	do("wait", "--match", "up", "b")
	_ = h.Stop(syscall.SIGKILL)
	folders, err := filepath.Glob(filepath.Join(state, "terms/*"))
	if err != nil || len(folders) != 2 {
		t.Fatalf("there are %q, %v", folders, err)
	}
	if err := os.RemoveAll(folders[0]); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folders[1], "meta"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	start()
	for _, name := range []string{"a", "b"} {
		do("send", "--enter", name, "more")
		do("wait", "--match", "got more", name)
	}
	metas, err := filepath.Glob(filepath.Join(state, "terms/*/meta"))
	if err != nil || len(metas) != 2 {
		t.Errorf("described are %q, %v", metas, err)
	}
}
