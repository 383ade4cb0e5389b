package sshd

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// pipeline runs OpenSSH's client with a command between other programs: SSH in script stands for
// the client up to the command.
func (r *rig) pipeline(script string) outcome {
	r.t.Helper()
	quoted := strings.Join(r.sshArgs("alice"), "' '")
	cmd := exec.CommandContext(r.t.Context(), "bash", "-c",
		strings.ReplaceAll(script, "SSH", "ssh '"+quoted+"'"))
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = hosttest.Run(cmd)
	return outcome{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// Without a pty, input and output are pipes: what would be a key or the end of a line on a terminal
// is a byte like any other.
func TestEveryByteGoesThroughRun(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	noise := make([]byte, 4<<20+17)
	_, _ = rand.Read(noise)
	for name, data := range map[string]string{
		"noise":        string(noise),
		"a long line":  strings.Repeat("x", 22<<10) + "\n",
		"control keys": "a\x03b\x04c\x1a\x1c\x11\x13\x7f\x15d",
		"line ends":    "a\r\nb\rc\n",
		"queries":      "\x1b[6n\x1b]11;?\x1b\\\x1bP$qm\x1b\\",
		"nothing":      "",
	} {
		if got := r.ssh("alice", data, "run", "--", "cat"); got.stdout != data || got.status != 0 {
			t.Errorf("%s: %d bytes became %d, or others; status %d, %s", name, len(data),
				len(got.stdout), got.status, got.stderr)
		}
	}
}

func TestOutputAndErrorsStayApart(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	got := r.ssh("alice", "", "run", "--", "echo out; echo err >&2; exit 4")
	if want := (outcome{"out\n", "err\n", 4}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestAHundredMegabytesArriveWhole(t *testing.T) {
	t.Parallel()
	size := 100 << 20
	if !slowtest.On(t) {
		size = 10 << 20
	}
	r := newRig(t, rigOptions{})
	sum := sha256.New()
	if _, err := io.CopyN(sum, zeroes{}, int64(size)); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("%x  -\n", sum.Sum(nil))
	for _, script := range []string{
		"SSH run -- head -c %d /dev/zero | sha256sum",
		"head -c %d /dev/zero | SSH run -- sha256sum",
	} {
		if got := r.pipeline(fmt.Sprintf(script, size)); got.stdout != want {
			t.Errorf("%s: %+v, want %s", script, got, want)
		}
	}
}

type zeroes struct{}

func (zeroes) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestTheProgramEndsWithItsReader(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	got := r.pipeline("SSH run -- yes | head -1; echo ${PIPESTATUS[0]}")
	if got.stdout != "y\n141\n" || got.stderr != "" {
		t.Errorf("got %+v", got)
	}
	hosttest.Eventually(t, "nothing is left", func() bool {
		st := r.host.Stats()
		return st.Terminals+st.Exited == 0
	})
}

// A client whose own output is stuck takes nothing more: its window stays at nothing.
func TestAClientThatStoppedTakingOutputSaysThatItReadsNoMore(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	ch, reqs, err := r.dial("alice").OpenChannel("session", nil)
	if err != nil {
		t.Fatal(err)
	}
	status := exitStatus(reqs)
	command := struct{ Command string }{"run -n x -- yes; echo over >&2; exit 3"}
	if ok, err := ch.SendRequest("exec", true, gossh.Marshal(&command)); err != nil || !ok {
		t.Fatal(ok, err)
	}
	if _, err := io.ReadFull(ch, make([]byte, 2)); err != nil {
		t.Fatal(err)
	}
	if _, err := ch.SendRequest("eow@openssh.com", false, nil); err != nil {
		t.Fatal(err)
	}
	if got := <-status; got != 3 {
		t.Errorf("status %d", got)
	}
}

// exitStatus answers a channel's requests and returns the exit status that is among them.
func exitStatus(reqs <-chan *gossh.Request) <-chan int {
	status := make(chan int, 1)
	go func() {
		for req := range reqs {
			if req.Type == "exit-status" && len(req.Payload) == 4 {
				status <- int(req.Payload[3])
			}
			_ = req.Reply(false, nil)
		}
	}()
	return status
}

// OpenSSH's client stops reading its own input then.
func TestTheClientIsToldThatAProgramReadsNoMore(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	ch, reqs, err := r.dial("alice").OpenChannel("session", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ch.Close()
	command := struct{ Command string }{"run -- exec <&-; echo up; exec sleep 1000"}
	if ok, err := ch.SendRequest("exec", true, gossh.Marshal(&command)); err != nil || !ok {
		t.Fatal(ok, err)
	}
	if _, err := io.ReadFull(ch, make([]byte, len("up\n"))); err != nil {
		t.Fatal(err)
	}
	// The host finds out when it writes, unless it still has the pipe's other end from the start.
	hosttest.Eventually(t, "the client is told", func() bool {
		if _, err := ch.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		select {
		case req := <-reqs:
			if req == nil || req.Type != "eow@openssh.com" {
				t.Fatalf("got %+v", req)
			}
			return true
		default:
			return false
		}
	})
}

func TestHalfClosesArePassedOn(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	s, err := r.dial("alice").NewSession()
	if err != nil {
		t.Fatal(err)
	}
	in, _ := s.StdinPipe()
	out, _ := s.StdoutPipe()
	if err := s.Start("run -- echo first; exec >&- 2>&-; read x; exit $x"); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(out); string(got) != "first\n" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	fmt.Fprintln(in, "9") // it still reads
	if err := s.Wait(); !strings.Contains(fmt.Sprint(err), "status 9") {
		t.Errorf("got %v", err)
	}
}

func TestSignalsReachTheProgram(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	s, err := r.dial("alice").NewSession()
	if err != nil {
		t.Fatal(err)
	}
	out, _ := s.StdoutPipe()
	const script = "trap 'echo got it; exit 8' USR1; echo up; while :; do sleep 0.01; done"
	if err := s.Start("run -- " + script); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Scan()
	if err := s.Signal(gossh.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	if lines.Scan(); lines.Text() != "got it" {
		t.Errorf("it says %q", lines.Text())
	}
	if err := s.Wait(); !strings.Contains(fmt.Sprint(err), "status 8") {
		t.Errorf("got %v", err)
	}
}

// started is OpenSSH's client in the background, with a program that has said that it is up.
type started struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	stderr *bytes.Buffer
}

func (r *rig) start(command string) *started {
	r.t.Helper()
	args := append(r.sshArgs("alice"), command)
	s := &started{cmd: exec.CommandContext(r.t.Context(), "ssh", args...), stderr: &bytes.Buffer{}}
	s.cmd.Stderr = s.stderr
	in, err := s.cmd.StdinPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	if err := hosttest.Start(s.cmd); err != nil {
		r.t.Fatal(err)
	}
	s.in = in
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "up\n" {
		r.t.Fatalf("it says %q: %v\n%s", line, err, s.stderr)
	}
	return s
}

// interrupt ends the client as ctrl-C does, and returns what it said.
func (s *started) interrupt() (stderr string) {
	_ = s.cmd.Process.Signal(os.Interrupt)
	_ = s.cmd.Wait()
	return s.stderr.String()
}

func TestAProgramWhoseConnectionIsLostIsHungUp(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	s := r.start("run -n x -- trap 'echo hup >" + r.path("end") + "; exit 5' HUP; echo up;" +
		" cat; echo whole >" + r.path("end"))
	if _, err := s.in.Write([]byte("half")); err != nil {
		t.Fatal(err)
	}
	r.shows("x", "half") // cat runs: sh may lose a signal for one that it is just starting
	s.interrupt()
	hosttest.Eventually(t, "the program ends", func() bool { return r.host.Stats().Exited == 1 })
	if got := r.read("end"); got != "hup\n" {
		t.Errorf("it was told %q", got)
	}
	if got := r.ssh("alice", "", "ls"); !strings.Contains(got.stdout, "exited 5") {
		t.Errorf("it is listed as %+v", got)
	}
}

func TestAKeptProgramOutlivesItsConnectionAndIsNamed(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	s := r.start("run --keep -- echo up; cat >/dev/null; sleep 1000")
	name := strings.TrimSuffix(s.interrupt(), "\n")
	hosttest.Eventually(t, "its connection is gone", func() bool {
		return r.host.Stats().Connections["ssh"] == 0
	})
	got := r.ssh("alice", "", "ls")
	if !strings.Contains(got.stdout, "\n"+name+" ") || !strings.Contains(got.stdout, "running") {
		t.Errorf("%q is listed as %+v", name, got)
	}
	if got := r.ssh("alice", "", "log", "--text", name); got.stdout != "up\n" {
		t.Errorf("its log is %+v", got)
	}
	if got := r.ssh("alice", "", "rm", name); got.status != 0 {
		t.Errorf("rm: %+v", got)
	}
}

func TestAShellWithoutAPtyReadsAPipe(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	for _, c := range []struct{ stdin, want string }{
		{"echo hi", "hi\n"},
		{"if [ -t 0 ]; then echo a terminal; fi\necho over\n", "over\n"},
		{"", ""},
	} {
		if got := r.ssh("alice", c.stdin); got.stdout != c.want || got.status != 0 {
			t.Errorf("%q: %+v", c.stdin, got)
		}
	}
	got := r.ssh("alice", "echo $((6*7))\nexit 3", "run", "--", "sh")
	if got.stdout != "42\n" || got.status != 3 {
		t.Errorf("run: %+v", got)
	}
}

func TestTheEnvironmentIsThatOfSSHD(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	env := func(got outcome) map[string]string {
		vars := map[string]string{}
		for line := range strings.Lines(got.stdout) {
			name, value, _ := strings.Cut(strings.TrimRight(line, "\r\n"), "=")
			vars[name] = value
		}
		return vars
	}
	vars := env(r.ssh("alice", "", "run", "--", "env"))
	for _, name := range []string{"USER", "LOGNAME", "HOME", "SHELL", "PATH"} {
		if vars[name] == "" {
			t.Errorf("%s is not set", name)
		}
	}
	for _, name := range []string{"TERM", "SSH_TTY"} {
		if value, set := vars[name]; set {
			t.Errorf("%s is %q without a pty", name, value)
		}
	}
	connection := strings.Fields(vars["SSH_CONNECTION"])
	if len(connection) != 4 || connection[2]+":"+connection[3] != r.addr {
		t.Fatalf("SSH_CONNECTION is %q", connection)
	}
	want := connection[0] + " " + connection[1] + " " + connection[3]
	if got := vars["SSH_CLIENT"]; got != want {
		t.Errorf("SSH_CLIENT is %q, want %q", got, want)
	}
	onTerminal := r.runSSH("", append(r.sshArgs("alice", "-tt"), "run", "--", "env")...)
	for _, name := range []string{"TERM=", "SSH_TTY=/dev/", "SSH_CLIENT=", "SSH_CONNECTION="} {
		if !strings.Contains(onTerminal.stdout, name) {
			t.Errorf("%s is not set on a terminal: %q", name, onTerminal.stdout)
		}
	}
}

func TestBashReadsItsFileForACommand(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bash"); err != nil {
		slowtest.Missing(t, "bash is not installed")
	}
	r := newRig(t, rigOptions{host: func(c *host.Config) { c.Shell = "/bin/bash" }})
	r.write(".bashrc", "export FROM_FILE=read\n")
	if got := r.ssh("alice", "", "run", "--", "echo $FROM_FILE"); got.stdout != "read\n" {
		t.Errorf("got %+v", got)
	}
}

func TestOthersWatchAProgramOnPipesAndCannotType(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: map[string]string{"alice": "", "bob": ""}})
	s := r.start("run -n x -- echo up; cat")
	r.shows("x", "up")
	p := r.open(r.dial("bob"), 80, 24, "attach x")
	p.sees("up")
	p.typeIn("k")
	p.sees("it runs on pipes: only the connection that started it sends it input")
	got := r.ssh("bob", "", "send", "x", "text")
	if got.status != 1 || !strings.Contains(got.stderr, "runs on pipes") {
		t.Errorf("send: %+v", got)
	}
	if _, err := s.in.Write([]byte("a\nb\n")); err != nil {
		t.Fatal(err)
	}
	r.shows("x", "b")
	if got := r.ssh("bob", "", "log", "--raw", "x"); got.stdout != "up\r\na\r\nb\r\n" {
		t.Errorf("log: %+v", got)
	}
	_ = s.in.Close()
	if err := s.cmd.Wait(); err != nil {
		t.Error(err)
	}
}

func TestNoMoreSessionsLetsTheFirstOneIn(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	c := r.dial("alice")
	if _, _, err := c.SendRequest("no-more-sessions@openssh.com", false, nil); err != nil {
		t.Fatal(err)
	}
	s, err := c.NewSession() // x/crypto may see the request before it
	if err != nil {
		t.Fatal(err)
	}
	if out, err := s.Output("run -- echo in"); string(out) != "in\n" || err != nil {
		t.Errorf("got %q, %v", out, err)
	}
	if _, err := c.NewSession(); err == nil {
		t.Error("a second one was let in")
	}
}
