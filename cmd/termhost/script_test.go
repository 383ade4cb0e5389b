package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/cmd/termhost/bench"
)

// TestMain makes the test binary act as the programs that scripts run.
func TestMain(m *testing.M) {
	// A host that a test runs in this process has this program be its keeper. It must not take
	// that for a run of all the tests, each of which would start more keepers.
	if len(os.Args) > 1 && os.Args[1] == keeperName {
		main()
	}
	slowtest.Overlap()
	testscript.Main(slowtest.Reporting(m), map[string]func(){
		"termhost":    main,
		"acpagent":    acpAgentMain,
		"acpeditor":   acpEditorMain,
		"mcpclient":   mcpClientMain,
		"mcplines":    mcpLinesMain,
		"natsnode":    natsNodeMain,
		"otherkeeper": otherKeeperMain,
	})
}

// TestScripts runs the scripts in testdata/script with the real binary, the real ssh and real
// shells. Each script has its own home, state folder and ports.
func TestScripts(t *testing.T) { runScripts(t, "testdata/script") }

// TestSlowScripts runs the scripts in testdata/slow, which take long.
func TestSlowScripts(t *testing.T) {
	slow(t)
	runScripts(t, "testdata/slow")
}

func runScripts(t *testing.T, dir string) {
	var first sync.Once
	testscript.Run(t, testscript.Params{
		Dir: dir,
		Setup: func(env *testscript.Env) error {
			// With -run for some of the scripts testscript leaves the folder of all behind.
			first.Do(func() {
				t.Cleanup(func() { _ = os.Remove(filepath.Dir(env.WorkDir)) })
			})
			return setupScript(env)
		},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"serve":     cmdServe,
			"address":   cmdAddress,
			"configure": cmdConfigure,
			"halt":      cmdHalt,
			"hangup":    cmdHangup,
			"logged":    cmdLogged,
			"person":    cmdPerson,
			"agent":     cmdAgent,
			"gone":      cmdGone,
			"need":      cmdNeed,
			"laptop":    cmdLaptop,
			"mirrors":   cmdMirrors,
			"tmux":      cmdTmux,
			"shows":     cmdShows,
		},
	})
}

// isSlow tells whether the tests run that take many seconds with programs that few machines have,
// such as node and tmux. A plain go test leaves them out, and .ci/full runs them.
func isSlow(t testing.TB) bool { return slowtest.On(t) }

// slow skips a test unless the slow ones run.
func slow(t *testing.T) {
	t.Helper()
	slowtest.Skip(t)
}

// patience is how long a test waits for what must come.
const patience = hosttest.Patience

// story is the state that the custom commands of one script share.
type story struct {
	host   *bench.Host // nil: none runs
	past   *bench.Host // the last one that has ended; nil: none has
	people map[string]*person
	agents map[string]*agent
}

type storyKey struct{}

func setupScript(env *testscript.Env) error {
	home := filepath.Join(env.WorkDir, "home")
	bin := filepath.Join(env.WorkDir, "bin")
	for _, dir := range []string{home, bin} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	for _, name := range []string{"ssh", "scp", "sftp"} {
		path, err := exec.LookPath(name)
		if err != nil {
			return err
		}
		// ssh looks for its configuration in the home of the password database, not in HOME.
		wrapper := fmt.Sprintf("#!/bin/sh\nexec %s -F %s/ssh_config \"$@\"\n", path, env.WorkDir)
		if err := os.WriteFile(filepath.Join(bin, name), []byte(wrapper), 0o700); err != nil {
			return err
		}
	}
	account, err := user.Current()
	if err != nil {
		return err
	}
	env.Setenv("USER", account.Username)
	env.Setenv("HOME", home)
	env.Setenv("STATE", filepath.Join(home, ".local/state/termhost"))
	env.Setenv("PATH", bin+string(os.PathListSeparator)+env.Getenv("PATH"))
	env.Setenv("TERM", "xterm-256color")
	s := &story{people: map[string]*person{}, agents: map[string]*agent{}}
	env.Values[storyKey{}] = s
	env.Defer(s.end)
	return nil
}

func storyOf(ts *testscript.TestScript) *story { return ts.Value(storyKey{}).(*story) }

// end stops what the script has left running.
func (s *story) end() {
	for _, p := range s.people {
		p.leave()
	}
	for _, a := range s.agents {
		a.client.Close()
	}
	if s.host != nil {
		s.host.Kill()
	} else if s.past != nil {
		s.past.Kill()
	}
}

