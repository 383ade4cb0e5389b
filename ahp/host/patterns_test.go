package host_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/authz"
)

// largePattern returns an expression of few instructions that takes more than a MiB.
func largePattern(n int) string {
	return fmt.Sprintf(`%s%d`, strings.Repeat(`\pL\PL`, 160), n)
}

// fill has a connection use patterns until there is room for no more, and returns what releases
// each of them, and why.
func fill(t *testing.T, c *host.Conn, first int) (release []func(), err error) {
	t.Helper()
	for n := first; len(release) < 100; n++ {
		_, done, err := c.Pattern(largePattern(n), false)
		if err != nil {
			return release, err
		}
		release = append(release, done)
	}
	t.Fatal("there is no end of room")
	return nil, nil
}

func TestPatternsCountForTheirAccount(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	eves, others := door(t, h, eve, host.DoorSSH), door(t, h, carol, host.DoorSSH)
	release, err := fill(t, eves, 0)
	var room *host.PatternRoomError
	if !errors.As(err, &room) || !room.Own || len(release) < 5 || host.PatternBytes(h) > 16<<20 {
		t.Fatalf("after %d patterns and %d bytes: %v", len(release), host.PatternBytes(h), err)
	}
	if want := "this key waits and searches with would take more than 16 MiB: let some waits end"; !strings.Contains(err.Error(), want) {
		t.Errorf("the error is %q", err)
	}
	was := host.PatternBytes(h)
	first, _, err := eves.Pattern(largePattern(0), false) // it has that already
	hosttest.Check(t, err)
	again, done, err := others.Pattern(largePattern(0), false)
	hosttest.Check(t, err)
	if first != again || host.PatternBytes(h) != was {
		t.Errorf("a pattern is compiled twice, or counts twice: %d bytes after %d", host.PatternBytes(h), was)
	}
	if folded, done, err := others.Pattern(largePattern(0), true); err != nil || folded == again {
		t.Errorf("that ignores case is the same, or %v", err)
	} else {
		done()
	}
	if _, done, err := others.Pattern("never", false); err != nil {
		t.Errorf("another account: %v", err)
	} else {
		done()
	}
	release[1]()
	release[1]() // which counts once
	if _, done, err := eves.Pattern(largePattern(1), false); err != nil {
		t.Errorf("there is room again: %v", err)
	} else {
		done()
	}
	for _, one := range release {
		one()
	}
	done()
	if left := host.PatternBytes(h); left <= 0 || left > was/5 { // the one that eve has twice
		t.Errorf("%d bytes are left", left)
	}
}

func TestPatternsOfAllAreBounded(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	var all []func()
	for i := range 5 {
		p := hosttest.Principal(fmt.Sprint("key", i), authz.Observer)
		release, err := fill(t, door(t, h, p, host.DoorSSH), 1000*(i+1))
		all = append(all, release...)
		var room *host.PatternRoomError
		if !errors.As(err, &room) || room.Own != (i < 3) {
			t.Errorf("account %d: %v", i, err)
		}
	}
	if n := host.PatternBytes(h); n > 64<<20 {
		t.Errorf("they take %d bytes", n)
	}
	if _, done, err := door(t, h, alice, host.DoorSSH).Pattern(largePattern(0), false); err != nil {
		t.Errorf("an admin: %v", err)
	} else {
		done()
	}
	for _, release := range all {
		release()
	}
	if n := host.PatternBytes(h); n != 0 {
		t.Errorf("%d bytes are left", n)
	}
}
