package sshd

import (
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
)

// followed reports how many follow a terminal's log, or watch it otherwise.
func (r *rig) followed(name string) int {
	return strings.Count(r.ssh("alice", "", "who --json "+name).stdout, `"name"`)
}

func TestAFollowedLogHasEveryLineOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	r.ssh("alice", "", "new -d -n x -- stty -echo; seq 1 20000; read x; seq 20001 50000")
	r.ssh("alice", "", "wait --match 20000 x")
	var want strings.Builder
	for n := 1; n <= 50000; n++ {
		fmt.Fprintln(&want, n)
	}
	text, raw := &bytes.Buffer{}, &bytes.Buffer{}
	var clients []*exec.Cmd
	for form, out := range map[string]*bytes.Buffer{"--text": text, "--raw": raw} {
		cmd := exec.CommandContext(t.Context(), "ssh", append(r.sshArgs("alice"), "log -f "+form+" x")...)
		cmd.Stdout = out
		hosttest.Check(t, hosttest.Start(cmd))
		clients = append(clients, cmd)
	}
	hosttest.Eventually(t, "both follow", func() bool { return r.followed("x") == 2 })
	r.ssh("alice", "", "send --enter x")
	for _, cmd := range clients {
		if err := cmd.Wait(); err != nil {
			t.Errorf("ssh: %v", err)
		}
	}
	if got := text.String(); got != want.String() {
		t.Errorf("the text has %d bytes, want %d", len(got), want.Len())
	}
	if got := strings.ReplaceAll(raw.String(), "\r", ""); got != want.String() {
		t.Errorf("the output has %d bytes, want %d", len(got), want.Len())
	}
}

// One key reads few logs at once. Those that it follows do not count.
func TestFollowersDoNotKeepALogFromBeingRead(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: map[string]string{"alice": "", "olga": asObserver}})
	r.ssh("alice", "", "new -d -n x -- echo first; exec cat")
	r.ssh("alice", "", "wait --match first x")
	const followers = 3
	for range followers {
		cmd := exec.CommandContext(t.Context(), "ssh", append(r.sshArgs("olga"), "log -f x")...)
		hosttest.Check(t, hosttest.Start(cmd))
		defer cmd.Wait()
		defer cmd.Process.Kill()
	}
	hosttest.Eventually(t, "all follow", func() bool { return r.followed("x") == followers })
	for range 2 {
		for _, command := range []string{"log x", "grep first", "cast x"} {
			if got := r.ssh("olga", "", command); got.status != 0 || !strings.Contains(got.stdout, "first") {
				t.Errorf("%s: %+v", command, got)
			}
		}
	}
}

func TestAFollowedLogSaysWhatItHasLost(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{host: func(c *host.Config) {
		c.LogBytes, c.ScrollbackBytes = 256<<10, 64<<10
	}})
	r.ssh("alice", "", "new -d -n x -- stty -echo; read x; seq 1 600000; read x")
	s, err := r.dial("alice").NewSession()
	hosttest.Check(t, err)
	var stderr bytes.Buffer
	s.Stderr = &stderr
	out, err := s.StdoutPipe()
	hosttest.Check(t, err)
	hosttest.Check(t, s.Start("log -f x"))
	hosttest.Eventually(t, "it is followed", func() bool { return r.followed("x") == 1 })
	r.ssh("alice", "", "send --enter x")
	r.ssh("alice", "", "wait --match '^600000' x") // nothing of it is read here
	r.ssh("alice", "", "send --enter x")
	text, err := io.ReadAll(out)
	hosttest.Check(t, err)
	hosttest.Check(t, s.Wait())
	said := regexp.MustCompile(`^termhost: about (\d+) bytes of x are lost here`).FindStringSubmatch(
		stderr.String())
	if said == nil {
		t.Fatalf("it says %q after %d bytes", stderr.String(), len(text))
	}
	const all = 9*1 + 90*2 + 900*3 + 9000*4 + 90000*5 + 500001*6 + 2*600000 // with CR LF
	lost, _ := strconv.Atoi(said[1])
	if strings.Count(stderr.String(), "\n") == 1 {
		if got := len(text) + bytes.Count(text, []byte("\n")) + lost; got < all-100 || got > all+100 {
			t.Errorf("%d bytes came and were lost, of %d", got, all)
		}
	}
}

func TestAFollowedLogEndsWithCtrlC(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	r.ssh("alice", "", "new -d -n x -- echo begun; read x")
	p := r.open(r.dial("alice"), 80, 24, "log -f x")
	p.sees("begun\r\n")
	p.typeIn("\x03")
	if got := p.status(); got != 0 {
		t.Errorf("status %d", got)
	}
	hosttest.Eventually(t, "nobody follows", func() bool { return r.followed("x") == 0 })
	if got := r.ssh("alice", "", "log --since 1h --tail 1 x"); got.stdout != "begun\n" {
		t.Errorf("the log: %+v", got)
	}
}

func TestGrepOverSSH(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	r.ssh("alice", "", "new -d -n x -- echo a.b; echo axb")
	r.ssh("alice", "", "wait x")
	for command, want := range map[string]string{`grep a\.b`: "a.b", `grep 'a\.b' x`: "a.b",
		`grep -i -- "A\.B" x`: "a.b", `grep '^ax'`: "axb"} {
		got := r.ssh("alice", "", command)
		if !regexp.MustCompile(`^x:[-0-9]{10}T[:0-9]{8}Z:` + regexp.QuoteMeta(want) + `\n$`).MatchString(got.stdout) {
			t.Errorf("%s: %+v", command, got)
		}
	}
	if got := r.ssh("alice", "", "grep nothing"); got.status != 1 || got.stdout+got.stderr != "" {
		t.Errorf("no match: %+v", got)
	}
}
