package keeper

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"termhost/ahp/hosttest/slowtest"
	"termhost/ptypool/termlog"
)

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	most := slowtest.PatienceOf(t)
	for deadline := time.Now().Add(most); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not in %v: %s", most, what)
		}
	}
}

// newLink returns a link to a new keeper in its own process.
func newLink(t *testing.T) *Link {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "keeper")
	l := &Link{
		Dir: dir, Version: "test", Log: slog.New(slog.DiscardHandler),
		Command: []string{os.Args[0], asKeeper, dir, "1h"},
	}
	t.Cleanup(func() {
		pid := 0
		if l.client != nil {
			pid = l.client.Pid
		}
		if err := l.Stop(); err != nil {
			t.Error(err)
		}
		eventually(t, "the keeper has ended", func() bool {
			return pid == 0 || syscall.Kill(pid, 0) == syscall.ESRCH
		})
		if said, err := os.ReadFile(filepath.Join(dir, logName)); err != nil || len(said) > 0 {
			t.Logf("the keeper's log: %s %v", said, err)
		}
	})
	return l
}

func connect(t *testing.T, l *Link) *Client {
	t.Helper()
	c, err := l.Connect()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// shell is a Program that has /bin/sh run a script on a pty.
func shell(t *testing.T, id, script string) Program {
	return Program{
		ID: id, Path: "/bin/sh", Argv: []string{"sh", "-c", script},
		Env: []string{"PATH=/usr/bin:/bin", "MARK=" + id, slowtest.Owner(t)}, Dir: "/tmp",
		Cols: 80, Rows: 24, TTYVar: "MY_TTY",
	}
}

func begun(t *testing.T, c *Client, p Program) *Child {
	t.Helper()
	term, err := c.Start(p, Memory{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(term.Close)
	return term
}

// output reads a pty until no process has it open.
func output(t *testing.T, term *Child) string {
	t.Helper()
	return readAll(t, term.TakeFD(Master))
}

func readAll(t *testing.T, fd int) string {
	t.Helper()
	if fd < 0 {
		t.Fatal("no descriptor to read from")
	}
	defer unix.Close(fd)
	if err := unix.SetNonblock(fd, false); err != nil {
		t.Fatal(err)
	}
	var all bytes.Buffer
	buf := make([]byte, 4096)
	for {
		n, err := unix.Read(fd, buf)
		switch {
		case err == unix.EINTR:
		case err == unix.EIO, err == nil && n == 0:
			return all.String()
		case err != nil:
			t.Fatal(err)
		default:
			all.Write(buf[:n])
		}
	}
}

func exit(t *testing.T, term *Child) syscall.WaitStatus {
	t.Helper()
	e, err := term.Wait()
	if err != nil {
		t.Fatal(err)
	}
	if e.Ticks == 0 {
		t.Error("it is not known when the status was collected")
	}
	return e.Status
}

func TestAProgramRunsOnAPtyOfTheKeeper(t *testing.T) {
	t.Parallel()
	c := connect(t, newLink(t))
	term := begun(t, c, shell(t, "a", `stty size; tty; echo "$MY_TTY $MARK $PWD"; exit 3`))
	lines := strings.Split(output(t, term), "\r\n")
	if len(lines) < 3 || lines[0] != "24 80" || lines[2] != lines[1]+" a /tmp" {
		t.Errorf("it says %q", lines)
	}
	if st := exit(t, term); st.ExitStatus() != 3 {
		t.Errorf("it ended with %v", st)
	}
}

func TestExitsAreReported(t *testing.T) {
	t.Parallel()
	c := connect(t, newLink(t))
	for i, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL, syscall.SIGHUP} {
		term := begun(t, c, shell(t, fmt.Sprint("t", i), "exec sleep 1234"))
		if err := syscall.Kill(-term.Pid, sig); err != nil {
			t.Fatal(err)
		}
		if st := exit(t, term); st.Signal() != sig {
			t.Errorf("after %v it ended with %v", sig, st)
		}
	}
}

func TestAProgramRunsOnPipes(t *testing.T) {
	t.Parallel()
	c := connect(t, newLink(t))
	p := shell(t, "p", "cat; echo oops >&2; exit 4")
	p.Pipes = true
	term := begun(t, c, p)
	stdin := term.TakeFD(Stdin)
	if _, err := unix.Write(stdin, []byte("one\ntwo\n")); err != nil {
		t.Fatal(err)
	}
	unix.Close(stdin)
	term.CloseEnd(Stdin) // without it the keeper would hold the input open
	if got := readAll(t, term.TakeFD(Stdout)); got != "one\ntwo\n" {
		t.Errorf("stdout %q", got)
	}
	if got := readAll(t, term.TakeFD(Stderr)); got != "oops\n" {
		t.Errorf("stderr %q", got)
	}
	if st := exit(t, term); st.ExitStatus() != 4 {
		t.Errorf("it ended with %v", st)
	}
}

func TestAStartThatFailsReportsTheReason(t *testing.T) {
	t.Parallel()
	c := connect(t, newLink(t))
	p := shell(t, "x", "")
	p.Path = "/no/such/program"
	if _, err := c.Start(p, Memory{}, nil); !errors.Is(err, syscall.ENOENT) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want ENOENT", err)
	}
	begun(t, c, shell(t, "x", "exec sleep 1234"))
	if _, err := c.Start(shell(t, "x", ""), Memory{}, nil); err == nil {
		t.Error("two terminals have one id")
	}
}

func TestAnEnvironmentMayBeLongerThanAMessage(t *testing.T) {
	t.Parallel()
	c := connect(t, newLink(t))
	p := shell(t, "long", `echo ${#V9}`)
	for i := range 10 {
		p.Env = append(p.Env, fmt.Sprintf("V%d=%s", i, strings.Repeat("x", 100<<10)))
	}
	if got := output(t, begun(t, c, p)); got != "102400\r\n" {
		t.Errorf("got %q", got)
	}
}

func TestASecondHostIsRefusedWithTheFirstsPid(t *testing.T) {
	t.Parallel()
	l := newLink(t)
	connect(t, l)
	_, err := Dial(l.Dir, "second")
	var busy *BusyError
	if !errors.As(err, &busy) || busy.Pid != os.Getpid() {
		t.Errorf("got %v, want a *BusyError with pid %d", err, os.Getpid())
	}
}

func TestAnotherUserIsRefused(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("needs root to become another user")
	}
	dir, err := os.MkdirTemp("", "keeper") // t.TempDir's parents are for this user only
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	l := newLink(t)
	l.Dir, l.Command = dir, []string{os.Args[0], asKeeper, dir, "1h"}
	c := connect(t, l)
	program := filepath.Join(dir, "dialer")
	data, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	// A program that a process has open for writing cannot be executed, and a process that is
	// forked now would have it open.
	syscall.ForkLock.RLock()
	err = os.WriteFile(program, data, 0o755)
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	dial := func() string {
		cmd := exec.Command(program, asDialer, dir)
		cmd.Dir = "/"
		const nobody = 65534
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Credential: &syscall.Credential{Uid: nobody, Gid: nobody},
		}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if got := dial(); !strings.Contains(got, "permission denied") {
		t.Errorf("the socket lets another user in: %s", got)
	}
	if err := os.Chmod(filepath.Join(dir, socketName), 0o777); err != nil {
		t.Fatal(err)
	}
	if got := dial(); !strings.Contains(got, ErrGone.Error()) {
		t.Errorf("the keeper lets another user in: %s", got)
	}
	connect(t, l)
}