// cmdServe starts the host with a configuration on free ports, or with the given one, and waits
// until it can be connected to. Its greeting is then in the file "greeting", and its log in
// "hostlog". In the file ssh_config it is called "host". $URL is its WebSocket's, $PORT its SSH
// port.
//
//	serve [TOML-FILE]
func cmdServe(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 1 {
		ts.Fatalf("usage: serve [config.toml]")
	}
	config := bench.Config(ts.Getenv("HOME"))
	if len(args) == 1 {
		config = ts.ReadFile(args[0])
	}
	config = hosttest.ShConfig(hosttest.OwnedConfig(ts.Name(), config))
	ts.Check(os.WriteFile(ts.MkAbs("serve.toml"), []byte(config), 0o600))
	log, err := os.OpenFile(ts.MkAbs("hostlog"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	ts.Check(err)
	defer log.Close()
	env := []string{"HOME=" + ts.Getenv("HOME"), "PATH=" + ts.Getenv("PATH"), "USER=" + ts.Getenv("USER"),
		"TMPDIR=" + os.TempDir(), "HOST_SECRET=canary-of-the-host",
		slowtest.OwnerVariable + "=" + ts.Name()}
	h, err := bench.StartHost("termhost", ts.MkAbs("serve.toml"), env, log)
	if err != nil {
		ts.Fatalf("%v\n%s", err, ts.ReadFile("hostlog"))
	}
	storyOf(ts).host = h
	ts.Check(os.WriteFile(ts.MkAbs("greeting"), []byte(h.Greeting), 0o600))
	ts.Check(os.WriteFile(ts.MkAbs("ssh_config"), []byte(h.SSHConfig()), 0o600))
	_, port := h.SSHAddress()
	ts.Setenv("PORT", port)
	ts.Setenv("URL", h.Find("ws://"))
}

// cmdAddress sets a variable to an address of this machine that nothing else listens on: of the
// millions of loopback addresses hardly anybody uses another one than the first.
//
//	address VARIABLE
func cmdAddress(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: address VARIABLE")
	}
	ts.Setenv(args[0], fmt.Sprintf("127.%d.%d.%d:7723", 1+rand.IntN(254), rand.IntN(255),
		1+rand.IntN(254)))
}

// firstDir returns the path of a program in the folders of a PATH.
func firstDir(path, program string) string {
	for _, dir := range filepath.SplitList(path) {
		p := filepath.Join(dir, program)
		if st, err := os.Stat(p); err == nil && st.Mode()&0o111 != 0 {
			return p
		}
	}
	return program
}

// cmdConfigure gives the host that runs another configuration. The host, which looks every second,
// never sees a part of it.
//
//	configure TOML-FILE
func cmdConfigure(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: configure config.toml")
	}
	next := ts.MkAbs("serve.toml.next")
	config := hosttest.ShConfig(hosttest.OwnedConfig(ts.Name(), ts.ReadFile(args[0])))
	ts.Check(os.WriteFile(next, []byte(config), 0o600))
	ts.Check(os.Rename(next, ts.MkAbs("serve.toml")))
}

// cmdGone waits until the process whose id is in a file has ended.
//
//	gone PID-FILE
func cmdGone(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: gone PID-FILE")
	}
	pid, err := strconv.Atoi(strings.TrimSpace(ts.ReadFile(args[0])))
	ts.Check(err)
	for deadline := time.Now().Add(patience); alive(pid); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			ts.Fatalf("process %d goes on", pid)
		}
	}
}

// cmdHangup sends the host SIGHUP, by which it reads its configuration and keys again.
func cmdHangup(ts *testscript.TestScript, neg bool, args []string) {
	ts.Check(storyOf(ts).host.Cmd.Process.Signal(syscall.SIGHUP))
}

// cmdLogged waits until the host has logged something that matches.
//
//	logged REGEXP
func cmdLogged(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: logged REGEXP")
	}
	re, err := regexp.Compile(args[0])
	ts.Check(err)
	deadline := time.Now().Add(patience)
	for !re.MatchString(ts.ReadFile("hostlog")) {
		if time.Now().After(deadline) {
			ts.Fatalf("never logged: %s; but this:\n%s", args[0], ts.ReadFile("hostlog"))
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// cmdHalt sends the host SIGTERM, with -KILL SIGKILL and with -INT SIGINT, and waits for its end.
// Its exit code must be 0, but for SIGKILL. What it said after the greeting is in the file
// "farewell".
func cmdHalt(ts *testscript.TestScript, neg bool, args []string) {
	s := storyOf(ts)
	sig := syscall.SIGTERM
	switch {
	case len(args) == 1 && args[0] == "-KILL":
		sig = syscall.SIGKILL
	case len(args) == 1 && args[0] == "-INT":
		sig = syscall.SIGINT
	}
	err := s.host.Stop(sig)
	var exit *exec.ExitError
	if err != nil && (sig != syscall.SIGKILL || !errors.As(err, &exit)) {
		ts.Fatalf("after the signal: %v\n%s", err, ts.ReadFile("hostlog"))
	}
	ts.Check(os.WriteFile(ts.MkAbs("farewell"), []byte(s.host.Farewell), 0o600))
	s.past, s.host = s.host, nil
}

// cmdLaptop builds the program as it is where no host runs, and calls it laptop.
func cmdLaptop(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: laptop")
	}
	path, err := hosttest.Build(ts.MkAbs("."), "-buildvcs=false", "-tags", "laptop")
	ts.Check(err)
	ts.Check(os.Rename(path, filepath.Join(ts.MkAbs("bin"), "laptop")))
}

// cmdNeed fails if a program is missing where none may be, because the README promises that these
// tests run there. Elsewhere the script skips itself afterwards.
func cmdNeed(ts *testscript.TestScript, neg bool, args []string) {
	for _, name := range args {
		if _, err := exec.LookPath(name); err != nil && slowtest.Complete() {
			ts.Fatalf("%s is not installed", name)
		}
	}
}
