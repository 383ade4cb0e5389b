package keeper

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"termhost/ptypool/termlog"
)

// widowed kills the keeper of a link and returns the next one, which has adopted nothing.
func widowed(t *testing.T, l *Link, c *Client) (next *Client) {
	t.Helper()
	if err := syscall.Kill(c.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-c.Gone()
	return connect(t, l)
}

// Two keepers die, then the host, and the third keeper logs the rest.
func TestAProgramOnPipesIsAdopted(t *testing.T) {
	t.Parallel()
	l := newLink(t)
	c := connect(t, l)
	log := t.TempDir()
	newLog(t, log, termlog.MinSize)
	p := shell(t, "p", `read x; echo "got $x"; cat; echo oops >&2; exit 4`)
	p.Pipes, p.Log, p.Exit, p.Note = true, log, filepath.Join(log, "exit"), []byte("a note")
	term := begun(t, c, p)
	for range 2 {
		c = widowed(t, l, c)
		if !term.Abandoned() {
			t.Error("it has a keeper, which is none")
		}
		l.handOver(c)
		if term.Abandoned() {
			t.Error("the next keeper has not adopted it")
		}
	}
	stdin := term.TakeFD(Stdin)
	if _, err := unix.Write(stdin, []byte("more\n")); err != nil {
		t.Fatal(err)
	}
	unix.Close(stdin)
	term.CloseEnd(Stdin)
	c.Close()
	term.Close()

	c = connect(t, l)
	var info Info
	eventually(t, "the program has ended", func() bool {
		all, err := c.List()
		if err != nil || len(all) != 1 {
			t.Fatalf("the keeper has %v, %v", all, err)
		}
		info = all[0]
		return info.Exit != nil
	})
	if st := info.Exit.Ended(); st.Code != 4 && (st.Code != -1 || !info.Exit.Unknown) {
		t.Errorf("it has ended with %+v", st)
	}
	eventually(t, "its output is logged", func() bool {
		_, err := os.Stat(p.Exit)
		return err == nil
	})
	taken, err := c.Take("p")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	if string(taken.Note) != "a note" {
		t.Errorf("the note is %q", taken.Note)
	}
	logged, err := termlog.Open(log)
	if err != nil {
		t.Fatal(err)
	}
	defer logged.Close()
	if got := data(t, logged); got != "got more\noops\n" && got != "oops\ngot more\n" {
		t.Errorf("the log has %q", got)
	}
}

// data returns the output in a log.
func data(t *testing.T, log *termlog.Log) (all string) {
	t.Helper()
	if err := log.Read(0, func(r termlog.Record) bool {
		if r.Kind == termlog.Data {
			all += string(r.Payload)
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

// Otherwise nobody would ever end it.
func TestAForgottenTerminalIsNotAdopted(t *testing.T) {
	t.Parallel()
	l := newLink(t)
	c := connect(t, l)
	for _, id := range []string{"before", "between", "after"} {
		begun(t, c, shell(t, id, "exec sleep 1234"))
	}
	forget := func(id string) {
		t.Helper()
		all := append(l.orphans, c.terms[id])
		for _, term := range all {
			if term != nil && term.ID == id {
				term.Forget()
				term.Close()
				return
			}
		}
		t.Fatalf("there is no %q", id)
	}
	forget("before")
	c = widowed(t, l, c)
	forget("between")
	l.handOver(c)
	forget("after")
	if all, err := c.List(); err != nil || len(all) > 0 {
		t.Errorf("the keeper has %v, %v", all, err)
	}
}

// A host passes on descriptors of other kinds.
func TestOnlyValidDescriptorsAreAdopted(t *testing.T) {
	t.Parallel()
	l := newLink(t)
	c := connect(t, l)
	term := begun(t, c, shell(t, "a", "echo up; exec cat"))
	fd := func(name string) int {
		t.Helper()
		fd := term.TakeFD(name)
		if fd < 0 {
			t.Fatalf("there is no %s", name)
		}
		t.Cleanup(func() { unix.Close(fd) })
		return fd
	}
	pidfd, master := fd(fdPid), fd(fdMaster)
	landing := int(term.Landings[0].File().Fd())
	other, err := unix.PidfdOpen(os.Getpid(), 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(other) })
	plain, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	soft, err := unix.MemfdCreate("soft", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(soft) })
	if err := unix.Ftruncate(soft, landingSize); err != nil {
		t.Fatal(err)
	}
	file1 := int(plain.Fd())
	good := []file{{fdPid, pidfd}, {fdMaster, master}, {fdLanding, landing}}
	info := Info{ID: "b", Marker: term.Marker, Pid: term.Pid}
	adopt := func(i Info, files ...file) error {
		return c.ask(message{Op: opAdopt, Terms: []Info{i}, files: files}, func(message) {})
	}
	open := func() int {
		t.Helper()
		if _, err := c.List(); err != nil { // the requests before it have been handled then
			t.Fatal(err)
		}
		fds, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", c.Pid))
		if err != nil {
			t.Fatal(err)
		}
		return len(fds)
	}
	before := open()
	for name, bad := range map[string]struct {
		info  Info
		files []file
	}{
		"no id":               {Info{Pid: term.Pid}, good},
		"an id that is taken": {Info{ID: "a", Pid: term.Pid}, good},
		"no pidfd":            {info, good[1:]},
		"two pidfds":          {info, append([]file{{fdPid, pidfd}}, good...)},
		"another's pidfd":     {info, append([]file{{fdPid, other}}, good[1:]...)},
		"a file for a pidfd":  {info, append([]file{{fdPid, file1}}, good[1:]...)},
		"a file for a master": {info, []file{{fdPid, pidfd}, {fdMaster, file1}}},
		"a file for a pipe":   {Info{ID: "b", Pid: term.Pid, Pipes: true}, []file{{fdPid, pidfd}, {fdStdout, file1}}},
		"a pty for a pipe":    {Info{ID: "b", Pid: term.Pid, Pipes: true}, good},
		"a soft landing":      {info, []file{{fdPid, pidfd}, {fdMaster, master}, {fdLanding, soft}}},
		"a file for a memory": {info, append([]file{{fdMemory, file1}}, good...)},
		"what has no name":    {info, append([]file{{"", file1}}, good...)},
		"a program":           {info, append([]file{{fdProgram, file1}}, good...)},
	} {
		if err := adopt(bad.info, bad.files...); err == nil {
			t.Errorf("%s is adopted", name)
		}
	}
	if after := open(); after > before {
		t.Errorf("the keeper has %d descriptors, %d before: what it refused is left", after, before)
	}
	if err := adopt(info, good...); err != nil {
		t.Errorf("what is right is refused: %v", err)
	}
	if all, err := c.List(); err != nil || len(all) != 2 {
		t.Errorf("the keeper has %v, %v", all, err)
	}
}

// The system does not reveal how an adopted program ended.
func TestAnUnknownExitIsReportedAsUnknown(t *testing.T) {
	e := Exit{Status: unknownStatus, Unknown: true}
	if st := e.Ended(); st.Code != -1 || st.Signal != 0 {
		t.Errorf("it is noted as %+v", st)
	}
	term := &Child{client: &Client{done: make(chan struct{})}, exitKnown: make(chan struct{})}
	term.ended(e)
	if _, err := term.Wait(); err != ErrUnknownExit {
		t.Errorf("the host hears %v", err)
	}
}
