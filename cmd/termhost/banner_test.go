package main

import (
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"termhost/cmd/termhost/access"
	"termhost/cmd/termhost/config"
)

// TestTheGreetingNamesAnAddressToConnectTo checks that a host which listens on every interface
// names an address that can be connected to.
func TestTheGreetingNamesAnAddressToConnectTo(t *testing.T) {
	for addr, want := range map[string]string{
		"[::]:2222":      "127.0.0.1:2222",
		"0.0.0.0:2222":   "127.0.0.1:2222",
		"127.0.0.1:2222": "127.0.0.1:2222",
		"[::1]:22":       "[::1]:22",
	} {
		tcp, err := net.ResolveTCPAddr("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		if got := reachable(tcp); got != want {
			t.Errorf("%s: got %s, want %s", addr, got, want)
		}
	}
	var b strings.Builder
	greeting{ssh: "127.0.0.1:2222", knownHosts: "/s/known_hosts"}.print(&b)
	want := "\n  ssh -o UserKnownHostsFile=/s/known_hosts -p 2222 127.0.0.1\n"
	if !strings.Contains(b.String(), want) {
		t.Errorf("%q lacks %q", b.String(), want)
	}
}

// TestTheGreetingsSSHConfig has ssh itself read the block that is printed.
func TestTheGreetingsSSHConfig(t *testing.T) {
	var b strings.Builder
	greeting{ssh: "[::1]:2022", identity: "/s p/100%/key", knownHosts: "/s#p/known_hosts"}.print(&b)
	_, block, found := strings.Cut(b.String(), "\n\n  Host th\n")
	block, _, _ = strings.Cut(block, "\n\n")
	if !found {
		t.Fatalf("no block in %q", b.String())
	}
	file := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(file, []byte("  Host th\n"+block+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("ssh", "-G", "-F", file, "th").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, want := range []string{"hostname ::1", "port 2022", "identitiesonly yes",
		"identityfile /s p/100%%/key", "userknownhostsfile \"/s#p/known_hosts\"",
		"serveraliveinterval 15"} {
		if !strings.Contains(string(out), want+"\n") &&
			!strings.Contains(string(out), strings.ReplaceAll(want, `"`, "")+"\n") {
			t.Errorf("ssh -G lacks %q:\n%s", want, out)
		}
	}
	ssh := 0
	for line := range strings.Lines(b.String()) {
		if strings.HasPrefix(strings.TrimSpace(line), "ssh ") {
			ssh++
		}
	}
	if ssh != 1 {
		t.Errorf("%d lines begin with ssh, want one", ssh)
	}
}

func TestTheGreetingNamesTheConfiguration(t *testing.T) {
	for want, place := range map[string]config.Place{
		"/c.toml": {Path: "/c.toml", Looked: []string{"/h/c.toml"}},
		"none is needed; it would be read from /h/c.toml, or else /etc/c.toml": {
			Looked: []string{"/h/c.toml", "/etc/c.toml"}},
	} {
		var b strings.Builder
		greeting{ssh: "127.0.0.1:22", config: place}.print(&b)
		if !strings.Contains(b.String(), "\nConfig:   "+want+"\n") {
			t.Errorf("%+v: %s", place, b.String())
		}
	}
}

func TestOnlyTheFirstRunSaysThatAKeyWasMade(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	cfg, err := config.Load("")
	if err != nil {
		t.Fatal(err)
	}
	cfg.StateDir = filepath.Join(dir, "state")
	cfg.SSH.AuthorizedKeysFiles = []string{filepath.Join(dir, "none")}
	for _, first := range []bool{true, false, false} {
		a, err := access.Open(cfg, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		greeting{ssh: "127.0.0.1:22", identity: a.Identity, first: a.First}.print(&b)
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		says := strings.Contains(b.String(), "a first key was made: "+a.Identity+"\n")
		if says != first || !strings.Contains(b.String(), " -i "+a.Identity+" ") {
			t.Errorf("first run %v: %s", first, b.String())
		}
	}
}
