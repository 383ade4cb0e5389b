package share

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"termhost/cmd/termhost/sshcmd"
)

// fakeSSH returns a dialer whose ssh is a shell script, and how often it was run.
func fakeSSH(t *testing.T, script string,
	refused func(string)) (d *patientDialer, runs func() int) {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "ssh")
	script = "echo >>" + dir + "/runs\n" + script + "\n"
	if err := os.WriteFile(program, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(sshcmd.Variable, "sh "+program)
	target, err := sshcmd.Parse([]string{"host"})
	if err != nil {
		t.Fatal(err)
	}
	d = newPatientDialer(target, io.Discard, refused)
	return d, func() int {
		text, _ := os.ReadFile(dir + "/runs")
		return len(text)
	}
}

// attempt opens a connection and reads it to its end.
func attempt(t *testing.T, d *patientDialer) {
	t.Helper()
	rw, err := d.dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer rw.Close()
	_, _ = io.ReadAll(rw) // it ends with an error
}

func TestARefusedLoginWaitsForItsUser(t *testing.T) {
	var told []string
	d, runs := fakeSSH(t, `echo "some banner" >&2
		printf 'me@host: Permission denied (publickey).\r\n' >&2; exit 255`,
		func(why string) { told = append(told, why) })
	if d.retry() {
		t.Error("there was something to try again")
	}
	attempt(t, d)
	if want := "me@host: Permission denied (publickey)."; strings.Join(told, "|") != want {
		t.Fatalf("told was %q, want %q", told, want)
	}
	giveUp := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(10*time.Millisecond, func() { cancel(giveUp) })
	if _, err := d.dial(ctx); !errors.Is(err, giveUp) || runs() != 1 {
		t.Fatalf("the next attempt ended with %v after %d runs", err, runs())
	}
	for range 2 {
		if !d.retry() {
			t.Error("the user cannot try again")
		}
	}
	attempt(t, d)
	if runs() != 2 || len(told) != 2 {
		t.Errorf("after another attempt: %d runs, told %q", runs(), told)
	}
	if d.accepted(); d.waits() || d.retry() {
		t.Error("it waits although the host has taken the login")
	}
}

func TestALostNetworkIsNoRefusal(t *testing.T) {
	for _, text := range []string{
		"ssh: connect to host host port 22: Connection refused",
		"ssh: Could not resolve hostname host: Temporary failure in name resolution",
		"Connection closed by 192.0.2.1 port 22",
		"client_loop: send disconnect: Broken pipe",
		"",
	} {
		d, runs := fakeSSH(t, "echo '"+text+"' >&2; exit 255",
			func(why string) { t.Errorf("refused: %s", why) })
		attempt(t, d)
		attempt(t, d)
		if runs() != 2 {
			t.Errorf("%q: %d runs", text, runs())
		}
	}
}
