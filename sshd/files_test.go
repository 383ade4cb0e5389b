package sshd

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/pkg/sftp"
	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/sshd/files"
)

// filesVariable makes the test binary the program that serves SFTP.
const filesVariable = "TERMHOST_TEST_FILES"

func filesMain(string) {
	if err := files.Serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// withFiles makes a rig that serves files and has the policy p.
func withFiles(t *testing.T, p Policy, people map[string]string) *rig {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return newRig(t, rigOptions{people: people, door: func(c *Config) {
		c.Policy = p
		c.FileServer = []string{"/usr/bin/env", filesVariable + "=1", self}
	}})
}

// copyArgs are the options by which sftp and scp come as key.
func (r *rig) copyArgs(key string, options ...string) []string {
	_, port, _ := net.SplitHostPort(r.addr)
	return append([]string{"-F", "none", "-i", r.path(key), "-o", "IdentitiesOnly=yes",
		"-o", "IdentityAgent=none", "-o", "UserKnownHostsFile=" + r.path("known_hosts"),
		"-o", "BatchMode=yes", "-P", port}, options...)
}

func TestFilesAreCopied(t *testing.T) {
	t.Parallel()
	r := withFiles(t, Policy{SFTP: true}, map[string]string{"alice": "", "oscar": asOperator})
	content := strings.Repeat("\x00\x01\xff\r\n\x03\x04", 300_000)
	r.write("there", content)
	for _, key := range []string{"alice", "oscar"} {
		back := filepath.Join(t.TempDir(), "back")
		out, err := r.other("scp", append(r.copyArgs(key), "me@127.0.0.1:"+r.path("there"), back)...)
		if got, _ := os.ReadFile(back); err != nil || string(got) != content {
			t.Errorf("%s: scp from the host: %v, %s; %d bytes", key, err, out, len(got))
		}
		out, err = r.other("scp", append(r.copyArgs(key), "-p", back, "me@127.0.0.1:"+r.path("up-"+key))...)
		if err != nil || r.read("up-"+key) != content {
			t.Errorf("%s: scp to the host: %v, %s", key, err, out)
		}
	}
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	r.write("batch", "pwd\ncd "+r.dir+"\nmkdir d\nrename there d/moved\nchmod 600 d/moved\nln -s moved d/link\nls -l d\n")
	out, err := r.other("sftp", append(r.copyArgs("alice"), "-b", r.path("batch"), "me@127.0.0.1")...)
	if err != nil || !strings.Contains(out, "directory: "+home) || r.read("d/link") != content {
		t.Errorf("sftp: %v, %s", err, out)
	}
	if to, err := os.Readlink(r.path("d/link")); to != "moved" {
		t.Errorf("the link leads to %q, %v", to, err)
	}
	if got := r.ssh("alice", "", "ls --json"); got.stdout != "[]\n" {
		t.Errorf("a transfer is listed: %s", got.stdout)
	}
}

func TestWhoMayCopyFiles(t *testing.T) {
	t.Parallel()
	people := map[string]string{"olga": asObserver, "looks": "no-pty", "strict": "restrict",
		"forced": `command="true"`, "alice": ""}
	r := withFiles(t, Policy{SFTP: true}, people)
	r.write("file", "content")
	try := func(name, why string) {
		t.Helper()
		out, err := r.other("scp", append(r.copyArgs(name), r.path("file"), "me@127.0.0.1:"+r.path("x"))...)
		if err == nil || !strings.Contains(out, why) || r.read("x") != "" {
			t.Errorf("%s: %v, %s", name, err, out)
		}
	}
	try("olga", "observers may only look")
	try("looks", "read-only key")
	try("strict", "read-only key")
	try("forced", "may only run that command")
	r.server.SetPolicy(Policy{})
	try("alice", "sftp = false")
}

// transfer opens SFTP with the library's client.
func (r *rig) transfer(c *gossh.Client) *sftp.Client {
	r.t.Helper()
	client, err := sftp.NewClient(c)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { client.Close() })
	return client
}

func TestATransferEndsWithItsKey(t *testing.T) {
	t.Parallel()
	r := withFiles(t, Policy{SFTP: true}, nil)
	r.addKey("bob", "") // the last key would stay
	client := r.transfer(r.dial("alice"))
	r.removeKey("alice")
	hosttest.Eventually(t, "the transfer ends", func() bool {
		_, err := client.Getwd()
		return err != nil
	})
	if _, err := client.Create(r.path("late")); err == nil {
		t.Error("a file was made")
	}
}

