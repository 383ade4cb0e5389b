package keeper

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"termhost/ahp/hosttest/slowtest"
	"termhost/ptypool/termlog"
)

// status returns a number of /proc/PID/status.
func status(t *testing.T, pid int, name string) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "\n"+name+":")
	n, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestWhatIsPrintedWithoutAHostIsInTheLogs(t *testing.T) {
	t.Parallel()
	drainMany(t, 20)
}

func TestMeasuresFiveHundredTerminalsWithoutAHost(t *testing.T) {
	slowtest.Measures(t)
	const (
		terminals = 500
		most      = 16 // KiB of anonymous memory for each, beside what it takes with a host
	)
	if idle, peak := drainMany(t, terminals); peak-idle > terminals*most {
		t.Errorf("the keeper has %d KiB of anonymous memory, and %d with a host", peak, idle)
	}
}

// drainMany has terminals print while no host runs, into logs that are not empty, and waits until
// all of it is in the logs. It returns how much anonymous memory the keeper has had while there was
// a host, and then at most, in KiB.
func drainMany(t *testing.T, terminals int) (idle, peak int) {
	t.Helper()
	const (
		logBytes = 1 << 20
		before   = 300 << 10 // bytes in each log when the host goes
	)
	l := newLink(t)
	c := connect(t, l)
	var masters []int
	var dirs []string
	for i := range terminals {
		dir := t.TempDir()
		log, err := termlog.Create(dir, logBytes)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := log.Append(termlog.Data, time.Unix(0, 0), make([]byte, before)); err != nil {
			t.Fatal(err)
		}
		log.Close()
		p := shell(t, fmt.Sprint("t", i), "read x; seq 1 4000; echo done; sleep 1234")
		p.Log = dir
		term, err := c.Start(p, Memory{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		masters, dirs = append(masters, term.TakeFD(Master)), append(dirs, dir)
		term.Close()
	}
	idle = status(t, c.Pid, "RssAnon")
	c.Close()
	for _, fd := range masters {
		if _, err := unix.Write(fd, []byte("\n")); err != nil {
			t.Fatal(err)
		}
		unix.Close(fd)
	}
	for _, dir := range dirs {
		eventually(t, "all output is in the log", func() bool {
			peak = max(peak, status(t, c.Pid, "RssAnon"))
			log, err := termlog.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer log.Close()
			found := false
			_ = log.Read(before+18000, func(r termlog.Record) bool {
				found = found || strings.Contains(string(r.Payload), "done")
				return true
			})
			return found
		})
	}
	t.Logf("anonymous memory: %d KiB with a host, up to %d KiB without, %d threads", idle, peak,
		status(t, c.Pid, "Threads"))
	connect(t, l)
	return idle, peak
}
