package main

import (
	"flag"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"termhost/ahp/hosttest"
)

// The flags of a command are where people write them.
func TestFlagsOfFleetStandAnywhere(t *testing.T) {
	w, home := newFleet(t, "")
	c := home.file()
	for _, args := range [][]string{{"token", "--door", "-c", c}, {"-c", c, "token"},
		{"--c=" + c, "hosts", "--json"}, {"hosts", "--json", "-c", c}} {
		cmd := exec.Command("termhost", append([]string{"fleet"}, args...)...)
		cmd.Env = home.env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%q: %v: %s", args, err, out)
		}
	}
	box := w.host("box", "")
	cmd := exec.Command("termhost", "fleet", "join", "tls://"+w.listen, w.token(), "--name", "box",
		"-c", box.file())
	cmd.Env = box.env
	if out, err := cmd.CombinedOutput(); err != nil || string(out) !=
		"box has joined; a running host is in the fleet within a second\n" {
		t.Errorf("join: %v: %s", err, out)
	}
	out, err := home.try("fleet", "remove", "box", "--door")
	if err == nil || !strings.Contains(out, `unexpected argument "--door"`) {
		t.Errorf("a flag of another command: %v: %s", err, out)
	}
}

// A line to join is base64, which may begin with "-".
func TestWhatIsNoFlagIsAnOperandBehindOthers(t *testing.T) {
	for line, want := range map[string]string{
		"a -b.home.C -c x": "x a -b.home.C", "-c x a -- -c y": "x a -c y", "a -c=x": "x a",
		"-- -c x": " -c x", "": "", "-c x": "x",
	} {
		fs := flag.NewFlagSet("", flag.ContinueOnError)
		file := fs.String("c", "", "")
		hosttest.Check(t, parseAnywhere(fs, strings.Fields(line)))
		if got := strings.Join(slices.Concat([]string{*file}, fs.Args()), " "); got != want {
			t.Errorf("%q is %q, want %q", line, got, want)
		}
	}
	fs := flag.NewFlagSet("", flag.ContinueOnError)
	fs.SetOutput(new(strings.Builder))
	if err := parseAnywhere(fs, []string{"-x"}); err == nil {
		t.Error("an unknown flag is taken")
	}
}
