package sshd

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
)

// shared returns the state of a terminal as `log --json` shows it.
func (r *rig) shared(name string) (st ahp.TerminalState) {
	r.t.Helper()
	got := r.ssh("alice", "", "log", "--json", name)
	if err := json.Unmarshal([]byte(got.stdout), &st); err != nil {
		r.t.Fatalf("log: %+v: %v", got, err)
	}
	return st
}

// A terminal's own output is not touched. A stream that comes from no terminal lacks the \r of its
// line ends.
func TestShareTakesATerminalsOutputAsItIsWithRaw(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	const printed = "one\ntwo\r\n\x1b[31mred\x1b[m\n"
	for _, c := range []struct {
		name, flags, content string
		pty                  bool
	}{
		{"raw", "--raw --cols 40 --rows 5", printed, true},
		{"stream", "--cols 40 --rows 5", "one\r\ntwo\r\n\x1b[31mred\x1b[m\r\n", false},
	} {
		got := r.ssh("alice", printed, "share -n "+c.name+" "+c.flags)
		if got.status != 0 || got.stdout != "" {
			t.Errorf("%s: %+v", c.name, got)
		}
		st := r.shared(c.name)
		var content strings.Builder
		for _, part := range st.Content {
			content.WriteString(part.Text.String())
		}
		size := fmt.Sprintf("%dx%d", st.Cols, st.Rows)
		if content.String() != c.content || st.IsPty != c.pty || !st.Client || size != "40x5" ||
			!st.Exited || st.ExitCode == nil || *st.ExitCode != 0 {
			t.Errorf("%s: %q, %+v", c.name, &content, st)
		}
	}
	if got := r.ssh("alice", "", "peek raw").stdout; !strings.HasPrefix(got, "one\n   two\nred\n") {
		t.Errorf("the screen of what was raw is %q", got)
	}
}

// sharing is a running `ssh host share`.
type sharing struct {
	t              *testing.T
	cmd            *exec.Cmd
	stdin          io.WriteCloser
	stdout, stderr *transcript
}

func (r *rig) share(t *testing.T, args string) *sharing {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, "ssh", append(r.sshArgs("alice"), "share "+args)...)
	s := &sharing{t: t, cmd: cmd, stdout: newTranscript(), stderr: newTranscript()}
	s.cmd.Stdout, s.cmd.Stderr = s.stdout, s.stderr
	var err error
	if s.stdin, err = s.cmd.StdinPipe(); err == nil {
		err = hosttest.Start(s.cmd)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.told("standard input is shown as")
	return s
}

func (s *sharing) told(text string) {
	s.t.Helper()
	if rest, ok := s.stderr.await(text); !ok {
		s.t.Fatalf("never told %q, only %q", text, rest)
	}
}

func (s *sharing) print(text string) {
	s.t.Helper()
	if _, err := io.WriteString(s.stdin, text); err != nil {
		s.t.Fatal(err)
	}
}

// status waits for the end and returns the exit status.
func (s *sharing) status() int {
	s.t.Helper()
	_ = s.cmd.Wait() // the status says more
	return s.cmd.ProcessState.ExitCode()
}

// Keys that are typed at a shared terminal go nowhere, and one line says so.
func TestTypingIntoASharedTerminalIsRefusedWithOneNotice(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: map[string]string{"alice": "", "bob": ""}})
	s := r.share(t, "-n laptop")
	s.print("shown\n")
	p := r.open(r.dial("bob"), 80, 24, "attach laptop")
	p.sees("shown")
	for range 20 {
		p.typeIn("rm -rf /\r\x03")
	}
	p.sees("only alice types here; you can watch")
	for range 20 {
		p.typeIn("\x1b[A")
	}
	p.typeIn("\x1cd")
	p.sees("[detached: laptop goes on running")
	if got := p.status(); got != 0 {
		t.Errorf("status %d", got)
	}
	if n := strings.Count(p.out.all(), "you can watch"); n != 1 {
		t.Errorf("there were %d notices:\n%q", n, p.out.all())
	}
	s.stdin.Close()
	got, lines := s.status(), strings.Count(s.stderr.all(), "\n")
	if got != 0 || s.stdout.all() != "" || lines != 1 {
		t.Errorf("the owner: status %d, %q, %q", got, s.stdout.all(), s.stderr.all())
	}
}

// The bucket holds four seconds' worth; what is beyond it comes at the rate.
func TestAFloodingShareIsSlowedAndToldOnce(t *testing.T) {
	t.Parallel()
	const rate = 32 << 10
	r := newRig(t, rigOptions{host: func(c *host.Config) { c.ClientOutputRate = rate }})
	line := strings.Repeat("x", 63) + "\n"
	got := r.ssh("alice", strings.Repeat(line, 5*rate/len(line))+"the end\n", "share -n flood")
	slowed := strings.Count(got.stderr, "terminal.client_output_rate, 32768 bytes a second")
	if got.status != 0 || slowed != 1 {
		t.Errorf("the owner: %+v", got)
	}
	want := 5*rate*(len(line)+1)/len(line) + len("the end\r\n") // with a \r in each line
	if st := r.shared("flood"); len(st.Content) != 1 || st.Content[0].Text.Len() != want {
		t.Errorf("%d bytes were taken", st.Content[0].Text.Len())
	}
}

func TestAShareIsToldOfTheHostsEnd(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	s := r.share(t, "-n laptop")
	s.print("shown\n")
	if err := r.host.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := s.status(); got != 1 {
		t.Errorf("status %d, want 1", got)
	}
	const ended = "termhost: laptop was ended because the host is shutting down\n"
	if got := s.stderr.all(); !strings.HasSuffix(got, ended) {
		t.Errorf("it was told %q", got)
	}
}

func TestAShareIsToldThatItsKeyIsGone(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: map[string]string{"alice": "", "bob": ""}})
	s := r.share(t, "-n laptop")
	p := r.open(r.dial("bob"), 80, 24, "attach -r laptop")
	r.removeKey("alice")
	if got := s.status(); got != 255 {
		t.Errorf("status %d, want 255", got)
	}
	told := s.stderr.all()
	if !strings.HasSuffix(told, "; laptop ends with its connection]\n") ||
		!strings.Contains(told, "\n[your key") {
		t.Errorf("it was told %q", told)
	}
	if got := p.status(); got != 255 {
		t.Errorf("the viewer ended with %d", got)
	}
}
