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

	"termhost/cmd/termhost/sshlink"
)

// fakeSSH returns a link over a program that counts its runs and then runs script.
func fakeSSH(t *testing.T, script string, refused func(string)) (l *patientLink, runs func() int) {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "ssh")
	if err := os.WriteFile(program, []byte("echo >>"+dir+"/runs\n"+script+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(sshlink.Variable, "sh "+program)
	target, err := sshlink.Parse([]string{"host"})
	if err != nil {
		t.Fatal(err)
	}
	l = newPatientLink(target, io.Discard, refused)
	return l, func() int {
		text, _ := os.ReadFile(dir + "/runs")
		return len(text)
	}
}

// attempt opens a connection and reads it to its end.
func attempt(t *testing.T, l *patientLink) {
	t.Helper()
	rw, err := l.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer rw.Close()
	_, _ = io.ReadAll(rw) // it ends with an error
}

func TestARefusedLoginWaitsForItsUser(t *testing.T) {
	var told []string
	l, runs := fakeSSH(t, `echo "some banner" >&2; printf 'me@host: Permission denied (publickey).\r\n' >&2; exit 255`,
		func(why string) { told = append(told, why) })
	if l.retry() {
		t.Error("there was something to try again")
	}
	attempt(t, l)
	if want := "me@host: Permission denied (publickey)."; strings.Join(told, "|") != want {
		t.Fatalf("told was %q, want %q", told, want)
	}
	giveUp := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(10*time.Millisecond, func() { cancel(giveUp) })
	if _, err := l.open(ctx); !errors.Is(err, giveUp) || runs() != 1 {
		t.Fatalf("the next attempt ended with %v after %d runs", err, runs())
	}
	for range 2 {
		if !l.retry() {
			t.Error("the user cannot try again")
		}
	}
	attempt(t, l)
	if runs() != 2 || len(told) != 2 {
		t.Errorf("after another attempt: %d runs, told %q", runs(), told)
	}
	if l.taken(); l.waits() || l.retry() {
		t.Error("it waits although the host has taken the login")
	}
}

func TestALostNetworkIsNoRefusal(t *testing.T) {
	for _, words := range []string{
		"ssh: connect to host host port 22: Connection refused",
		"ssh: Could not resolve hostname host: Temporary failure in name resolution",
		"Connection closed by 192.0.2.1 port 22",
		"client_loop: send disconnect: Broken pipe",
		"",
	} {
		l, runs := fakeSSH(t, "echo '"+words+"' >&2; exit 255", func(why string) { t.Errorf("refused: %s", why) })
		attempt(t, l)
		attempt(t, l)
		if runs() != 2 {
			t.Errorf("%q: %d runs", words, runs())
		}
	}
}
