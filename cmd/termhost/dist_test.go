package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"termhost/ahp/hosttest/slowtest"
	"termhost/cmd/termhost/config"
)

// TestSystemdKnowsTheUnits has systemd read the units.
func TestSystemdKnowsTheUnits(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		slowtest.Missing(t, "systemd-analyze is not installed")
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

// TestVersionsComeFromTags stamps releases, and commits before, on and behind a tag.
func TestVersionsComeFromTags(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		slowtest.Missing(t, "git is not installed")
	}
	root := t.TempDir()
	script := filepath.Join(root, "cmd/termhost/dist/stamp")
	text, err := os.ReadFile("dist/stamp")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(script), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(script, text, 0o700); err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "HOME="+root, "GIT_CONFIG_NOSYSTEM=1", "VERSION=", "REVISION=",
		"SOURCE_DATE_EPOCH=", "GIT_AUTHOR_DATE=2026-01-02T03:04:05+01:00",
		"GIT_COMMITTER_DATE=2026-01-02T03:04:05+01:00")
	git := func(args ...string) {
		t.Helper()
		args = append([]string{"-c", "user.name=ann", "-c", "user.email=ann@example.com"}, args...)
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = root, env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
	stamped := func(more ...string) string {
		t.Helper()
		// By its shell: another test's child may have the file open to write for a moment, and it
		// is no program then (ETXTBSY).
		cmd := exec.Command("bash", script)
		cmd.Env = append(slices.Clone(env), more...)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	expect := func(got, version, deb, apk string) {
		t.Helper()
		pattern := fmt.Sprintf(`(?s)^VERSION=%s\n.*DEB_VERSION=%s\nAPK_VERSION=%s\n$`, version, deb, apk)
		if !regexp.MustCompile(pattern).MatchString(got) {
			t.Errorf("got %s, want %s", got, pattern)
		}
	}
	commit := func(name string) {
		writeFile(t, filepath.Join(root, name), name)
		git("add", ".")
		git("commit", "-q", "-m", name)
	}

	expect(stamped(), `v0\.0\.0\+unknown`, `0\.0\.0\+unknown`, `0\.0\.0`)
	git("init", "-q")
	commit("a")
	const at = `git20260102020405\.[0-9a-f]{12}`
	expect(stamped(), `v0\.0\.0\+`+at, `0\.0\.0\+`+at, `0\.0\.0_git20260102020405`)
	git("tag", "v1.2.3-rc1")
	expect(stamped(), `v1\.2\.3-rc1`, `1\.2\.3~rc1`, `1\.2\.3_rc1`)
	commit("b")
	git("tag", "v1.2.3")
	got := stamped()
	expect(got, `v1\.2\.3`, `1\.2\.3`, `1\.2\.3`)
	if !strings.Contains(got, "SOURCE_DATE_EPOCH=1767319445\n") {
		t.Errorf("the commit's time is not in %s", got)
	}
	writeFile(t, filepath.Join(root, "a"), "changed")
	expect(stamped(), `v1\.2\.3\+dirty`, `1\.2\.3\+dirty`, `1\.2\.3`)
	commit("c")
	expect(stamped(), `v1\.2\.3\+`+at, `1\.2\.3\+`+at, `1\.2\.3_git20260102020405`)
	expect(stamped("VERSION=v2.0.0"), `v2\.0\.0`, `2\.0\.0`, `2\.0\.0`)
}
