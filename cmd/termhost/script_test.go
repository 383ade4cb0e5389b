package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain makes the test binary stand for the programs that scripts run.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"termhost":  main,
		"acpagent":  acpAgentMain,
		"acpeditor": acpEditorMain,
	})
}

// TestScripts runs the stories under testdata/script with the real binary, the
// real ssh and real shells. Each has a home, a state folder and ports of its own.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		Setup:               setupScript,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"serve":   cmdServe,
			"halt":    cmdHalt,
			"person":  cmdPerson,
			"agent":   cmdAgent,
			"need":    cmdNeed,
			"mirrors": cmdMirrors,
			"tmux":    cmdTmux,
		},
	})
}

// patience bounds every wait of a script: far more than anything takes, so that
// only what never happens fails.
const patience = 30 * time.Second

// story is what the custom commands of one script share.
type story struct {
	host   *exec.Cmd
	exited chan error
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
		// ssh finds its configuration by the password database, not by HOME.
		wrapper := fmt.Sprintf("#!/bin/sh\nexec %s -F %s/ssh_config \"$@\"\n", path, env.WorkDir)
		if err := os.WriteFile(filepath.Join(bin, name), []byte(wrapper), 0o700); err != nil {
			return err
		}
	}
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

// end stops what the script left running.
func (s *story) end() {
	for _, p := range s.people {
		p.leave()
	}
	for _, a := range s.agents {
		a.client.Close()
	}
	if s.host != nil {
		s.host.Process.Kill()
		<-s.exited
	}
}

// cmdServe starts the host with a configuration on free ports and waits until
// it says how to log in. What it says is in the file "greeting", its log in
// "hostlog". It writes an ssh_config in which the host is called "host", and
// sets $URL to the WebSocket's.
//
//	serve [TOML-FILE]
func cmdServe(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 1 {
		ts.Fatalf("usage: serve [config.toml]")
	}
	s := storyOf(ts)
	// Shells have the script's home: what the machine's user has in .bashrc may be
	// slow, and these shells are killed at any moment.
	config := fmt.Sprintf("[ssh]\nlisten = \"127.0.0.1:0\"\n[http]\nlisten = \"127.0.0.1:0\"\n[terminal]\nenv = { HOME = %q }\n", ts.Getenv("HOME"))
	if len(args) == 1 {
		config = ts.ReadFile(args[0])
	}
	ts.Check(os.WriteFile(ts.MkAbs("serve.toml"), []byte(config), 0o600))
	log, err := os.OpenFile(ts.MkAbs("hostlog"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	ts.Check(err)
	defer log.Close()
	cmd := exec.Command(os.Args[0])
	cmd.Path, err = exec.LookPath(filepath.Join(firstDir(ts.Getenv("PATH"), "termhost")))
	ts.Check(err)
	cmd.Args = []string{"termhost", "serve", "-c", ts.MkAbs("serve.toml")}
	cmd.Env = []string{"HOME=" + ts.Getenv("HOME"), "PATH=" + ts.Getenv("PATH"), "USER=root", "TMPDIR=" + os.TempDir(), "HOST_SECRET=canary-of-the-host"}
	cmd.Dir = ts.MkAbs(".")
	cmd.Stderr = log
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	s.host, s.exited = cmd, make(chan error, 1)
	greeting := make(chan string, 1)
	go func() {
		var b strings.Builder
		sc := bufio.NewScanner(out)
		for sc.Scan() {
			b.WriteString(sc.Text() + "\n")
			if strings.HasPrefix(sc.Text(), "Socket:") {
				greeting <- b.String()
			}
		}
		s.exited <- cmd.Wait()
	}()
	select {
	case g := <-greeting:
		ts.Check(os.WriteFile(ts.MkAbs("greeting"), []byte(g), 0o600))
		ts.Check(os.WriteFile(ts.MkAbs("ssh_config"), []byte(sshConfigOf(ts, g)), 0o600))
	case err := <-s.exited:
		s.host = nil
		ts.Fatalf("the host ended: %v\n%s", err, ts.ReadFile("hostlog"))
	case <-time.After(patience):
		ts.Fatalf("the host does not say that it is up\n%s", ts.ReadFile("hostlog"))
	}
}

// firstDir returns the path of a program in the folders of PATH.
func firstDir(path, program string) string {
	for _, dir := range filepath.SplitList(path) {
		p := filepath.Join(dir, program)
		if st, err := os.Stat(p); err == nil && st.Mode()&0o111 != 0 {
			return p
		}
	}
	return program
}

// sshConfigOf turns the command that the host told into an ssh_config.
func sshConfigOf(ts *testscript.TestScript, greeting string) string {
	var b strings.Builder
	b.WriteString("Host host\n")
	for line := range strings.Lines(greeting) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] != "ssh" {
			if url := regexp.MustCompile(`ws://\S+`).FindString(line); url != "" {
				ts.Setenv("URL", url)
			}
			continue
		}
		for i := 1; i < len(words); i++ {
			switch words[i] {
			case "-i":
				i++
				fmt.Fprintf(&b, "  IdentityFile %s\n", words[i])
			case "-p":
				i++
				fmt.Fprintf(&b, "  Port %s\n", words[i])
				ts.Setenv("PORT", words[i])
			case "-o":
				i++
				fmt.Fprintf(&b, "  %s\n", strings.Replace(words[i], "=", " ", 1))
			default:
				fmt.Fprintf(&b, "  HostName %s\n", words[i])
			}
		}
	}
	b.WriteString("  BatchMode yes\n  LogLevel ERROR\n")
	return b.String()
}

// cmdHalt sends the host SIGTERM (or with -KILL SIGKILL) and waits for its end,
// which must be exit code 0 for SIGTERM.
func cmdHalt(ts *testscript.TestScript, neg bool, args []string) {
	s := storyOf(ts)
	sig := syscall.SIGTERM
	if len(args) == 1 && args[0] == "-KILL" {
		sig = syscall.SIGKILL
	}
	ts.Check(s.host.Process.Signal(sig))
	select {
	case err := <-s.exited:
		if err != nil && sig == syscall.SIGTERM {
			ts.Fatalf("the host ended with %v\n%s", err, ts.ReadFile("hostlog"))
		}
		s.host = nil
	case <-time.After(patience):
		ts.Fatalf("the host does not end\n%s", ts.ReadFile("hostlog"))
	}
}

// cmdNeed fails where a program is missing that must not be: the README promises
// that CI runs these tests. Elsewhere the script skips itself afterwards.
func cmdNeed(ts *testscript.TestScript, neg bool, args []string) {
	for _, name := range args {
		if _, err := exec.LookPath(name); err != nil && os.Getenv("TERMHOST_REQUIRE_TOOLS") != "" {
			ts.Fatalf("%s is not installed", name)
		}
	}
}
