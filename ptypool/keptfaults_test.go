package ptypool

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"termhost/ahp/hosttest/slowtest"
	"termhost/ptypool/keeper"
	"termhost/ptypool/termlog"
)

// runBusyHost is a host that repeats one action until it is killed, and prints a line each time.
// Its arguments are the keeper's folder, a word for the command lines of its programs, and the
// action.
func runBusyHost(args []string) int {
	link, tag, what := linkTo(args[0]), args[1], args[2]
	fmt.Println("up")
	p := New(Config{Starter: link})
	run := func(script string) (*Term, error) {
		return p.Start(Spec{
			Argv: []string{"/bin/sh", "-c", script, tag}, Cols: 80, Rows: 24,
		}, quiet{})
	}
	var once *Term
	for i := 0; ; i++ {
		// An action may fail if the keeper dies meanwhile; the next one must succeed.
		var err error
		switch what {
		case "start":
			_, err = link.Connect()
			fmt.Println("again", err)
			select {}
		case "create":
			var term *Term
			if term, err = run("sleep 1234; :"); err == nil {
				term.Hangup(0)
				<-term.Done()
			}
		case "exit":
			var term *Term
			if term, err = run("exit 3"); err == nil {
				<-term.Done()
			}
		case "resize", "flood":
			if once == nil {
				once, err = run("seq 1 1000000000; :")
			}
			if once != nil && what == "resize" {
				err = once.Resize(80+i%40, 24)
			}
		}
		if _, say := fmt.Println("again", err); say != nil {
			return 1
		}
	}
}

// Host and keeper are killed, in every order, at random moments of all actions. The terminals that
// are left can be used and ended.
func TestNothingIsLeftWhetherHostOrKeeperIsKilled(t *testing.T) {
	t.Parallel()
	rounds := 1
	if slowtest.On(t) {
		rounds = 2
	}
	for _, what := range []string{"start", "create", "resize", "exit", "flood"} {
		for _, order := range []string{"host", "keeper", "host keeper", "keeper host"} {
			t.Run(what+"/"+order, func(t *testing.T) {
				t.Parallel()
				for range rounds {
					killed(t, what, order)
				}
			})
		}
	}
}

// killed is one round.
func killed(t *testing.T, what, order string) {
	t.Helper()
	dir := t.TempDir()
	link, tag := linkTo(filepath.Join(dir, "keeper")), filepath.Join(dir, "tag")
	defer func() {
		if err := link.Stop(); err != nil {
			t.Error(err)
		}
		eventually(t, "no program is left", func() bool { return len(commandsWith(t, tag)) == 0 })
	}()
	cmd, said := hostProcess(t, asBusyHost, link.Dir, tag, what)
	if what != "start" {
		if _, err := said.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(time.Duration(rand.IntN(10_000)) * time.Microsecond) // a random moment
	for _, who := range strings.Fields(order) {
		if who == "host" {
			_ = cmd.Process.Kill()
			continue
		}
		for _, pid := range commandsWith(t, asKeeper+"\x00"+link.Dir) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	if order == "keeper" && what != "start" { // the host goes on
		goesOn(t, said)
	}
	_ = cmd.Process.Kill()
	_, _ = io.Copy(io.Discard, said)
	_ = cmd.Wait()
	client, err := link.Connect()
	if err != nil {
		t.Fatal(err)
	}
	left, err := client.List()
	if err != nil {
		t.Fatal(err)
	}
	p := New(Config{})
	var ending sync.WaitGroup
	for _, info := range left {
		k, err := client.Take(info.ID)
		if err != nil {
			t.Fatal(err)
		}
		ending.Go(func() { p.EndKept(k) })
	}
	ending.Wait()
}

// goesOn waits until a host has done its thing again, without an error.
func goesOn(t *testing.T, said *bufio.Reader) {
	t.Helper()
	for n := 0; n < 1000; n++ {
		line, err := said.ReadString('\n')
		if err != nil {
			t.Fatalf("the host has ended: %v", err)
		}
		if line == "again <nil>\n" && n > 100 { // what had been said before the kill is passed
			return
		}
	}
	t.Fatal("the host does not go on without the keeper")
}

// commandsWith returns the processes whose command line contains a text.
func commandsWith(t *testing.T, text string) (pids []int) {
	t.Helper()
	dirs, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range dirs {
		var pid int
		if _, err := fmt.Sscan(d.Name(), &pid); err != nil || pid == os.Getpid() {
			continue
		}
		line, _ := os.ReadFile(filepath.Join("/proc", d.Name(), "cmdline")) // it may have ended
		if strings.Contains(string(line), text) && !strings.Contains(string(line), asBusyHost) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// The keeper must not read output that the host may be about to read.
func TestAStoppedHostDoesNotCountAsDead(t *testing.T) {
	t.Parallel()
	link, logDir := newLink(t), t.TempDir()
	client, err := link.Connect()
	if err != nil {
		t.Fatal(err)
	}
	client.Close()
	host, _ := hostProcess(t, asHost, link.Dir, logDir, "deferred")
	end := func() int64 {
		log, err := termlog.Open(logDir)
		if err != nil {
			t.Fatal(err)
		}
		defer log.Close()
		return log.End()
	}
	eventually(t, "the host logs", func() bool { return end() > 0 })
	if err := host.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	var ws syscall.WaitStatus
	if _, err := syscall.Wait4(host.Process.Pid, &ws, syscall.WUNTRACED, nil); err != nil || !ws.Stopped() {
		t.Fatalf("the host is not stopped: %v", err)
	}
	before := end()
	for range 20 {
		_, err := keeper.Dial(link.Dir, "another")
		var busy *keeper.BusyError
		if !errors.As(err, &busy) || busy.Pid != host.Process.Pid {
			t.Fatalf("another host is told %v", err)
		}
		if now := end(); now != before {
			t.Fatalf("the log goes on from %d to %d while the host is stopped", before, now)
		}
	}
	if err := host.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the host goes on", func() bool { return end() > before })
	if err := host.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = host.Wait()
	checkFlood(t, link, logDir, 1)
	endKept(t, link, floodID)
}

// It measures the keeper's processor time during a flood.
func TestTheKeeperDoesNothingWhileAHostReads(t *testing.T) {
	t.Parallel()
	link := newLink(t)
	client, err := link.Connect()
	if err != nil {
		t.Fatal(err)
	}
	ticks := func() (sum int) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", client.Pid))
		if err != nil {
			t.Fatal(err)
		}
		f := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		for _, s := range f[11:13] { // utime and stime (proc(5))
			var n int
			fmt.Sscan(s, &n)
			sum += n
		}
		return sum
	}
	p := newPool(t, Config{Starter: link})
	const most = 2 // hundredths of a second: to start the program, and to collect its status
	used := 0
	for range 5 { // a busy machine counts ticks that others have used, now and then
		before := ticks()
		term, err := p.Start(Spec{Argv: []string{"/usr/bin/seq", "1", "500000"}, Cols: 80, Rows: 24}, quiet{})
		if err != nil {
			t.Fatal(err)
		}
		wait(t, "the end of the flood", term.Done())
		if used = ticks() - before; used <= most {
			return
		}
	}
	t.Errorf("it has used %d hundredths of a second: %d at most", used, most)
}
