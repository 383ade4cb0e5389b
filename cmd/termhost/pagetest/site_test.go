package pagetest

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/cmd/termhost/bench"
)

// site is a host with its page.
type site struct {
	t      testing.TB
	dir    string
	config string
	host   *bench.Host
	log    hosttest.Log
}

// set adds a key to the host's configuration, which the host reads by itself.
func (s *site) set(key, value string) {
	s.t.Helper()
	text, err := os.ReadFile(s.config)
	hosttest.Check(s.t, err)
	s.write(fmt.Sprintf("%s%s = %s\n", text, key, value))
	hosttest.Eventually(s.t, "the host knows "+key, func() bool {
		return strings.Contains(s.log.String(), strconv.Quote(key))
	})
}

// write replaces the host's configuration at once: the host may be reading it.
func (s *site) write(text string) {
	s.t.Helper()
	hosttest.Check(s.t, os.WriteFile(s.config+".new", []byte(text), 0o600))
	hosttest.Check(s.t, os.Rename(s.config+".new", s.config))
}

// newSite starts a host on free ports. It keeps them when it is started again.
func newSite(t testing.TB) *site {
	t.Helper()
	s := &site{t: t, dir: hosttest.Dir(t)}
	s.config = filepath.Join(s.dir, "config.toml")
	s.configure("127.0.0.1:0", "127.0.0.1:0")
	s.start()
	_, port := s.host.SSHAddress()
	s.configure("127.0.0.1:"+port, s.address())
	t.Cleanup(func() {
		if err := s.host.Stop(os.Interrupt); err != nil { // which ends the terminals
			t.Errorf("the host ends with %v", err)
			s.host.Kill()
		}
	})
	return s
}

func (s *site) configure(ssh, http string) {
	s.write(fmt.Sprintf("state_dir = %q\nssh.listen = %q\nhttp.listen = %q\nterminal.env = { TERMHOST_TEST = %q, HOME = %q, PS1 = '$ ' }\n"+
		"terminal.shell = \"/bin/bash\"\n", filepath.Join(s.dir, "state"), ssh, http, s.t.Name(), s.dir))
}

func (s *site) start() {
	s.t.Helper()
	env := append(os.Environ(), "HOME="+s.dir, slowtest.Owner(s.t))
	host, err := bench.StartHost(program(s.t), s.config, env, &s.log)
	hosttest.Check(s.t, err)
	s.host = host
	hosttest.Check(s.t, os.WriteFile(filepath.Join(s.dir, "ssh_config"), []byte(host.SSHConfig()), 0o600))
}

// address is where the HTTP port is.
func (s *site) address() string {
	u, err := url.Parse(s.host.Find("ws://"))
	hosttest.Check(s.t, err)
	return u.Host
}

// ssh runs a verb and returns what it prints on stdout.
func (s *site) ssh(args ...string) string {
	s.t.Helper()
	out, err := s.try(args...)
	if err != nil {
		s.t.Fatalf("ssh host %s: %v", strings.Join(args, " "), err)
	}
	return out
}

func (s *site) try(args ...string) (string, error) {
	cmd := exec.Command("ssh", append([]string{"-F", filepath.Join(s.dir, "ssh_config"), "host"}, args...)...)
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, complaint.String())
	}
	return string(out), err
}

// ticket returns the URL of a page that shows these terminals.
func (s *site) ticket(args ...string) string {
	s.t.Helper()
	return strings.TrimSpace(s.ssh(append([]string{"page"}, args...)...))
}

// crash ends the host as the kernel does.
func (s *site) crash() {
	s.t.Helper()
	hosttest.Check(s.t, s.host.Cmd.Process.Signal(syscall.SIGKILL))
	<-s.host.Ended
}
