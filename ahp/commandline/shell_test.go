package commandline

import (
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
