package main

import (
	"os/exec"
	"strings"
	"testing"
)

// TestTheManualPageIsWellFormed has groff read the page.
func TestTheManualPageIsWellFormed(t *testing.T) {
	var page strings.Builder
	if code := run([]string{"man"}, stdio{out: &page}); code != exitOK {
		t.Fatal(code)
	}
	for _, c := range commands() {
		if name := roff(c.name); !strings.Contains(page.String(), name+`\fR`) {
			t.Errorf("the page lacks %s", c.name)
		}
	}
	if strings.Contains(page.String(), "\n@") {
		t.Error("a table was not put in")
	}
	if _, err := exec.LookPath("groff"); err != nil {
		t.Skip("groff is not installed")
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
