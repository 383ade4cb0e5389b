package viewer

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"termhost/ahp/history"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/authz"
)

// A question that comes after one that was answered has the keys before it is on the screen.
func TestAnAnswerIsNotTypedWhileTheNextQuestionIsOnItsWay(t *testing.T) {
	h := hosttest.New(t)
	person := authz.ForUID(1000)
	me, err := h.Connect(person, host.DoorSSH)
	hosttest.Check(t, err)
	t.Cleanup(me.Close)
	made, err := me.Create(host.CreateOptions{Guarded: true, Line: "stty raw -echo; echo ready; exec cat -v"})
	hosttest.Check(t, err)
	work := made.Terminal
	ready, err := history.NewPattern("ready", false)
	hosttest.Check(t, err)
	_, err = me.Wait(t.Context(), work, host.WaitFor{Match: ready})
	hosttest.Check(t, err)
	agent, err := h.Connect(authz.Principal{ID: person.ID + "/claude", Name: "claude",
		Role: authz.Admin, Token: "claude"}, host.DoorUnix)
	hosttest.Check(t, err)
	t.Cleanup(agent.Close)
	a, _, err := me.Attach(work, host.AttachOptions{Cols: 80, Rows: 24})
	hosttest.Check(t, err)
	t.Cleanup(a.Close)

	l := &inputLoop{w: &viewer{showing: showing{a: a, t: work}}}
	k := &l.w.typing
	answered := func() {
		k.answered()
		k.answeredAt.Add(-int64(lateAnswer))
	}
	answered()
	if l.late([]byte("y")) {
		t.Error("nothing is asked, and keys are dropped")
	}
	ctx, cancel := context.WithCancel(t.Context())
	told := make(chan error, 1)
	go func() { told <- agent.Send(ctx, work, []byte("SECOND")) }()
	t.Cleanup(func() { cancel(); <-told })
	var is host.HeldInput
	hosttest.Eventually(t, "it is held", func() (asked bool) {
		is, asked = a.Asking()
		return asked
	})
	if !l.late([]byte("y")) || !l.late([]byte("\r")) {
		t.Error("a key is typed while the next question is on its way")
	}
	if l.late([]byte("l")) {
		t.Error("what is no answer is dropped")
	}
	l.aside = is.Ask
	if l.late([]byte("y")) {
		t.Error("keys are dropped for a question that the person answers later")
	}
	l.aside = ""
	k.typed([]byte("l"))
	if l.late([]byte("y")) {
		t.Error("keys are dropped of a person who types on")
	}
}

// Two people answer at once, or one presses a key twice: at the program it would be typed.
func TestAnAnswerThatComesTooLateIsNotTyped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // in which a slow machine is not late itself
		// There is no program to type at, so what is not dropped fails.
		l := &inputLoop{w: &viewer{ctx: t.Context(), front: newFront(true)}}
		k := &l.w.typing
		k.answered()
		for _, keys := range []string{"l", "yes", "\x1by", "\x1b[A", "\xc3"} {
			if l.late([]byte(keys)) {
				t.Errorf("%q is dropped, and is no answer", keys)
			}
		}
		for _, key := range []string{"y", "n", "e", "a", " ", "\r", "\x1b", "\x1b[110u", "yy", "y \r"} {
			l.Typed([]byte(key))
		}
		time.Sleep(lateAnswer)
		k.typed([]byte("x"))
		if l.late([]byte("y")) {
			t.Error("keys are dropped for ever")
		}
		d := newAsked(t, "make\r")
		d.types(9, 0)
		d.typing.answeredAt.Store(d.clock.UnixNano())
		if got := d.shows(); !strings.Contains(got, waiting) || d.press('y') != "nothing" {
			t.Errorf("after an answer, what was typed before it counts:\n%s", got)
		}
	})
}

func TestALineIsHalfTypedUntilItsEnd(t *testing.T) {
	for typed, line := range map[string]int64{"ls": 2, "ls\r": 0, "ls\x03": 0, "\x1b[13u": 0,
		"ls\x15": 0, "\n": 0, "é": 2, "y": 1} {
		var k typing
		k.typed([]byte(typed))
		if got := k.line.Load(); got != line {
			t.Errorf("after %q a line of %d bytes is typed, want %d", typed, got, line)
		}
	}
}

func TestKeysAfterEditAreForTheLineButForEnter(t *testing.T) {
	t.Parallel()
	k := &typing{}
	nothing := func() bool { return true }
	k.edits()
	for typed, want := range map[string]string{
		"y": "y", " -n": " -n", "ls\r": "ls", "\r": "", "\x1b[13u": "", "\x1b[D": "\x1b[D",
		"\x03": "\x03", "é\n": "é",
	} {
		rest, early := k.withoutEnter([]byte(typed))
		if string(rest) != want || early != (len(rest) < len(typed)) || k.late([]byte(typed), nothing) {
			t.Errorf("%q: %q, %v", typed, rest, early)
		}
	}
	k.editedAt.Add(-int64(lateAnswer))
	if rest, early := k.withoutEnter([]byte("x\r")); string(rest) != "x\r" || early {
		t.Errorf("later: %q, %v", rest, early)
	}
}
