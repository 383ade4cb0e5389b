package commandline

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestInteractiveShells(t *testing.T) {
	for line, want := range map[string]string{
		"zsh": "shell", "fish -i": "shell", "bash": "shell", "/bin/bash -l": "login shell",
		"bash -li": "login shell", "zsh --login -i": "login shell",
		"bash -c ls": "", "bash -l x": "", "zsh script": "", "bash; ls": "", "bash | cat": "",
		"X=1 bash": "", "bash <f": "", "bash &": "", "! bash": "", "$SHELL": "", "~/bash": "",
		"'bash'": "", "vim": "", "": "", "bash -s": "", "bash {": "", "bash (": "",
	} {
		got := ""
		if login, ok := InteractiveShell(Words(line)); login {
			got = "login shell"
		} else if ok {
			got = "shell"
		}
		if got != want {
			t.Errorf("%q is a %q, want %q", line, got, want)
		}
	}
	if got := Words("a b-c /d"); !slices.Equal(got, []string{"a", "b-c", "/d"}) {
		t.Errorf("words %q", got)
	}
	if got := Words("a " + strings.Repeat("b ", 1<<20)); got != nil {
		t.Error("words of a huge line")
	}
}

// TestAShellReadsTheWordsThatWereJoined has a real shell split the line.
func TestAShellReadsTheWordsThatWereJoined(t *testing.T) {
	words := []string{"printf", "%s,", "plain-1.2/x", "", "a b", "it's", "$HOME", "`x`", "~", "*", "a\nb", "-n", "ä", "\\"}
	want := strings.Join(words[2:], ",") + ","
	got, err := exec.Command("sh", "-c", Join(words)).Output()
	if err != nil || string(got) != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	if line := Join(words[:3]); line != "printf %s, plain-1.2/x" {
		t.Errorf("words without need of quotes are %s", line)
	}
}
