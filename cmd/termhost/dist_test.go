package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"termhost/cmd/termhost/config"
)

// TestSystemdKnowsTheUnits has systemd read the units.
func TestSystemdKnowsTheUnits(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	program, err := exec.LookPath("true") // for that it is not installed here
	if err != nil {
		t.Fatal(err)
	}
	for name, flag := range map[string]string{
		"termhost.service": "--user", "termhost@.service": "--system",
		"termhost-keeper.service": "--user", "termhost-keeper@.service": "--system",
	} {
		text, err := os.ReadFile(filepath.Join("dist", name))
		if err != nil {
			t.Fatal(err)
		}
		unit := strings.ReplaceAll(string(text), "/usr/bin/termhost", program)
		// The manual page is not installed either.
		unit = regexp.MustCompile(`(?m)^Documentation=.*\n`).ReplaceAllString(unit, "")
		name = strings.ReplaceAll(name, "@", "@root")
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, []byte(unit), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("systemd-analyze", flag, "verify", file)
		cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir())
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v: %s", name, err, out)
		}
	}
}

// TestThePackageIsMadeOfWhatThereIs checks the files that the package names, and the container's
// configuration.
func TestThePackageIsMadeOfWhatThereIs(t *testing.T) {
	text, err := os.ReadFile("dist/nfpm.yaml")
	if err != nil {
		t.Fatal(err)
	}
	files := regexp.MustCompile(`(?m): (\./\S+)$`).FindAllStringSubmatch(string(text), -1)
	if len(files) < 4 {
		t.Errorf("it names %q only", files)
	}
	for _, f := range files {
		if _, err := os.Stat(filepath.Join(moduleRoot, f[1])); err != nil {
			t.Error(err)
		}
	}
	if _, err := config.Load("dist/container.toml"); err != nil && os.Getuid() != 0 {
		t.Error(err)
	}
}
