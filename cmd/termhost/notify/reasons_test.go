package notify_test

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/cmd/termhost/notify"
)

// away is a person whom a notifier tells what its test sets, by a clock that runs ahead.
type away struct {
	t       *testing.T
	n       *notify.Notifier
	changes chan struct{}

	mu   sync.Mutex
	list []host.Unseen
	told []string // titles and bodies
	fail error    // what becomes of the next messages
}

func newAway(t *testing.T, file string, log io.Writer, target notify.Target) *away {
	t.Helper()
	a := &away{t: t, changes: make(chan struct{}, 1)}
	a.n = notify.New(notify.Options{Changes: a.changes, Now: time.Now, File: file,
		Log: slog.New(slog.NewTextHandler(log, nil)), Unseen: func() []host.Unseen {
			a.mu.Lock()
			defer a.mu.Unlock()
			return slices.Clone(a.list)
		}})
	notify.SetSending(a.n, func(title, body string) error {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.fail == nil {
			a.told = append(a.told, title+"\n"+body)
		}
		return a.fail
	})
	target.Command = []string{"x"}
	a.n.SetTargets([]notify.Target{target})
	return a
}

// set replaces what the person has not seen.
func (a *away) set(list ...host.Unseen) {
	a.mu.Lock()
	a.list = list
	a.mu.Unlock()
	select {
	case a.changes <- struct{}{}:
	default:
	}
}

func (a *away) fails(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.fail = err
}

// expect checks what was told since it was called last.
func (a *away) expect(when string, want ...string) {
	a.t.Helper()
	synctest.Wait()
	a.mu.Lock()
	defer a.mu.Unlock()
	if !slices.Equal(a.told, want) {
		a.t.Errorf("%s: told are %q, want %q", when, a.told, want)
	}
	a.told = nil
}

// reason is one of x.
func reason(why host.Want, at time.Time, text string) host.Unseen {
	return host.Unseen{Terminal: "x", ID: "x", Person: "ann", Why: why, At: at, First: at, Since: at, Text: text}
}

func TestEachReasonIsToldToThoseWhoWantIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		failed := newAway(t, "", io.Discard, notify.Target{After: 30 * time.Second, When: []string{"failed"}})
		all := newAway(t, "", io.Discard, notify.Target{After: 30 * time.Second, When: notify.Reasons(), Text: true})
		defer failed.n.Close()
		defer all.n.Close()
		set := func(list ...host.Unseen) { failed.set(list...); all.set(list...) }
		begin := time.Now()
		bell := reason(host.WantBell, begin, "")
		set(bell)
		time.Sleep(20 * time.Second)
		boom := reason(host.WantFailed, time.Now(), "boom")
		set(boom, bell)
		time.Sleep(20 * time.Second)
		all.expect("it rang, and has failed", "x has failed\nx has failed: boom, for 10s")
		failed.expect("it has failed just now")
		time.Sleep(20 * time.Second)
		failed.expect("it has failed", "x has failed\nx has failed, for 30s")
		asks := reason(host.Want(host.WaitingInput), time.Now(), "Retry?")
		again := boom
		again.At, again.Since = time.Now(), time.Now()
		set(asks, again, bell)
		time.Sleep(time.Minute)
		all.expect("it asks", "x waits for input\nx waits for input: Retry?, for 30s\nx has failed: boom, for 30s")
		failed.expect("it has failed again", "x has failed\nx has failed, for 30s")
		three := 3
		ended := reason(host.WantExited, time.Now(), "")
		ended.ExitCode, ended.Failed = &three, true
		set(ended)
		time.Sleep(time.Minute)
		failed.expect("it has exited", "x has exited with status 3\nx has exited with status 3, for 30s")
	})
}

// TestWhatAProgramSaysIsNotSentUnlessThatIsWanted is about a directory of a program's making, whose
// branch has a text of its own.
func TestWhatAProgramSaysIsNotSentUnlessThatIsWanted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		u := reason(host.WantDone, time.Now(), "pay now")
		u.Group = "call@evil.example"
		for text, want := range map[bool]string{false: "x is done", true: "x is done: pay now (call@evil.example)"} {
			a := newAway(t, "", io.Discard, notify.Target{When: notify.Reasons(), Text: text})
			a.set(u)
			time.Sleep(2 * time.Second)
			a.n.Close()
			for _, line := range a.told {
				if got, _, _ := strings.Cut(line, ", for"); got != "x is done\n"+want {
					t.Errorf("with text = %v it is told %q", text, got)
				}
			}
			if len(a.told) != 1 {
				t.Errorf("told are %q", a.told)
			}
		}
	})
}

func TestAMessageThatDoesNotArriveIsSentAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log hosttest.Log
		a := newAway(t, "", &log, notify.Target{When: notify.Reasons()})
		defer a.n.Close()
		down := errors.New("no route to host")
		a.fails(down)
		a.set(reason(host.WantDone, time.Now(), ""))
		time.Sleep(5 * time.Second)
		a.fails(nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		a.mu.Lock()
		for i, line := range a.told { // whether it first went out at once depends on who runs first
			a.told[i] = regexp.MustCompile(`for 1[01]s$`).ReplaceAllString(line, "for a while")
		}
		a.mu.Unlock()
		a.expect("after a short outage", "x is done\nx is done, for a while")
		a.fails(down)
		a.set(reason(host.WantFailed, time.Now(), ""))
		time.Sleep(5 * time.Second)
		a.set() // somebody looks
		a.fails(nil)
		time.Sleep(time.Hour)
		a.expect("somebody has looked meanwhile")
		a.fails(down)
		a.set(reason(host.WantDone, time.Now(), ""))
		time.Sleep(2 * time.Hour)
		a.fails(nil)
		time.Sleep(2 * time.Hour)
		a.expect("it is given up in the end")
		a.fails(notify.ErrRefused)
		a.set(reason(host.WantDone, time.Now(), ""))
		time.Sleep(5 * time.Second)
		a.fails(nil)
		time.Sleep(time.Hour)
		a.expect("it is refused, and would be again")
		if n := strings.Count(log.String(), "did not arrive"); n != 2 {
			t.Errorf("the log says so %d times: %s", n, log.String())
		}
	})
}

func TestTheLimitOfAnHourOutlivesTheHost(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "notified.json")
	synctest.Test(t, func(t *testing.T) {
		told, n := 0, 0
		for range 3 {
			a := newAway(t, file, io.Discard, notify.Target{When: notify.Reasons()})
			for range 9 {
				u := reason(host.WantDone, time.Now(), "")
				u.ID, u.Terminal = fmt.Sprint(n), fmt.Sprint(n)
				n++
				a.set(u)
				time.Sleep(2 * time.Second)
			}
			a.n.Close()
			told += len(a.told)
		}
		if told != 20 {
			t.Errorf("in less than an hour %d messages have gone out", told)
		}
	})
}

func TestLabelsOfPeopleAreSent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAway(t, "", io.Discard, notify.Target{When: notify.Reasons()})
		u := reason(host.WantDone, time.Now(), "")
		u.Labels, u.Group = ahp.Labels("group=mine"), "mine"
		a.set(u)
		time.Sleep(1500 * time.Millisecond)
		a.n.Close()
		if len(a.told) != 1 || !strings.Contains(a.told[0], "x is done (group=mine)") {
			t.Errorf("told are %q", a.told)
		}
	})
}
