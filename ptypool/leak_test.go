package ptypool

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"termhost/ahp/hosttest/slowtest"
	"termhost/ptypool/vt"
)

// descriptors returns the open descriptors of this process, with what they are.
func descriptors(t testing.TB) map[string]string {
	t.Helper()
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	open := make(map[string]string)
	for _, n := range names {
		if what, err := os.Readlink("/proc/self/fd/" + n.Name()); err == nil {
			open[n.Name()] = what
		}
	}
	return open
}

// threads returns the number of operating system threads of this process.
func threads(t testing.TB) (n int) {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "\nThreads:")
	if _, err := fmt.Sscan(rest, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// children returns how many children this process has, zombies included.
func children(t testing.TB) int {
	t.Helper()
	table, err := scanProcs()
	if err != nil {
		t.Fatal(err)
	}
	return len(table.children[os.Getpid()])
}

func TestNothingIsLeftOfManyTerminals(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // finalizers would close what was forgotten
	p := newPool(t, Config{InputQueue: 64 << 10})
	round := func() {
		a, ra := sh(t, p, "exit 1")
		b, rb := sh(t, p, "trap '' HUP; stty raw; echo up; sleep 1000 & wait; sleep 1000")
		c, rc := start(t, p, "/bin/cat")
		if _, err := p.Start(Spec{Argv: []string{"/no/such/program"}}, newRecorder()); err == nil {
			t.Fatal("started nothing")
		}
		rb.text(t, "up")
		fill(t, b)
		b.Hangup(0)
		c.Hangup(0)
		ra.exit(t, a)
		rb.exit(t, b)
		rc.exit(t, c)
	}
	round() // opens what stays open: the poller
	wait(t, "the reaper", p.reaper.idle())
	before := descriptors(t)
	childrenBefore := 0
	if p.cfg.Starter != nil {
		childrenBefore = 1 // the keeper
	}
	for range 40 {
		round()
	}
	wait(t, "the reaper", p.reaper.idle())
	if after := descriptors(t); len(after) > len(before) {
		t.Errorf("descriptors before: %v\nafter: %v", before, after)
	}
	if n := children(t); n != childrenBefore {
		t.Errorf("%d children or zombies are left", n)
	}
}

// idleTerminals is how many terminals the goals for threads and memory are stated for.
const idleTerminals = 500

// startIdle starts n programs that wait for input.
func startIdle(t testing.TB, p *Pool, n int) (terms []*Term) {
	t.Helper()
	for range n {
		term, err := p.Start(Spec{Argv: []string{"/bin/cat"}}, quiet{})
		if err != nil {
			t.Fatal(err)
		}
		terms = append(terms, term)
	}
	return terms
}

// quiet is a Handler that wants nothing.
type quiet struct{}

func (quiet) Data([]byte)                 {}
func (quiet) Reply([]byte)                {}
func (quiet) Clipboard([]byte)            {}
func (quiet) Notification([]byte, string) {}
func (quiet) Mark([]byte)                 {}
func (quiet) Title(string)                {}
func (quiet) Cwd(string)                  {}
func (quiet) CommandDetection()           {}
func (quiet) PromptStart()                {}
func (quiet) CommandExecuted(string)      {}
func (quiet) CommandFinished(int, bool)   {}
func (quiet) Bell()                       {}
func (quiet) ControlMode()                {}
func (quiet) Zmodem()                     {}
func (quiet) DrawsPictures() bool         { return false }
func (quiet) Started(*Term)               {}
func (quiet) Output([]byte)               {}
func (quiet) Fed()                        {}
func (quiet) FrameEnded()                 {}
func (quiet) Ready()                      {}
func (quiet) Exited(ExitStatus)           {}

// What an idle terminal needs is the difference between half of them and all.
func TestMeasuresThreadsAndGoroutinesOfIdleTerminals(t *testing.T) {
	slowtest.Measures(t)
	const more = idleTerminals / 2
	p := newPool(t, Config{MaxTerminals: idleTerminals})
	terms := startIdle(t, p, more)
	goroutines := runtime.NumGoroutine()
	terms = append(terms, startIdle(t, p, more)...)
	if n := runtime.NumGoroutine() - goroutines; n > 2*more {
		t.Errorf("%d goroutines for %d more terminals", n, more)
	}
	if n := threads(t); n > 64 {
		t.Errorf("%d threads for %d terminals", n, idleTerminals)
	}
	began := time.Now()
	for _, term := range terms {
		term.Hangup(patience)
	}
	for _, term := range terms {
		wait(t, "the end of a terminal", term.Done())
	}
	t.Logf("%d threads; hung up in %v", threads(t), time.Since(began))
}

// memory returns the heap and stacks in use, in bytes.
func memory() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}

// BenchmarkIdleTerminal reports what one idle terminal costs beyond its program: in all, and
// without parser and screen.
func BenchmarkIdleTerminal(b *testing.B) {
	for b.Loop() {
		p := New(Config{MaxTerminals: 2 * idleTerminals})
		base := memory()
		terms := startIdle(b, p, idleTerminals)
		all := memory() - base
		screens := make([]*vt.Screen, idleTerminals)
		base = memory()
		for i := range screens {
			screens[i] = vt.New(80, 24, vt.Options{})
		}
		screen := memory() - base
		b.ReportMetric(float64(all)/idleTerminals, "B/terminal")
		b.ReportMetric((float64(all)-float64(screen))/idleTerminals, "B/terminal-without-screen")
		b.ReportMetric(float64(threads(b)), "threads")
		runtime.KeepAlive(screens)
		for _, term := range terms {
			term.Hangup(0)
		}
		for _, term := range terms {
			<-term.Done()
		}
		<-p.reaper.idle()
	}
}
