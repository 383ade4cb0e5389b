package journal_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"termhost/ahp/journal"
	"termhost/ptypool/keeper"
	"termhost/ptypool/smalldisk"
	"termhost/ptypool/termlog"
)

// deferring is a journal to which a host with a keeper logs. Its clock stands still (see synctest),
// so that nothing is written unless the test has it written.
type deferring struct {
	journal.Journal
	t      *testing.T
	l      *keeper.Landing
	failed []error
}

// beginDeferring begins the journal in a folder of a state folder.
func beginDeferring(t *testing.T, state string) (j *deferring, dir string) {
	t.Helper()
	l, err := keeper.NewLanding()
	must(t, err)
	t.Cleanup(func() { l.Close() })
	j = &deferring{t: t, l: l}
	j.Failed = func(err error) { j.failed = append(j.failed, err) }
	dir = folders(t, state).New()
	must(t, j.Begin(dir, onDisk, &journal.Spares{}, describe("x")))
	if j.Keep().Deferred == nil {
		t.Fatal("nothing is deferred")
	}
	return j, dir
}

// prints has the terminal print text, as if a host had read it from a pty.
func (j *deferring) prints(text string) {
	j.t.Helper()
	for text != "" {
		if !j.l.Room() {
			j.Flush()
		}
		b := j.l.Batch()
		n, err := b.Read(func(p []byte) (int, error) { return copy(p, text), nil })
		must(j.t, err)
		j.Defer(b)
		must(j.t, j.Output(b.Bytes(), now))
		b.Free()
		text = text[n:]
	}
}

// onDiskNow returns the output that a log has.
func onDiskNow(t *testing.T, dir string) string {
	t.Helper()
	log, err := termlog.Open(dir)
	must(t, err)
	defer log.Close()
	return printed(t, logOf(log))
}

// writes says of each method what it does with deferred output: it writes it, after some
// preparation, or not.
func writes() map[string]func(j *deferring) {
	end := &journal.Ending{}
	return map[string]func(j *deferring){
		"Begin": nil, "Continue": nil, "Conclude": nil, // come first
		"Defer": nil, "Output": nil,
		"Position": nil, "NotKept": nil, "CheckpointDue": nil, "Described": nil,
		"Remove": nil, // deletes it
		"Flush":  func(j *deferring) { j.Flush() },
		"Keep":   func(j *deferring) { j.Keep() },
		"Record": func(j *deferring) {
			must(j.t, j.Record(termlog.Resize, now, termlog.SizePayload(8, 2)))
		},
		"Checkpoint": func(j *deferring) { must(j.t, j.Checkpoint(&journal.Snapshot{}, now)) },
		"End":        func(j *deferring) { must(j.t, j.End(end, nil)) },
		"KeepTrail":  func(j *deferring) { j.KeepTrail(nil) },
		"Logged":     func(j *deferring) { j.Logged() },
		"Describe":   func(j *deferring) { must(j.t, j.Describe(describe("x"), now)) },
		"Retry":      func(j *deferring) { j.Retry(now) },
		"Records": func(j *deferring) {
			if got := printed(j.t, recordsOf(&j.Journal)); got != "printed" {
				j.t.Errorf("a reader of the log gets %q", got)
			}
		},
	}
}

func TestEverythingElseHasDeferredOutputWrittenFirst(t *testing.T) {
	methods := writes()
	for m := range reflect.TypeFor[*journal.Journal]().Methods() {
		if _, ok := methods[m.Name]; !ok {
			t.Errorf("what %s does with deferred output is not known", m.Name)
		}
	}
	for name, call := range methods {
		if call == nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j, dir := beginDeferring(t, t.TempDir())
				j.prints("prin")
				j.prints("ted")
				if got := onDiskNow(t, dir); got != "" || j.Position() != 7 {
					t.Fatalf("%q is written at once; it is at %d", got, j.Position())
				}
				call(j)
				if got := onDiskNow(t, dir); got != "printed" || !j.l.Empty() {
					t.Errorf("%q is written; all is freed: %v", got, j.l.Empty())
				}
			})
		})
	}
}

func TestDeferredOutputIsWrittenSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, dir := beginDeferring(t, t.TempDir())
		const most = 5 * time.Millisecond
		for _, want := range []string{"a", "ab", "abc"} {
			j.prints(want[len(want)-1:])
			time.Sleep(most - time.Nanosecond)
			synctest.Wait()
			if got := onDiskNow(t, dir); got == want {
				t.Errorf("%q is written early", got)
			}
			time.Sleep(time.Nanosecond)
			synctest.Wait()
			if got := onDiskNow(t, dir); got != want {
				t.Errorf("%q is written, want %q", got, want)
			}
		}
		// What was printed first does not wait for what follows.
		j.prints("d")
		time.Sleep(most - time.Nanosecond)
		j.prints("e")
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if got := onDiskNow(t, dir); got != "abcde" {
			t.Errorf("%q is written", got)
		}
	})
}

