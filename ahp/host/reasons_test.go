package host_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
)

// reasons is a printer whose person is away, and what she has not seen of it.
type reasons struct {
	*printer
	clock *laterClock
	c     *host.Conn // carol's
	start time.Time
}

func newReasons(t *testing.T, change ...func(*host.Config)) *reasons {
	t.Helper()
	clock := newClock()
	h := hosttest.New(t, append(change, withClock(clock), withoutLookout)...)
	r := &reasons{newPrinter(t, h, carol, "x", ""), clock, door(t, h, carol, host.DoorSSH), clock.Now()}
	return r
}

// says has the program say how it stands, as a command of its shell does that ends or goes on.
func (r *reasons) says(state host.State, text string) {
	r.t.Helper()
	hosttest.Check(r.t, r.c.SetStatus(r.term, host.Said{State: state, Text: text}))
}

// types types a key without looking, as `send` does.
func (r *reasons) types() {
	r.t.Helper()
	hosttest.Check(r.t, r.c.Send(r.t.Context(), r.term, []byte("x")))
}

// expect checks what carol has not seen: WHY, when it came up as news and first, and its words.
func (r *reasons) expect(when string, want ...string) {
	r.t.Helper()
	var got []string
	for _, u := range r.h.Unseen() {
		if u.PersonID != carol.ID {
			continue
		}
		at, first := u.At.Sub(r.start), u.First.Sub(r.start)
		got = append(got, fmt.Sprintf("%s %.0f %.0f %s", u.Why, at.Seconds(), first.Seconds(), u.Text))
	}
	if !slices.Equal(got, want) {
		r.t.Errorf("%s: she has not seen %q, want %q", when, got, want)
	}
}

// lists checks what a listing says to carol.
func (r *reasons) lists(when string, why host.Want, words string) {
	r.t.Helper()
	if i := r.term.Info(carol); i.Wants != why || i.Notice != words {
		r.t.Errorf("%s: it is listed as %q, %q, want %q, %q", when, i.Wants, i.Notice, why, words)
	}
}

func TestNoReasonHidesAnother(t *testing.T) {
	t.Parallel()
	const quiet = time.Hour
	r := newReasons(t, func(c *host.Config) { c.QuietAfter = quiet })
	r.clock.advance(10 * time.Second)
	r.prints("\a")
	r.lists("it rang", host.WantBell, "")
	r.clock.advance(4 * time.Second)
	r.says(host.StatusDone, "one")
	r.lists("it is done", host.WantDone, "one")
	r.clock.advance(4 * time.Second)
	r.says(host.StatusFailed, "boom")
	r.lists("it has failed", host.WantFailed, "boom")
	r.expect("all of that", "failed 18 18 boom", "done 14 14 one", "bell 10 10 ")
	host.SetWaiting(r.term, host.WaitingInput)
	r.lists("it asks", host.Want(host.WaitingInput), "boom")
	r.expect("it asks", "input 18 18 ", "failed 18 18 boom", "done 14 14 one", "bell 10 10 ")
	host.SetWaiting(r.term, host.WaitingNone)
	silence(r.h, r.clock, quiet)
	r.expect("it prints nothing", "failed 18 18 boom", "done 14 14 one", "bell 10 10 ", "quiet 3610 10 ")
	v := attach(t, r.h, carol, "x", window)
	r.expect("she looks")
	r.says(host.StatusFailed, "again") // which she sees
	r.clock.advance(time.Second)
	v.a.Close()
	r.expect("she has looked")
}

// TestWhatComesUpAgainIsNews is about a person who looks, about keys that are typed without looking,
// and about one who never looks.
func TestWhatComesUpAgainIsNews(t *testing.T) {
	t.Parallel()
	r := newReasons(t)
	heard := listen(t, r.h, carol)
	r.says(host.StatusDone, "Turn 1.")
	r.clock.advance(10 * time.Second)
	r.says(host.StatusDone, "Turn 1.")
	r.says(host.StatusDone, "Turn one.")
	r.prints("\a")
	r.clock.advance(10 * time.Second)
	r.prints("\a")
	r.expect("nothing has been done about it", "done 0 0 Turn one.", "bell 10 10 ")
	r.says(host.StatusWorking, "")
	r.says(host.StatusDone, "Turn 2.")
	r.expect("it has worked since", "done 20 0 Turn 2.", "bell 10 10 ")
	r.clock.advance(10 * time.Second)
	r.types()
	r.says(host.StatusDone, "Turn 2.")
	r.prints("\a")
	r.expect("somebody has typed since", "done 30 0 Turn 2.", "bell 30 10 ")
	attach(t, r.h, carol, "x", window).a.Close()
	r.expect("she has looked")
	for heard.until(host.EventDetached).Terminal != "x" {
	}
	r.clock.advance(10 * time.Second)
	r.says(host.StatusDone, "Turn 2.")
	if e := heard.until(host.EventStatus); e.Status != host.StatusDone {
		t.Errorf("the event is %+v", e)
	}
	r.expect("it says so again", "done 40 40 Turn 2.")
	r.takes(r.clock, longCommand, 0)
	r.takes(r.clock, longCommand, 0)
	r.expect("two commands", "done 40 40 Turn 2.", "command 60 50 ")
}

