package mcptest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// hooks runs `termhost hooks` for an agent in its home.
func (s *site) hooks(a agent, args ...string) {
	s.t.Helper()
	cmd := command(append([]string{program(s.t), "hooks", a.name}, args...))
	cmd.Env = []string{"HOME=" + s.folder(a.name+"-home")}
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("termhost hooks %s %s: %v\n%s", a.name, strings.Join(args, " "), err, out)
	}
}

// TestAgentsSayHowTheyStand has each agent, with the settings of `termhost hooks --install` beside
// those that it has, say to the terminal that it works and that it is done; and no more after
// --remove.
func TestAgentsSayHowTheyStand(t *testing.T) {
	slowtest.Skip(t)
	tell(t, func(t *testing.T, s *site, a agent) {
		s.hooks(a, "--install") // keeps what is there
		install := a.prepare
		a.prepare = func(s *site, home, url string, server []string) (arguments, env []string) {
			arguments, env = install(s, home, url, server)
			s.hooks(a, "--install")
			s.hooks(a, "--install") // once is enough
			if a.name == "codex" {
				arguments = append([]string{arguments[0], "--dangerously-bypass-hook-trust"}, arguments[1:]...)
			}
			return arguments, append(env, "TERMHOST_URI="+s.uriOf(a.name),
				"TERMHOST_SOCKET="+filepath.Join(s.dir, "state", "ahp.sock"))
		}
		s.ssh("new", "-d", "-n", a.name, "--", "exec sleep 1000")
		events := s.start("events", s.dir, os.Environ(), s.sshCommand("events", "--json", a.name)...)
		said := func() string {
			text, err := os.ReadFile(events.out)
			hosttest.Check(t, err)
			var states []string
			for line := range strings.Lines(string(text)) {
				var e struct{ Status string }
				hosttest.Check(t, json.Unmarshal([]byte(line), &e))
				if e.Status != "" {
					states = append(states, e.Status)
				}
			}
			return strings.Join(states, " ")
		}
		run := calls(step{tool: "terminal_run", args: args{"command": "echo out"}})
		s.play(a, run)
		hosttest.Eventually(t, "it has worked, and is done", func() bool {
			return regexp.MustCompile(`^(waiting )*working .*done$`).MatchString(said())
		})
		if status := s.ssh("status", a.name); status != "done done\n" {
			t.Errorf("it says %q", status)
		}
		before := said()
		a.prepare = func(s *site, home, url string, server []string) (arguments, env []string) {
			arguments, env = install(s, home, url, server)
			s.hooks(a, "--install")
			s.hooks(a, "--remove")
			return arguments, append(env, "TERMHOST_URI="+s.uriOf(a.name),
				"TERMHOST_SOCKET="+filepath.Join(s.dir, "state", "ahp.sock"))
		}
		s.play(a, run)
		if now := said(); now != before {
			t.Errorf("without its hooks it says %q, after %q", now, before)
		}
	})
}

// uriOf returns the URI of a terminal that was not renamed.
func (s *site) uriOf(name string) string { return "ahp-terminal:/" + name }