// Opening a FIFO waits for its other end, for ever if there is none.
func TestATransferThatIsStuckEndsWithItsConnection(t *testing.T) {
	t.Parallel()
	r := withFiles(t, Policy{SFTP: true}, nil)
	if err := syscall.Mkfifo(r.path("fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := r.dial("alice")
	client := r.transfer(c)
	opened := make(chan error, 1)
	go func() {
		_, err := client.Open(r.path("fifo"))
		opened <- err
	}()
	if _, err := client.Getwd(); err != nil { // others are served meanwhile
		t.Fatal(err)
	}
	c.Close()
	slowtest.Hurry(t)
	if err := slowtest.Receive(t, "the transfer ends", opened); err == nil {
		t.Error("the fifo was opened")
	}
	r.empties() // and the rig's end waits for the process
}

func TestATransferIsBounded(t *testing.T) {
	t.Parallel()
	r := withFiles(t, Policy{SFTP: true}, nil)
	r.write("file", "content")
	client := r.transfer(r.dial("alice"))
	for i := 0; ; i++ {
		if i > 2000 {
			t.Fatal("there is no limit to open files")
		}
		if _, err := client.Open(r.path("file")); err != nil {
			break
		}
	}
	if _, err := client.Getwd(); err != nil {
		t.Errorf("the transfer has broken: %v", err)
	}
}

// A client that asks and never reads must not have the host hold all the answers.
func TestATransferWhoseAnswersNobodyReadsStops(t *testing.T) {
	t.Parallel()
	r := withFiles(t, Policy{SFTP: true}, nil)
	c := r.dial("alice")
	s, err := c.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	in, err := s.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.RequestSubsystem("sftp"); err != nil {
		t.Fatal(err)
	}
	init := []byte{0, 0, 0, 5, 1, 0, 0, 0, 3}
	realpath := append([]byte{0, 0, 0, 10, 16, 0, 0, 0, 1, 0, 0, 0, 1}, '.')
	if _, err := in.Write(init); err != nil {
		t.Fatal(err)
	}
	const plenty = 64 << 20
	batch := slices.Repeat(realpath, 10_000)
	wrote := make(chan int, 1000)
	go func() {
		defer close(wrote)
		for range plenty / len(batch) {
			n, err := in.Write(batch)
			wrote <- n
			if err != nil {
				return
			}
		}
	}()
	hosttest.Eventually(t, "another SSH session is served", func() bool {
		return r.ssh("alice", "", "whoami").status == 0
	})
	c.Close()
	total := 0
	for n := range wrote {
		total += n
	}
	if total >= plenty/2 {
		t.Errorf("%d bytes of requests were taken", total)
	}
}

func TestOrdinaryCommandsRunAsUnderSSHD(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: map[string]string{"alice": "", "olga": asObserver},
		door: func(c *Config) { c.Policy.Shell = true }})
	all := make([]byte, 256<<10)
	for i := range all {
		all[i] = byte(i * 7)
	}
	for _, c := range []struct {
		command, in string
		want        outcome
	}{
		{"echo out; echo err >&2; exit 3", "", outcome{"out\n", "err\n", 3}},
		{"cat", string(all), outcome{string(all), "", 0}},
		{"kill -TERM $$", "", outcome{"", "", 255}}, // as with sshd: the client has no status
		{"run -- kill -TERM $$", "", outcome{"", "", 143}},
		{"no-such-program 2>/dev/null", "", outcome{"", "", 127}},
		{`sh -c 'echo "$0 $HOME"'`, "", outcome{"sh " + r.dir + "\n", "", 0}},
		{"echo 'an unclosed", "", outcome{status: 2}},
		{"termhost whoami", "", outcome{"alice  admin  " + r.fingerprint("alice") + "\n", "", 0}},
		{"whoami", "", outcome{"alice  admin  " + r.fingerprint("alice") + "\n", "", 0}},
		{"ls --json", "", outcome{"[]\n", "", 0}},
	} {
		got := r.ssh("alice", c.in, c.command)
		if c.want.status == 2 {
			got.stderr = ""
		}
		if got != c.want {
			t.Errorf("%s: got %.200q, want %.200q", c.command, fmt.Sprint(got), fmt.Sprint(c.want))
		}
	}
	if got := r.ssh("alice", "", "yes | head -2"); got.stdout != "y\ny\n" {
		t.Errorf("got %+v", got)
	}
	if got := r.ssh("olga", "", "echo hi"); got.status == 0 || got.stdout != "" ||
		!strings.Contains(got.stderr, "observers may only look") {
		t.Errorf("an observer: %+v", got)
	}
	p := r.open(r.dial("alice"), 80, 24, "tty; exit 4")
	p.sees("/dev/pts/")
	if got := p.status(); got != 4 {
		t.Errorf("on a terminal: status %d", got)
	}
	r.server.SetPolicy(Policy{})
	if got := r.ssh("alice", "", "echo hi"); got.status != 127 {
		t.Errorf("with exec = verbs: %+v", got)
	}
	if got := r.ssh("alice", "", "termhost ls --json"); got.stdout != "[]\n" {
		t.Errorf("with exec = verbs: %+v", got)
	}
}

