package ttymodes_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/creack/pty"

	"termhost/ptypool/ttymodes"
)

// stty returns what stty(1) says of a new pty with these modes.
func stty(t *testing.T, modes string) string {
	t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	defer slave.Close()
	if err := ttymodes.Apply(int(master.Fd()), modes); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("stty", "-a")
	cmd.Stdin = slave
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("stty: %v, %s", err, out)
	}
	return string(out)
}

func mode(op byte, arg byte) string { return string([]byte{op, 0, 0, 0, arg}) }

// TestModesAreTheUsers: each is what stty calls it.
func TestModesAreTheUsers(t *testing.T) {
	for modes, want := range map[string]string{
		mode(3, 8): "erase = ^H;", mode(1, 24): "intr = ^X;", mode(10, 255): "susp = <undef>;",
		mode(38, 0): "-ixon ", mode(38, 0) + mode(38, 1): " ixon ", mode(42, 1): " iutf8",
		mode(42, 0): "-iutf8", mode(53, 0): "-echo ", mode(51, 0): "-icanon", mode(70, 0): "-opost",
		mode(72, 0): "-onlcr", mode(59, 0): "-iexten", mode(14, 17): "lnext = ^Q;",
		mode(200, 0) + mode(3, 8): "erase = ^?;", "\x00" + mode(3, 8): "erase = ^?;",
		mode(128, 9) + mode(150, 1) + mode(3, 8): "erase = ^H;", mode(3, 8)[:4]: "erase = ^?;",
	} {
		if got := stty(t, modes); !strings.Contains(got, want) {
			t.Errorf("%q: no %q in %s", modes, want, got)
		}
	}
}

// TestEncodedModesMakeAnotherTerminalLikeIt in everything that stty shows of it.
func TestEncodedModesMakeAnotherTerminalLikeIt(t *testing.T) {
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	defer slave.Close()
	cmd := exec.Command("stty", "erase", "^H", "intr", "^X", "-ixon", "-echo", "iutf8", "-onlcr",
		"kill", "undef", "tostop", "noflsh")
	cmd.Stdin = slave
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("stty: %v, %s", err, out)
	}
	like := exec.Command("stty", "-a")
	like.Stdin = slave
	want, err := like.Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := stty(t, ttymodes.Encode(int(slave.Fd()))); got != string(want) {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if got := ttymodes.Encode(-1); got != "" {
		t.Errorf("what is no terminal has %q", got)
	}
}
