package ptypool

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"termhost/ahp/hosttest/slowtest"
	"termhost/ptypool/vt"
)

// pids waits for "NAME=PID" in the output for every name.
func pids(t *testing.T, r *recorder, names ...string) map[string]int {
	t.Helper()
	found := make(map[string]int)
	for _, name := range names {
		re := regexp.MustCompile(`(?m)\b` + name + `=(\d+)\r`)
		r.await(t, name, func() bool { return re.Match(r.data.Bytes()) })
		found[name], _ = strconv.Atoi(re.FindStringSubmatch(r.output())[1])
	}
	return found
}

// running reports whether pid exists and is not a zombie.
func running(pid int) bool {
	p, err := readProcess(pid, new(procReader), false)
	return err == nil && p.alive()
}

// unruly is a script whose processes do everything by which a process may outlive its terminal:
// they run in the background or in a process session of their own, ignore SIGHUP, lose their
// parent, have another environment, run under nohup, or are stopped.
const unruly = `
	sleep 1000 & echo plain=$!
	setsid sleep 1000 & echo own=$!
	sh -c 'trap "" HUP; echo deaf=$$; while :; do sleep 1000; done' &
	( setsid sh -c 'echo daemon=$$; exec sleep 1000' & )
	(env -i /bin/sh -c 'trap "" HUP; echo bare=$$; while :; do /bin/sleep 1000; done' & )
	( setsid env -i /bin/sh -c 'echo lost=$$; exec /bin/sleep 1000' & )
	nohup sh -c 'echo nohup=$$ >&3; exec sleep 1000' 3>&1 >/dev/null 2>&1 &
	sh -c 'echo stopped=$$; kill -STOP $$' &
	wait; sleep 1000`

var unrulyNames = []string{"plain", "own", "deaf", "daemon", "bare", "lost", "nohup", "stopped"}

func TestHangupEndsEveryProcess(t *testing.T) {
	t.Parallel()
	for _, grace := range []time.Duration{0, 300 * time.Millisecond} {
		t.Run(grace.String(), func(t *testing.T) {
			p := newPool(t, Config{})
			term, r := sh(t, p, unruly)
			found := pids(t, r, unrulyNames...)
			term.Hangup(grace)
			gone := term.backend.Hangup(grace) // idempotent, and tells
			r.exit(t, term)
			wait(t, "the last process", gone)
			for name, pid := range found {
				if running(pid) {
					t.Errorf("%s is still running", name)
				}
			}
		})
	}
}

func TestHangupGivesTheGrace(t *testing.T) {
	p := newPool(t, Config{})
	term, r := sh(t, p, `trap 'echo bye; exit 5' HUP; echo ready; while :; do sleep 0.05; done`)
	r.text(t, "ready")
	term.Hangup(patience)
	if st := r.exit(t, term); st.Code != 5 {
		t.Errorf("exit %+v, output %q", st, r.output())
	}
	r.text(t, "bye")
}

func TestOfTwoHangupsTheEarlierDeadlineCounts(t *testing.T) {
	p := newPool(t, Config{})
	term, r := sh(t, p, `trap '' HUP; echo ready; while :; do sleep 1000; done`)
	r.text(t, "ready")
	term.Hangup(time.Hour)
	term.Hangup(0)
	if st := r.exit(t, term); st.Signal != syscall.SIGKILL {
		t.Errorf("exit %+v", st)
	}
}

func TestHangupAfterTheExitEndsBackgroundProcesses(t *testing.T) {
	p := newPool(t, Config{})
	// The kernel sends SIGHUP to the foreground process group when the leader ends.
	term, r := sh(t, p, `trap "" HUP
		setsid sleep 1000 </dev/null >/dev/null 2>&1 & echo left=$!
		sleep 1000 </dev/null >/dev/null 2>&1 & echo hup=$!`)
	found := pids(t, r, "left", "hup")
	r.exit(t, term)
	for name, pid := range found {
		if !running(pid) {
			t.Errorf("%s ended with its terminal", name) // sshd leaves it alone too
		}
	}
	wait(t, "the last process", term.backend.Hangup(0))
	for name, pid := range found {
		if running(pid) {
			t.Errorf("%s is still running", name)
		}
	}
}