func TestIncompatibleVersionsAreRefused(t *testing.T) {
	t.Parallel()
	l := newLink(t)
	connect(t, l).Close()
	for hello, want := range map[string]string{
		`{"op":"hello","seq":1,"protocol":0}`:                      "does not serve a host as old",
		`{"op":"hello","seq":1,"protocol":99,"new":{"field":[1]}}`: "",
	} {
		c, m := greet(t, l, hello)
		if want == "" && m.Error != "" || !strings.Contains(m.Error, want) {
			t.Errorf("%s is answered with %q", hello, m.Error)
		}
		if want == "" {
			// Unknown operations are refused, and the connection stays open.
			if _, err := c.Write([]byte(`{"op":"upgrade","seq":2}`)); err != nil {
				t.Fatal(err)
			}
			if m, err := c.receive(); err != nil || m.Seq != 2 || m.Error == "" {
				t.Errorf("an unknown operation is answered with %+v, %v", m, err)
			}
		}
		c.Close()
	}
	eventually(t, "the keeper lets the next one in", func() bool {
		next, err := Dial(l.Dir, "next")
		if err == nil {
			next.Close()
		}
		return err == nil
	})
}

// greet sends the keeper a hello in these bytes, once no other host is connected.
func greet(t *testing.T, l *Link, hello string) (*conn, message) {
	t.Helper()
	dir, err := os.Open(l.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	var c *conn
	var m message
	eventually(t, "the keeper takes no other host for connected", func() bool {
		nc, err := net.DialUnix("unixpacket", nil, socketIn(dir))
		if err != nil {
			t.Fatal(err)
		}
		c = &conn{UnixConn: nc}
		if _, err := c.Write([]byte(hello)); err != nil {
			t.Fatal(err)
		}
		if m, err = c.receive(); err != nil {
			t.Fatal(err)
		}
		if m.Busy {
			c.Close()
		}
		return !m.Busy
	})
	return c, m
}

func TestALongListIsComplete(t *testing.T) {
	t.Parallel()
	c := connect(t, newLink(t))
	const n = pageTerms + 20
	for i := range n {
		begun(t, c, shell(t, fmt.Sprint("t", i), "exec sleep 1234"))
	}
	all, err := c.List()
	if err != nil || len(all) != n {
		t.Fatalf("%d terminals, %v; want %d", len(all), err, n)
	}
	for i, info := range all {
		if info.ID != fmt.Sprint("t", i) || info.Pid == 0 || info.Exit != nil {
			t.Fatalf("terminal %d is listed as %+v", i, info)
		}
	}
}

func TestTheNextHostTakesTerminalsAndStatuses(t *testing.T) {
	t.Parallel()
	l := newLink(t)
	c := connect(t, l)
	dir := t.TempDir()
	log, err := termlog.Create(dir, termlog.MinSize)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	p := shell(t, "lives", "echo before; read x; echo got $x; read x; exit 5")
	p.Log = dir
	live := begun(t, c, p)
	ended := begun(t, c, shell(t, "ended", "exit 6"))
	exit(t, ended)
	master := live.TakeFD(Master)
	if _, err := unix.Write(master, []byte("while\n")); err != nil {
		t.Fatal(err)
	}
	c.Close()
	logged := func() string {
		l, err := termlog.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		var all []byte
		if err := l.Read(0, func(r termlog.Record) bool {
			all = append(all, r.Payload...)
			return true
		}); err != nil {
			t.Fatal(err)
		}
		return string(all)
	}
	eventually(t, "the keeper logs what is printed while there is no host", func() bool {
		return strings.HasSuffix(logged(), "got while\r\n")
	})
	c = connect(t, l)
	all, err := c.List()
	if err != nil || len(all) != 2 || all[0].Exit != nil || all[1].Exit == nil ||
		all[1].Exit.Status.ExitStatus() != 6 {
		t.Fatalf("listed are %+v, %v", all, err)
	}
	taken, err := c.Take("lives")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	if len(taken.Landings) != 1 || !taken.Landings[0].Empty() {
		t.Error("the landing does not come with it")
	}
	fd := taken.TakeFD(Master)
	if _, err := unix.Write(fd, []byte("x\n")); err != nil {
		t.Fatal(err)
	}
	if got := readAll(t, fd); got != "x\r\n" {
		t.Errorf("after it was taken it says %q", got)
	}
	if st := exit(t, taken); st.ExitStatus() != 5 {
		t.Errorf("it ended with %v", st)
	}
	taken.Forget()
	ended.client = c
	ended.Forget()
	eventually(t, "both are forgotten", func() bool {
		all, err := c.List()
		return err == nil && len(all) == 0
	})
	unix.Close(master)
}

func TestNothingIsLeftOfForgottenTerminals(t *testing.T) {
	t.Parallel()
	c := connect(t, newLink(t))
	count := func(pid any) int {
		fds, err := os.ReadDir(fmt.Sprintf("/proc/%v/fd", pid))
		if err != nil {
			t.Fatal(err)
		}
		return len(fds)
	}
	round := func() {
		for i := range 20 {
			p := shell(t, fmt.Sprint("t", i), "exit 0")
			p.Pipes = i%2 == 0
			term, err := c.Start(p, Memory{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			exit(t, term)
			term.Close()
			term.Forget()
		}
		if all, err := c.List(); err != nil || len(all) > 0 {
			t.Fatalf("left are %v, %v", all, err)
		}
	}
	round()
	keeper := count(c.Pid)
	for range 3 {
		round()
	}
	eventually(t, "the keeper has no more descriptors than before", func() bool {
		return count(c.Pid) <= keeper
	})
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", c.Pid, c.Pid))
	if err == nil && len(bytes.TrimSpace(children)) > 0 {
		t.Errorf("children are left: %s", children)
	}
}

func TestWithoutTerminalsAndHostTheKeeperEnds(t *testing.T) {
	t.Parallel()
	l := newLink(t)
	l.Command[3] = "50ms"
	c := connect(t, l)
	term := begun(t, c, shell(t, "a", "read x"))
	master := term.TakeFD(Master)
	c.Close()
	again := connect(t, &Link{Dir: l.Dir, Log: l.Log}) // it has a terminal and so goes on
	if again.Pid != c.Pid {
		t.Fatalf("another keeper answers")
	}
	if _, err := unix.Write(master, []byte("\n")); err != nil {
		t.Fatal(err)
	}
	unix.Close(master)
	eventually(t, "the program has ended", func() bool {
		all, err := again.List()
		return err == nil && all[0].Exit != nil
	})
	again.Close()
	<-c.Gone()
	eventually(t, "the keeper has ended", func() bool {
		return syscall.Kill(c.Pid, 0) == syscall.ESRCH
	})
	if _, err := Dial(l.Dir, "test"); !errors.Is(err, ErrNone) {
		t.Errorf("got %v, want ErrNone", err)
	}
	if next := connect(t, l); next.Pid == c.Pid {
		t.Error("the same keeper answers")
	}
}

// A host may be quicker to start a keeper than the service manager, which would go on trying.
func TestAKeeperThatAwaitsTheEndOfAnotherIsTheNext(t *testing.T) {
	t.Parallel()
	l := newLink(t)
	c := connect(t, l)
	next := &Link{Dir: l.Dir, Version: "test", Log: l.Log,
		Command: []string{os.Args[0], asNext, l.Dir, "1h"}}
	if err := next.launch(); err != nil {
		t.Fatal(err)
	}
	if again, err := Dial(l.Dir, "test"); !errors.As(err, new(*BusyError)) {
		t.Errorf("before the end of the first: %v, %v", again, err)
	}
	if err := c.Stop(); err != nil {
		t.Fatal(err)
	}
	c.Close()
	var following *Client
	eventually(t, "the next one answers", func() (up bool) {
		var err error
		following, err = Dial(l.Dir, "test")
		return err == nil
	})
	if following.Pid != next.own {
		t.Errorf("%d answers, %d was to be next", following.Pid, next.own)
	}
	following.Close()
}

func TestAfterTheKeepersDeathStatusesComeFromTheSystem(t *testing.T) {
	t.Parallel()
	l := newLink(t)
	c := connect(t, l)
	term := begun(t, c, shell(t, "a", "echo up; read x; exit 7"))
	master := term.TakeFD(Master)
	if err := syscall.Kill(c.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-c.Gone()
	if _, err := unix.Write(master, []byte("\n")); err != nil {
		t.Fatal(err)
	}
	if got := readAll(t, master); got != "up\r\n\r\n" && got != "\r\nup\r\n" {
		t.Errorf("it says %q", got)
	}
	e, err := term.Wait()
	switch {
	case errors.Is(err, ErrUnknownExit):
		t.Logf("this system does not know either (%v)", err)
	case err != nil || e.Status.ExitStatus() != 7:
		t.Errorf("got %v, %v", e, err)
	}
	next, err := l.Start(shell(t, "b", "exit 8"), Memory{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close()
	if st := exit(t, next); st.ExitStatus() != 8 {
		t.Errorf("a program of the next keeper ended with %v", st)
	}
}

func TestTheKeeperInheritsNothingFromItsStarter(t *testing.T) {
	t.Parallel()
	c := connect(t, newLink(t))
	link := func(fd int) string {
		target, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", c.Pid, fd))
		return target
	}
	if link(0) != os.DevNull || !strings.HasSuffix(link(1), "/log") || link(1) != link(2) {
		t.Errorf("its standard files are %s, %s, %s", link(0), link(1), link(2))
	}
	if cwd, _ := os.Readlink(fmt.Sprintf("/proc/%d/cwd", c.Pid)); cwd != "/" {
		t.Errorf("its working directory is %s", cwd)
	}
	if sid, err := unix.Getsid(c.Pid); err != nil || sid != c.Pid {
		t.Errorf("its process session is %d, %v", sid, err)
	}
}

func TestFilesAreAccessibleToTheirUserOnly(t *testing.T) {
	t.Parallel()
	l := newLink(t)
	connect(t, l)
	for name, want := range map[string]fs.FileMode{
		"": 0o700, socketName: 0o600, lockName: 0o600, logName: 0o600,
	} {
		st, err := os.Stat(filepath.Join(l.Dir, name))
		if err != nil || st.Mode().Perm() != want {
			t.Errorf("%q: %v, %v; want %v", name, st, err, want)
		}
	}
}

func TestUnknownFieldsOfMessagesAreSkipped(t *testing.T) {
	var m message
	if err := json.Unmarshal([]byte(`{"op":"take","id":"x","later":[1,{"a":2}]}`), &m); err != nil {
		t.Fatal(err)
	}
	if m.Op != opTake || m.ID != "x" {
		t.Errorf("got %+v", m)
	}
}