func TestAnOrdinaryCommandEndsWithItsConnection(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{door: func(c *Config) { c.Policy.Shell = true }})
	c := r.dial("alice")
	s, err := c.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	out := newTranscript()
	s.Stdout = out
	in, err := s.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	// It reads on until the end of its input, which a lost connection is not.
	const script = "sleep 1000 & echo pids $$ $! .; trap '' HUP; cat > half; mv half whole"
	if err := s.Start("cd " + r.dir + "; " + script); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(in, "half"); err != nil {
		t.Fatal(err)
	}
	if got, ok := out.await(" ."); !ok {
		t.Fatalf("got %q", got)
	}
	var shell, sleep int
	if _, err := fmt.Fscanf(bytes.NewReader(out.text), "pids %d %d", &shell, &sleep); err != nil {
		t.Fatal(err)
	}
	if p, _, inside := r.host.CreatorOf(sleep); !inside || p.Name != "alice" {
		t.Errorf("its processes count as %q's, %v", p.Name, inside)
	}
	c.Close()
	for _, pid := range []int{shell, sleep} {
		hosttest.Eventually(t, "its processes end", func() bool {
			return syscall.Kill(pid, 0) != nil
		})
	}
	if _, err := os.Stat(r.path("whole")); err == nil {
		t.Error("half of the input counted as all of it")
	}
}

// hasProgram reports whether a program is there. It must be where the tests are promised to be
// complete.
func (r *rig) hasProgram(name string) bool {
	r.t.Helper()
	_, err := exec.LookPath(name)
	switch {
	case err == nil:
	case slowtest.Complete():
		r.t.Fatal(err)
	default:
		r.t.Logf("not tried: %s is not installed", name)
	}
	return err == nil
}

func TestRealProgramsOverOrdinaryCommands(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{door: func(c *Config) { c.Policy.Shell = true }})
	ssh := "ssh " + strings.Join(r.sshArgs("alice")[:len(r.sshArgs("alice"))-1], " ")
	here := t.TempDir()
	content := strings.Repeat("\x00\x01\xff\r\n\x03\x04", 100_000)
	if err := os.WriteFile(here+"/file", []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(program string, args ...string) {
		t.Helper()
		if out, err := r.other(program, args...); err != nil {
			t.Errorf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
		}
	}
	run("scp", append(r.copyArgs("alice"), "-O", here+"/file", "me@127.0.0.1:"+r.path("by-scp"))...)
	if r.read("by-scp") != content {
		t.Error("scp -O")
	}
	if r.hasProgram("rsync") {
		run("rsync", "-a", "-e", ssh, here+"/", "me@127.0.0.1:"+r.path("by-rsync/"))
		if r.read("by-rsync/file") != content {
			t.Error("rsync")
		}
	}
	if r.hasProgram("git") {
		run("git", "init", "-q", "--bare", r.path("repo.git"))
		git := func(args ...string) {
			t.Helper()
			run("git", append([]string{"-c", "core.sshCommand=" + ssh, "-c", "user.name=a",
				"-c", "user.email=a@example.com"}, args...)...)
		}
		git("clone", "-q", "me@127.0.0.1:"+r.path("repo.git"), here+"/clone")
		if err := os.Rename(here+"/file", here+"/clone/file"); err != nil {
			t.Fatal(err)
		}
		git("-C", here+"/clone", "add", "file")
		git("-C", here+"/clone", "commit", "-q", "-m", "x")
		git("-C", here+"/clone", "push", "-q", "origin", "HEAD:main")
		git("clone", "-q", "-b", "main", "me@127.0.0.1:"+r.path("repo.git"), here+"/again")
		if got, _ := os.ReadFile(here + "/again/file"); string(got) != content {
			t.Error("git")
		}
	}
	if got := r.ssh("alice", "", "ls --json"); got.stdout != "[]\n" {
		t.Errorf("they are listed: %s", got.stdout)
	}
}