// A position in the log is how much was printed before.
func TestEventsKeepTheirPlaceAmongDeferredOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, dir := beginDeferring(t, t.TempDir())
		want := []int64{}
		text := strings.Repeat("output ", 50)
		for i := range 1000 {
			j.prints(text[:i%len(text)])
			if i%7 == 0 {
				want = append(want, j.Position())
				must(t, j.Record(termlog.Resize, now, termlog.SizePayload(i+1, 1)))
			}
			if i%50 == 0 {
				time.Sleep(time.Second)
			}
		}
		log, err := termlog.Open(dir)
		must(t, err)
		defer log.Close()
		at := log.First()
		must(t, log.Read(0, func(r termlog.Record) bool {
			if r.Pos != at {
				t.Fatalf("a record of kind %d is at %d, after what ends at %d", r.Kind, r.Pos, at)
			}
			switch r.Kind {
			case termlog.Data:
				at += int64(len(r.Payload))
			case termlog.Resize:
				if cols, _ := termlog.Size(r.Payload); want[(cols-1)/7] != r.Pos {
					t.Fatalf("event %d is at %d, want %d", cols-1, r.Pos, want[(cols-1)/7])
				}
			}
			return true
		}))
	})
}

// A slow disk keeps the journal locked.
func TestOutputDoesNotWaitWhileTheLogIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, dir := beginDeferring(t, t.TempDir())
		must(t, j.Checkpoint(&journal.Snapshot{}, now))
		must(t, j.Records(func(start termlog.Spot) termlog.Spot { // the lock is held
			j.prints(strings.Repeat("x", keeper.HalfSize/2))
			if j.Position() != keeper.HalfSize/2 || j.CheckpointDue() || j.NotKept() != "" {
				t.Errorf("it is at %d", j.Position())
			}
			return start
		}, func(termlog.Record) bool { return true }))
		j.Flush()
		if got := onDiskNow(t, dir); len(got) != keeper.HalfSize/2 {
			t.Errorf("%d bytes are written", len(got))
		}
	})
}

func TestDeferredOutputThatAFullDiskRefusesIsAGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state := smalldisk.New(t, "512k")
		j, dir := beginDeferring(t, state)
		must(t, j.Checkpoint(&journal.Snapshot{}, now))
		j.prints("before")
		j.Flush()
		full := smalldisk.Fill(t, state, "full", 0)
		lost := 0
		for range 50 {
			j.prints(strings.Repeat("z", 5000))
			lost += 5000
			time.Sleep(time.Second)
		}
		synctest.Wait()
		if len(j.failed) != 1 || j.NotKept() != "disk full" || !j.l.Empty() {
			t.Errorf("it failed with %v; not kept: %q", j.failed, j.NotKept())
		}
		must(t, os.Remove(full))
		j.prints("last") // with it, there is room
		j.Retry(now)
		if j.NotKept() != "" || !j.CheckpointDue() {
			t.Errorf("not kept: %q", j.NotKept())
		}
		j.prints("after")
		j.Flush()
		got := onDiskNow(t, dir)
		if !strings.HasPrefix(got, "before[disk full]") ||
			!strings.HasSuffix(got, "[disk full]lastafter") || strings.Contains(got, "z") {
			t.Errorf("it has %q", got)
		}
		if at := int64(len("beforelastafter") + lost); j.Position() != at || j.Logged() != at {
			t.Errorf("it is at %d, and logged to %d; want %d", j.Position(), j.Logged(), at)
		}
	})
}

// The memory is freed though there is nothing to write to.
func TestDeferredOutputOfARemovedTerminalIsFreed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, dir := beginDeferring(t, t.TempDir())
		j.prints("x")
		if gone := j.Remove(); filepath.Dir(gone) != filepath.Dir(dir) {
			t.Errorf("its folder is %q", gone)
		}
		j.prints("y")
		time.Sleep(time.Second)
		synctest.Wait()
		if !j.l.Empty() {
			t.Error("it keeps the landing")
		}
	})
}

// The host is killed when an event has had deferred output written, and its reader has read on.
func TestWhatIsSalvagedFollowsWhatIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, delivered := range []bool{false, true} {
			j, dir := beginDeferring(t, t.TempDir())
			j.prints("first ")
			b := j.l.Batch()
			_, err := b.Read(func(p []byte) (int, error) { return copy(p, "second"), nil })
			must(t, err)
			must(t, j.Record(termlog.Resize, now, termlog.SizePayload(8, 2)))
			if delivered {
				j.Defer(b)
				must(t, j.Output(b.Bytes(), now))
			}
			logged := onDiskNow(t, dir)
			missing, left := j.l.Salvage(int64(len(logged)))
			if logged != "first " || missing != 0 || string(left) != "second" {
				t.Errorf("%q is written, %d bytes are missing, %q is salvaged", logged, missing, left)
			}
		}
	})
}