func TestAQuestionIsNewsAgainOnceItWasSeen(t *testing.T) {
	t.Parallel()
	r := newReasons(t)
	r.says(host.StatusWaiting, "may I?")
	r.clock.advance(10 * time.Second)
	r.says(host.StatusWaiting, "may I?")
	r.says(host.StatusWaiting, "really?")
	r.expect("it asks", "input 0 0 really?")
	attach(t, r.h, carol, "x", window).a.Close()
	r.clock.advance(10 * time.Second)
	r.expect("she has seen it")
	r.says(host.StatusWaiting, "really?")
	r.expect("it asks again", "input 20 20 really?")
}

// TestWhatAProgramSaysThatItWaitsForIsItsQuestion is about one that also reads, and has asked nothing
// on the screen; and has sent a notification before.
func TestWhatAProgramSaysThatItWaitsForIsItsQuestion(t *testing.T) {
	t.Parallel()
	r := newReasons(t)
	r.prints("\x1b]9;look\x07")
	r.says(host.StatusWaiting, "may I?")
	host.SetWaiting(r.term, host.WaitingInput)
	r.lists("it reads", host.Want(host.WaitingInput), "may I?")
}

// TestAnotherToolAnswersNoQuestion has one tool wait for a permission while another goes on.
func TestAnotherToolAnswersNoQuestion(t *testing.T) {
	t.Parallel()
	r := newReasons(t)
	says := func(state host.State, about string) {
		t.Helper()
		hosttest.Check(t, r.c.SetStatus(r.term, host.Said{State: state, About: about, Program: true}))
	}
	waits := func(when string, want bool) {
		t.Helper()
		if i := r.term.Info(carol); (i.Waiting == host.WaitingInput) != want {
			t.Errorf("%s: it waits for %q, and is %q", when, i.Waiting, i.Status.State)
		}
	}
	says(host.StatusWaiting, "a")
	says(host.StatusWorking, "b")
	waits("another tool is done", true)
	says(host.StatusWaiting, "") // the agent's notification of the same
	says(host.StatusWorking, "b")
	waits("it has been said in other words", true)
	says(host.StatusWorking, "a")
	waits("the tool itself is done", false)
	says(host.StatusWaiting, "a")
	r.types()
	says(host.StatusWorking, "b")
	waits("somebody has answered", false)
	if i := r.term.Info(carol); i.Status.State != host.StatusWorking {
		t.Errorf("it is %q", i.Status.State)
	}
	says(host.StatusWaiting, "a")
	says(host.StatusDone, "")
	waits("it is done", false)
}

// TestWhatACommandSaysLastStaysUntilTheNext is about command lines of a shell that tells of them.
func TestWhatACommandSaysLastStaysUntilTheNext(t *testing.T) {
	t.Parallel()
	const begins, ends = "\x1b]633;A\x07\x1b]633;C\x07", "\x1b]633;D;0\x07"
	r := newReasons(t)
	status := func(when string, want host.State) {
		t.Helper()
		if got := r.term.Info(carol).Status.State; got != want {
			t.Errorf("%s: it is %q, want %q", when, got, want)
		}
	}
	r.prints(begins)
	r.says(host.StatusDone, "built")
	r.prints(ends)
	status("its command line ends", host.StatusDone)
	r.prints(begins)
	status("the next begins", host.StatusNone)
	r.says(host.StatusWorking, "")
	r.prints(ends)
	status("it worked", host.StatusNone)
	r.prints(begins)
	hosttest.Check(t, r.c.SetStatus(r.term, host.Said{State: host.StatusDone, Program: true}))
	r.prints(ends)
	status("an agent has ended", host.StatusNone)
	r.prints(begins + "\x1b[?1049h")
	r.says(host.StatusDone, "Turn 1.")
	r.prints("\x1b[?1049l" + ends)
	status("what filled the screen has ended", host.StatusNone)
	r.says(host.StatusFailed, "from elsewhere")
	r.prints(begins)
	status("another says so, and a command begins", host.StatusFailed)
	r.prints(ends)
	status("and ends", host.StatusNone)
}

// TestHowAProgramHasExitedIsKnownToThoseWhoDidNotLook is about status 3.
func TestHowAProgramHasExitedIsKnownToThoseWhoDidNotLook(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, withoutLookout)
	for _, status := range []int{0, 3} {
		term := run(t, h, carol, fmt.Sprint("x", status), fmt.Sprint("exit ", status))
		<-term.Done()
	}
	list := h.Unseen()
	if len(list) != 2 {
		t.Fatalf("unseen: %+v", list)
	}
	for i, u := range list {
		if u.Why != host.WantExited || u.ExitCode == nil || *u.ExitCode != 3*i || u.Failed != (i == 1) {
			t.Errorf("unseen: %+v", u)
		}
	}
}