// endsInShutdown is a recorder of a terminal that ends while its Pool is shut down.
type endsInShutdown struct {
	*recorder
	pool *Pool
	shut chan error // gets what Shutdown returns
}

func (r *endsInShutdown) Exited(st ExitStatus) {
	go func() { r.shut <- r.pool.Shutdown(context.Background()) }()
	for closed := false; !closed; time.Sleep(time.Millisecond) {
		r.pool.mu.Lock()
		closed = r.pool.closed
		r.pool.mu.Unlock()
	}
	r.recorder.Exited(st)
}

func TestShutdownLeavesAloneWhatAnEndedTerminalHasLeft(t *testing.T) {
	p := newPool(t, Config{})
	r := &endsInShutdown{newRecorder(), p, make(chan error, 1)}
	shTo(t, p, r, `setsid sh -c 'echo left=$$; exec sleep 1000 </dev/null >/dev/null 2>&1' & read x`)
	left := pids(t, r.recorder, "left")["left"]
	defer unix.Kill(left, unix.SIGKILL)
	if err := r.term.Input([]byte("\r")); err != nil {
		t.Fatal(err)
	}
	if err := slowtest.Receive(t, "the shutdown", r.shut); err != nil {
		t.Error(err)
	}
	if !running(left) {
		t.Error("it was ended")
	}
}

func markerOf(term *Term) string { return term.processTree().marker }

func TestBackgroundProcessesOfAnEndedTerminalAreFound(t *testing.T) {
	p, later := newPool(t, Config{Realm: "home"}), newPool(t, Config{Realm: "home"})
	stranger := newPool(t, Config{})
	term, r := sh(t, p, `trap "" HUP
		setsid sleep 1000 </dev/null >/dev/null 2>&1 & echo marked=$!
		env -i sleep 1000 </dev/null >/dev/null 2>&1 & echo unmarked=$!
		(setsid env -i sh -c 'echo lost=$$; exec sleep 1000 </dev/null >/dev/null 2>&1' &)`)
	found := pids(t, r, "marked", "unmarked", "lost")
	r.exit(t, term)
	wait(t, "the end", term.Done())
	for name, pid := range found {
		if got := p.Find(pid); got != markerOf(term) {
			t.Errorf("%s is known as %q, want %q", name, got, markerOf(term))
		}
		if got := stranger.Find(pid); got != "" {
			t.Errorf("another host takes %s for its own, %q", name, got)
		}
	}
	if got := later.Find(found["lost"]); !strings.HasPrefix(got, "home-") {
		t.Errorf("a later host of the same realm takes what is left for a stranger: %q", got)
	}
	if got := later.Find(found["marked"]); got != markerOf(term) {
		t.Errorf("a later host of the same realm knows it as %q, want %q", got, markerOf(term))
	}
	wait(t, "the last process", term.backend.Hangup(0))
}

