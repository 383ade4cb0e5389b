package config

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestWhereTheConfigurationIsLookedFor(t *testing.T) {
	const own, system = "/home/ann/.config/termhost/config.toml", "/etc/termhost/config.toml"
	for _, tt := range []struct {
		env  environment
		want []string
	}{
		{environment{home: "/home/ann", uid: 1000}, []string{own}},
		{environment{home: "/home/ann", configHome: "/c", uid: 1000},
			[]string{"/c/termhost/config.toml"}},
		{environment{home: "/home/ann", uid: 0}, []string{own, system}},
		{environment{home: "/home/ann", stateHome: "/var/lib", uid: 999}, []string{own, system}},
		{environment{home: "/home/ann", stateHome: "/var/library", uid: 999}, []string{own}},
		{environment{home: "/var/lib/th", uid: 999},
			[]string{"/var/lib/th/.config/termhost/config.toml", system}},
	} {
		if got := tt.env.places(); !slices.Equal(got, tt.want) {
			t.Errorf("%+v: %q, want %q", tt.env, got, tt.want)
		}
	}
}

func TestTheFileThatIsThereCounts(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("XDG_CONFIG_HOME", "relative")
	t.Setenv("XDG_STATE_HOME", "")
	folder := filepath.Join(dir, ".config", "termhost")
	path := filepath.Join(folder, "config.toml")
	finds := func(want string) {
		t.Helper()
		p, err := Find("")
		is := p.Path == want || want == "" && p.Path == systemFile // that of this machine
		if err != nil || !is || p.Looked[0] != path {
			t.Errorf("it finds %+v, %v; want %q", p, err, want)
		}
	}
	finds("")
	if err := os.WriteFile(filepath.Join(dir, ".config"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	finds("") // nothing can be below a file
	if err := os.Remove(filepath.Join(dir, ".config")); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	f := WatchFile("")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("state_dir = \"/srv/th\"\n")
	finds(path)
	if !f.Changed() || f.Path() != path || f.Changed() {
		t.Errorf("a file that is made later is not noticed: %q", f.Path())
	}
	c, err := Load("")
	running, rerr := OfRunning("")
	if err != nil || rerr != nil || c.StateDir != "/srv/th" || running.StateDir != "/srv/th" {
		t.Errorf("it is not read: %q, %v; %q, %v", c.StateDir, err, running.StateDir, rerr)
	}
	if os.Getuid() != 0 { // whom no mode keeps out
		if err := os.Chmod(folder, 0); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(""); err == nil {
			t.Error("a file that cannot be looked at counts as missing")
		}
		if err := os.Chmod(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if !f.Changed() || f.Path() == path {
		t.Errorf("its end is not noticed: %q", f.Path())
	}
	if _, err := LoadAgain("", c); err == nil && os.Getuid() != 0 {
		t.Error("with the end of the file the defaults count")
	}
}
