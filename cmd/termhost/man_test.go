package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"termhost/ahp/hosttest/slowtest"
	"termhost/cmd/termhost/man"
)

// The topics of README.md's list are those that there are, and each is printed as it stands.
func TestTheManualHasTheTopicsOfTheReadme(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(moduleRoot, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	names, titles := man.Topics()
	for i, name := range names {
		var out strings.Builder
		if code := run([]string{"man", name}, stdio{out: &out}); code != exitOK ||
			!strings.HasPrefix(out.String(), "# "+titles[i]+"\n") {
			t.Errorf("termhost man %s: %d, %.40q", name, code, out.String())
		}
		if !strings.Contains(string(readme), "(cmd/termhost/man/"+name+".md)") {
			t.Errorf("README.md does not lead to %s", name)
		}
	}
	if links := strings.Count(string(readme), "(cmd/termhost/man/"); links != len(names) {
		t.Errorf("README.md leads to %d topics of %d", links, len(names))
	}
	var errs strings.Builder
	if code := run([]string{"man", "pages"}, stdio{err: &errs}); code != exitUsage ||
		!strings.Contains(errs.String(), names[0]) {
		t.Errorf("a topic that there is not: %d, %s", code, errs.String())
	}
}

// README.md is read in five minutes.
func TestTheReadmeIsShort(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(moduleRoot, "README.md"))
	if n := strings.Count(string(readme), "\n"); err != nil || n > 300 {
		t.Errorf("it has %d lines: %v", n, err)
	}
}

// TestTheManualPageIsWellFormed has groff read the page.
func TestTheManualPageIsWellFormed(t *testing.T) {
	var page strings.Builder
	if code := run([]string{"man"}, stdio{out: &page}); code != exitOK {
		t.Fatal(code)
	}
	for _, c := range commands() {
		if name := strings.ReplaceAll(c.name, "-", `\-`); !strings.Contains(page.String(), name+`\fR`) {
			t.Errorf("the page lacks %s", c.name)
		}
	}
	if strings.Contains(page.String(), "\n@") {
		t.Error("a table was not put in")
	}
	if _, err := exec.LookPath("groff"); err != nil {
		slowtest.Missing(t, "groff is not installed")
	}
	cmd := exec.Command("groff", "-man", "-Tutf8", "-ww")
	cmd.Stdin = strings.NewReader(page.String())
	var warnings strings.Builder
	cmd.Stderr = &warnings
	out, err := cmd.Output()
	if err != nil || warnings.Len() > 0 {
		t.Errorf("%v: %s", err, warnings.String())
	}
	if len(out) == 0 {
		t.Error("nothing is printed")
	}
}
