package sshcmd

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestTheUsersOptionsReachSSH(t *testing.T) {
	for _, c := range []struct{ in, subsystem, attach, err string }{
		{in: "host",
			subsystem: "ssh -T -o RemoteCommand=none -o ClearAllForwardings=yes -o ServerAliveInterval=15 host -s ahp",
			attach:    "ssh -t -o RemoteCommand=none -o ClearAllForwardings=yes host attach -r N"},
		{in: "-p 2222 -4Ci key -oUser=me me@host -v",
			subsystem: "ssh -T -o RemoteCommand=none -o ClearAllForwardings=yes -p 2222 -4Ci key " +
				"-oUser=me -v -o ServerAliveInterval=15 me@host -s ahp",
			attach: "ssh -t -o RemoteCommand=none -o ClearAllForwardings=yes -p 2222 -4Ci key " +
				"-oUser=me -v me@host attach -r N"},
		{in: "", err: "no host"},
		{in: "-v", err: "no host"},
		{in: "-p", err: "needs a value"},
		{in: "a b", err: `unexpected argument "b"`},
		{in: "-vN a", err: "-N leaves no connection"},
		{in: "-f a", err: "-f leaves no connection"},
		{in: "--locale a", err: "no option --locale"},
	} {
		t.Setenv(Variable, "")
		target, err := Parse(strings.Fields(c.in))
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q: %v, want %s", c.in, err, c.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", c.in, err)
			continue
		}
		if got := strings.Join(target.connect(false, false, AHP()), " "); got != c.subsystem {
			t.Errorf("%q:\n got %s\nwant %s", c.in, got, c.subsystem)
		}
		if got := strings.Join(target.Attach("N"), " "); got != c.attach {
			t.Errorf("%q:\n got %s\nwant %s", c.in, got, c.attach)
		}
		if !strings.Contains(strings.Join(target.connect(true, false, AHP()), " "), " -o BatchMode=yes ") {
			t.Errorf("%q: a reconnection may ask", c.in)
		}
	}
	t.Setenv(Variable, "my ssh -F file")
	target, err := Parse([]string{"host"})
	if err != nil {
		t.Fatal(err)
	}
	argv := strings.Join(target.connect(false, false, AHP()), " ")
	if !strings.HasPrefix(argv, "my ssh -F file -T ") {
		t.Errorf("the ssh command is %s", argv)
	}
}

// TestAnSSHThatHangsIsKilled runs an ssh that does not end when its streams are closed, as one
// does whose ControlMaster does not answer any more.
func TestAnSSHThatHangsIsKilled(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "ssh")
	// It hangs unless there is a file called well.
	script := "echo up $* ; test -e " + dir + "/well || exec sleep 1000\n"
	if err := os.WriteFile(program, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(Variable, "sh "+program)
	target, err := Parse([]string{"-S", "mine", "host"})
	if err != nil {
		t.Fatal(err)
	}
	d := &Dialer{Target: target, Words: AHP(), Stderr: io.Discard}
	dial := func() (args string, pid int) {
		t.Helper()
		rw, err := d.Dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer rw.Close()
		args, err = bufio.NewReader(rw).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return args, rw.(*process).cmd.Process.Pid
	}
	args, pid := dial()
	if strings.Contains(args, "-S none") {
		t.Errorf("the first one was run with %s", args)
	}
	if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
		t.Errorf("it was not killed: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "well"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if args, _ := dial(); !strings.Contains(args, "-S mine -S none ") {
			t.Errorf("the next one was run with %s", args)
		}
	}
	d.UseMaster()
	if args, _ := dial(); strings.Contains(args, "-S none") {
		t.Errorf("after a refusal it was run with %s", args)
	}
}
