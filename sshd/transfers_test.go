package sshd

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/hosttest"
)

// transfers opens SFTP on new connections of a key until it is refused, or there are most. It
// returns how many there are, and what the one that was refused was told.
func (r *rig) transfers(key string, most int) (n int, why string) {
	r.t.Helper()
	var c *gossh.Client
	for ; n < most; n++ {
		if n%defaultMaxSessions == 0 {
			c = r.dial(key)
		}
		s, err := c.NewSession()
		hosttest.Check(r.t, err)
		in, err := s.StdinPipe()
		hosttest.Check(r.t, err)
		out, err := s.StdoutPipe()
		hosttest.Check(r.t, err)
		errs, err := s.StderrPipe()
		hosttest.Check(r.t, err)
		hosttest.Check(r.t, s.RequestSubsystem("sftp"))
		// SSH_FXP_INIT. If it cannot be written, the transfer has been refused already.
		_, _ = in.Write([]byte{0, 0, 0, 5, 1, 0, 0, 0, 3})
		if _, err := io.ReadFull(out, make([]byte, 9)); err != nil {
			text, _ := io.ReadAll(errs)
			return n, string(text)
		}
	}
	return n, ""
}

// The file servers of one key are bounded, and it does not keep an admin from copying files.
func TestTransfersOfOneKeyAreBounded(t *testing.T) {
	r := withFiles(t, Policy{SFTP: true}, map[string]string{"alice": "", "oscar": asOperator})
	n, why := r.transfers("oscar", 50)
	if n != 32 || !strings.Contains(why, "has 32 file transfers already") {
		t.Errorf("after %d: %q", n, why)
	}
	out, err := r.other("scp", append(r.copyArgs("oscar"), r.path("known_hosts"),
		"me@127.0.0.1:"+r.path("copy"))...)
	if err == nil || !strings.Contains(out, "has 32 file transfers already") {
		t.Errorf("scp is told: %v, %s", err, out)
	}
	if n, why := r.transfers("alice", 1); n != 1 {
		t.Errorf("an admin is refused: %s", why)
	}
}

// What all keys have together is bounded, too, and the next one is told why it is refused.
func TestTransfersOfTheHostAreBounded(t *testing.T) {
	r := withFiles(t, Policy{SFTP: true}, nil)
	if n, why := r.transfers("alice", 140); n != 128 ||
		!strings.Contains(why, "this host serves 128 file transfers at once") {
		t.Errorf("after %d: %q", n, why)
	}
}

// BenchmarkTransferMemory is what the process of a transfer has for itself.
func BenchmarkTransferMemory(b *testing.B) {
	r := newRig(b, rigOptions{door: func(c *Config) {
		c.Policy = Policy{SFTP: true}
		self, err := os.Executable()
		hosttest.Check(b, err)
		c.FileServer = []string{"/usr/bin/env", filesVariable + "=1", self}
	}})
	const most = 20
	for b.Loop() {
		r.transfers("alice", most)
		kib, found := 0, 0
		dirs, _ := filepath.Glob("/proc/[0-9]*")
		for _, dir := range dirs {
			env, _ := os.ReadFile(dir + "/environ")
			if !strings.Contains(string(env), filesVariable+"=1") {
				continue
			}
			status, _ := os.ReadFile(dir + "/status")
			_, after, _ := strings.Cut(string(status), "RssAnon:")
			n := 0
			_, _ = fmt.Sscan(after, &n)
			kib, found = kib+n, found+1
		}
		b.ReportMetric(float64(kib)/float64(max(found, 1)), "KiB/transfer")
	}
}
