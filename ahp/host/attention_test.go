package host

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"termhost/authz"
)

// wanted returns the NAMEs of what wants p, each with why.
func wanted(t *testing.T, h *Host, p authz.Principal) (list []string) {
	t.Helper()
	all, err := h.Wanting(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range all {
		list = append(list, w.Terminal.Name()+" "+string(w.Why))
	}
	return list
}

func TestATerminalWantsWhoeverDoesNotLookAtIt(t *testing.T) {
	t.Parallel()
	clock := newClock()
	h := newHost(t, withClock(clock))
	begin := filepath.Join(t.TempDir(), "begin")
	if err := syscall.Mkfifo(begin, 0o600); err != nil {
		t.Fatal(err)
	}
	a := run(t, h, carol, "a", "exec sleep 1000")
	b := run(t, h, carol, "b", ": <'"+begin+"'; stty -echo; printf 'Password: '; read x")
	rings := func(term *Terminal) {
		clock.advance(2 * bellEvery)
		term.term.Lock()
		defer term.term.Unlock()
		events{term}.Bell()
	}
	over := func(term *Terminal, after time.Duration) {
		term.term.Lock()
		defer term.term.Unlock()
		e := events{term}
		e.CommandExecuted("make")
		clock.advance(after)
		e.CommandFinished(0, true)
	}
	want := func(p authz.Principal, names ...string) {
		t.Helper()
		if got := wanted(t, h, p); !slices.Equal(got, names) {
			t.Errorf("%s is wanted by %q, want %q", p.Name, got, names)
		}
	}
	v := attach(t, h, alice, "b", window)
	rings(b)
	over(a, longCommand-time.Second)
	want(alice)
	want(carol, "b bell")
	over(a, longCommand)
	want(alice, "a command")
	want(carol, "b bell", "a command")
	rings(a)
	want(alice, "a command") // the first counts
	v.a.Close()
	want(alice, "a command") // which has seen b to the end
	rings(b)
	want(alice, "a command", "b bell")
	if err := os.WriteFile(begin, nil, 0); err != nil {
		t.Fatal(err)
	}
	_, err := door(t, h, carol, DoorSSH).Wait(context.Background(), b, WaitFor{Blocked: true})
	if err != nil {
		t.Fatal(err)
	}
	want(alice, "a command", "b secret")
	want(carol, "b secret", "a command")
	attach(t, h, alice, "a", AttachOptions{ReadOnly: true}).a.Close() // a stream: nobody looks
	want(alice, "a command", "b secret")
	attach(t, h, alice, "a", window).a.Close()
	want(alice, "b secret")
	attach(t, h, alice, "b", window).a.Close() // which still waits
	want(alice, "b secret")
	if err := h.Dispose(carol, b); err != nil {
		t.Fatal(err)
	}
	want(alice)
}

// A peer that says what its person looks at is called when that changes what wants them, and looks
// at nothing any more once its connection has ended.
func TestAPeerTellsWhatItsPersonLooksAt(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	a, b := run(t, h, carol, "a", "exec sleep 1000"), run(t, h, carol, "b", "exec sleep 1000")
	happens := func(term *Terminal, why Want) {
		term.term.Lock()
		defer term.term.Unlock()
		term.happened(why)
	}
	c := door(t, h, alice, DoorWebSocket)
	called := func(names ...string) {
		t.Helper()
		eventually(t, "a call", func() bool {
			select {
			case <-c.Calls():
				return true
			default:
				return false
			}
		})
		var got []string
		for _, w := range c.Wanting() {
			got = append(got, w.Terminal.Name()+" "+string(w.Why))
		}
		if !slices.Equal(got, names) {
			t.Errorf("alice is wanted by %q, want %q", got, names)
		}
	}
	if !c.Looking([]string{a.uri, a.uri, "ahp-terminal:/none", "x:y"}) || c.Looking([]string{a.uri}) {
		t.Error("the first time is not the first")
	}
	called()
	happens(a, WantBell)
	happens(b, WantCommand)
	called("b command")
	c.Looking([]string{b.uri})
	called()
	happens(a, WantBell)
	called("a bell")
	window := attach(t, h, alice, "a", window) // one that the same person opens
	happens(b, WantBell)
	called()
	window.a.Close()
	c.Looking(nil)
	happens(a, WantExited)
	called("a exited")
	c.Looking([]string{a.uri})
	c.Close()
	if c.Looking([]string{b.uri}) || c.Wanting() != nil {
		t.Error("a connection that is closed still looks")
	}
	happens(a, WantBell)
	happens(b, WantBell)
	if got := wanted(t, h, alice); !slices.Equal(got, []string{"a bell", "b bell"}) {
		t.Errorf("alice is wanted by %q", got)
	}
}