// A program reads another terminal's marker, sets it, and gets rid of its own tag.
func TestAMarkerThatWasCopiedNamesNoTerminal(t *testing.T) {
	slowtest.Programs(t, "prlimit")
	p := newPool(t, Config{Realm: "home"})
	victim, v := sh(t, p, `sleep 1000`)
	term, r := sh(t, p, `export `+MarkerVariable+`=`+markerOf(victim)+`
		(setsid prlimit --rttime=1000000:1000000 sh -c 'echo forged=$$; exec sleep 1000' &)
		(setsid sh -c 'echo tagged=$$; exec sleep 1000' &); wait; sleep 1000`)
	found := pids(t, r, "forged", "tagged")
	if got := p.Find(found["forged"]); got != "home-" {
		t.Errorf("it is known as %q", got)
	}
	if got := p.Find(found["tagged"]); got != markerOf(term) {
		t.Errorf("with its tag it is known as %q", got)
	}
	for pid := range maps.Values(found) {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
	for term, r := range map[*Term]*recorder{victim: v, term: r} {
		wait(t, "the last process", term.backend.Hangup(0))
		r.exit(t, term)
	}
}

func TestTheProcessTreeOfOneTerminalIsNotAnothers(t *testing.T) {
	p := newPool(t, Config{})
	a, ra := sh(t, p, `sleep 1000 & echo a=$!; setsid sleep 1000 & echo b=$!; wait`)
	bystander, rb := sh(t, p, `sleep 1000 & echo c=$!; setsid sleep 1000 & echo d=$!; wait`)
	ours, theirs := pids(t, ra, "a", "b"), pids(t, rb, "c", "d")
	for name, pid := range ours {
		if p.Find(pid) != markerOf(a) {
			t.Errorf("Find(%s) is wrong", name)
		}
	}
	if p.Find(theirs["d"]) != markerOf(bystander) || p.Find(os.Getpid()) != "" || p.Find(1) != "" {
		t.Error("Find is wrong")
	}
	gone := a.backend.Hangup(0)
	ra.exit(t, a)
	wait(t, "the last process", gone)
	for name, pid := range theirs {
		if !running(pid) {
			t.Errorf("the other terminal's %s is gone", name)
		}
	}
	bystander.Hangup(0)
	rb.exit(t, bystander)
}

func TestSignalReachesTheWholeSessionOrTheForeground(t *testing.T) {
	p := newPool(t, Config{})
	term, r := sh(t, p, `trap 'echo main' USR1
		sh -c 'trap "echo child" USR1; echo up=$$; while :; do sleep 0.02; done' &
		while :; do sleep 0.02; done`)
	pids(t, r, "up")
	if err := term.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	r.text(t, "main") // the sleeps die of it, the shells report
	r.text(t, "child")
	if err := term.SignalForeground(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if st := r.exit(t, term); st.Signal != syscall.SIGKILL {
		t.Errorf("exit %+v", st)
	}
	if err := term.SignalForeground(syscall.SIGINT); !errors.Is(err, ErrExited) {
		t.Errorf("after the exit: %v", err)
	}
	wait(t, "the last process", term.backend.Hangup(0))
	if err := term.Signal(syscall.SIGINT); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("after the exit: %v", err)
	}
}

func TestABackgroundProcessDoesNotDelayTheExit(t *testing.T) {
	t.Parallel()
	p := newPool(t, Config{})
	for _, c := range []struct{ name, script string }{
		{"silent", `sleep 1000 & echo last; exit 3`},
		{"flooding", `yes & echo last; exit 3`},
		{"trickling", `(while :; do echo .; sleep 0.1; done) & echo last; exit 3`},
		{"other session", `setsid sleep 1000 & echo last; exit 3`},
	} {
		t.Run(c.name, func(t *testing.T) {
			term, r := sh(t, p, `trap "" HUP; `+c.script)
			if st := r.exit(t, term); st.Code != 3 {
				t.Errorf("exit %+v", st)
			}
			r.text(t, "last")
			wait(t, "the background process", term.backend.Hangup(0))
		})
	}
}

func TestOutputOfAPipelinesLastStageComesBeforeTheExit(t *testing.T) {
	p := newPool(t, Config{})
	for range 10 { // a machine that is too slow to start sleep in time gets another try
		term, r := sh(t, p, `trap "" HUP; (sleep 0.05; echo late) & exit 0`)
		r.exit(t, term)
		if strings.Contains(r.output(), "late") {
			return
		}
	}
	t.Error("what is printed just after the exit is lost")
}

func TestAChildThatClosesItsTerminalHasNotExited(t *testing.T) {
	p := newPool(t, Config{})
	term, r := sh(t, p, `tty=$(tty); echo once; exec </dev/null >/dev/null 2>&1; sleep 0.2
		exec >$tty; echo again; exit 6`)
	if st := r.exit(t, term); st.Code != 6 {
		t.Errorf("exit %+v", st)
	}
	if got := r.output(); got != "once\r\nagain\r\n" {
		t.Errorf("output %q", got)
	}
}

func TestShutdownEndsEverythingAndIsBounded(t *testing.T) {
	p := New(Config{})
	var terms []*Term
	var recs []*recorder
	for range 10 {
		term, r := sh(t, p, unruly)
		terms, recs = append(terms, term), append(recs, r)
	}
	v, err := p.Virtual(80, 24, vt.Options{}, newRecorder())
	if err != nil {
		t.Fatal(err)
	}
	var all []int
	for _, r := range recs {
		for _, pid := range pids(t, r, unrulyNames...) {
			all = append(all, pid)
		}
	}
	cause := errors.New("told to hurry")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(cause)
	if err := p.Shutdown(ctx); !errors.Is(err, cause) {
		t.Errorf("shutdown with no time: %v", err)
	}
	_, err = p.Start(Spec{Argv: []string{"/bin/true"}}, newRecorder())
	if !errors.Is(err, ErrShutdown) {
		t.Errorf("start after shutdown: %v", err)
	}
	ctx, cancelTimeout := context.WithTimeout(context.Background(), patience)
	defer cancelTimeout()
	if err := p.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
	for _, pid := range all {
		if running(pid) {
			t.Errorf("process %d is still running", pid)
		}
	}
	for i, term := range terms {
		recs[i].exit(t, term)
	}
	wait(t, "the virtual terminal", v.Done())
}

func TestStatIsReadWhateverTheCommandIsCalled(t *testing.T) {
	rest := " S 12 34 56 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 987654 17 18"
	p, err := parseStat(7, []byte(`7 (a) R 1 (\n b)`+rest))
	if err != nil || p != (process{pid: 7, parent: 12, session: 56, start: 987654, state: 'S'}) {
		t.Errorf("%+v, %v", p, err)
	}
	letters := "7 (x) S a b c d e f g h i j k l m n o p q r s t u"
	for _, bad := range []string{"", "7 (x)", "7 (x) S 1 2", "7 (x" + rest, letters} {
		if _, err := parseStat(7, []byte(bad)); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestTheMarkerIsFoundInAnEnvironment(t *testing.T) {
	m := MarkerVariable
	for env, want := range map[string]string{
		"":                                    "",
		m + "=a\x00":                          "a",
		"X=1\x00" + m + "=a":                  "a",
		"X" + m + "=a\x00":                    "",
		m + "=a\x00X=" + m + "=b\x00":         "a",
		m + "=a\x00" + m + "=b\x00Y=\x00":     "b",
		fmt.Sprintf("A=%s=\x00%s=\x00", m, m): "",
	} {
		if got := findMarker([]byte(env)); got != want {
			t.Errorf("%q: %q, want %q", env, got, want)
		}
	}
}

// slow is a recorder that takes so long that there always is more output when it is done.
type slow struct{ *recorder }

func (s slow) Data(p []byte) {
	s.recorder.Data(p)
	_ = s.term.backend.(*ptyBackend).control(func(fd int) error {
		p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		_, err := unix.Poll(p, int(patience.Milliseconds()))
		return err
	})
}

func TestAnEndlessFloodDoesNotDelayTheExit(t *testing.T) {
	p := newPool(t, Config{})
	r := slow{newRecorder()}
	term := shTo(t, p, r, `trap "" HUP; yes & exit 3`)
	if st := r.exit(t, term); st.Code != 3 {
		t.Errorf("exit %+v", st)
	}
	wait(t, "the background process", term.backend.Hangup(0))
}

// On a busy machine a scan may take seconds; repeated pauses of ten times that would be longer than
// a person waits for a terminal's end.
func TestTheProcessTableIsScannedAgainWithinASecond(t *testing.T) {
	for took, want := range map[time.Duration]time.Duration{
		0:                     scanInterval,
		10 * time.Millisecond: 100 * time.Millisecond,
		3 * time.Second:       time.Second,
	} {
		if got := scanPause(took); got != want {
			t.Errorf("after a scan of %v: a pause of %v, want %v", took, got, want)
		}
	}
}
