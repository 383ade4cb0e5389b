package main

import (
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// echoes is a program that shows whole what is typed.
const echoes = "stty -echo; echo up; while read x; do echo got $x; done"

// trio is a fleet of two doors, of which "home" has the fleet's server, and "box", with a terminal
// "work" on it.
func trio(t *testing.T) (w *fleetWorld, home, door, box *fleetHost) {
	w, home = newFleet(t, "")
	door = w.join("door", w.listen, "", "--door")
	box = w.join("box", w.listen, "[fleet]\ndoors = { home = \"admin\", door = \"admin\" }")
	w.together()
	home.run("alice", "new --on box -d -n work -- "+echoes)
	return w, home, door, box
}

// answers waits until keys reach the program again, and mirrors what it shows.
func (o *onlooker) answers(box *fleetHost, key string) {
	o.t.Helper()
	o.sees("up")
	again := time.Now()
	hosttest.Eventually(o.t, "keys are taken", func() bool {
		if !time.Now().Before(again) { // those before were refused
			o.types(key + "\r")
			again = time.Now().Add(time.Second)
		}
		return strings.Contains(o.shows(), "got "+key)
	})
	o.mirrors(box, "work")
}

// A process that stands still is silent, and loses nothing.
func TestHostsOfAFleetStandStill(t *testing.T) {
	slow(t)
	t.Parallel()
	_, home, door, box := trio(t)
	one, other := home.look("alice", "attach box/work"), door.look("alice", "attach box/work")
	one.answers(box, "first")
	other.sees("got first")

	thaw := box.freeze()
	one.sees("box is unreachable since")
	other.sees("box is unreachable since")
	one.types("lost\r")
	thaw()
	one.answers(box, "second")
	other.mirrors(box, "work")

	thaw = door.freeze()
	one.answers(box, "third") // whoever has come by another door does not wait
	thaw()
	other.answers(box, "fourth")

	thaw = home.freeze()
	other.sees("box is unreachable since")
	box.do("send", "--enter", "work", "alone")
	box.do("wait", "--match", "got alone", "work")
	thaw()
	other.answers(box, "fifth")
	one.answers(box, "sixth")
	if log := box.do("log", "work"); strings.Contains(log, "lost") {
		t.Errorf("a key was typed later: %s", log)
	}
}

// A process that is killed takes with it what only it had.
func TestHostsOfAFleetAreKilled(t *testing.T) {
	slow(t)
	t.Parallel()
	_, home, door, box := trio(t)
	one, other := home.look("alice", "attach box/work"), door.look("alice", "attach box/work")
	one.answers(box, "first")
	other.sees("got first")

	_ = door.serve.Stop(syscall.SIGKILL)
	other.ended()
	one.answers(box, "second")
	door.start()
	hosttest.Eventually(t, "the owner has heard of the door's end", func() bool {
		return strings.Count(box.do("who", "work"), "\n") == 2 // a head, and one viewer
	})
	other = nil
	hosttest.Eventually(t, "the door reaches it again", func() bool {
		_, err := door.ask("alice", "peek box/work")
		return err == nil
	})
	other = door.look("alice", "attach box/work")
	other.answers(box, "third")

	_ = home.serve.Stop(syscall.SIGKILL)
	one.ended()
	other.sees("box is unreachable since")
	other.types("lost\r")
	box.do("send", "--enter", "work", "alone")
	box.do("wait", "--match", "got alone", "work")
	home.start()
	other.answers(box, "fourth")

	pid := box.serve.Cmd.Process.Pid
	_ = box.serve.Stop(syscall.SIGKILL)
	other.sees("box is unreachable since")
	other.types("lost\r")
	if box.start(); box.serve.Cmd.Process.Pid == pid {
		t.Error("it is the same process")
	}
	other.answers(box, "fifth")
	if log := box.do("log", "work"); strings.Contains(log, "lost") {
		t.Errorf("a key was typed later: %s", log)
	}
}

// Two people who have come by different doors want the same at one moment. The owner hears one
// first, and tells the other.
func TestPeopleOfTwoDoorsRace(t *testing.T) {
	slow(t)
	t.Parallel()
	_, home, door, box := trio(t)
	home.run("bob", "new --on box -d -n bobs -- "+echoes)
	names := []string{"alice", "carol"}
	var both sync.WaitGroup
	var errs [2]error
	var said [2]string
	for i, at := range []*fleetHost{home, door} {
		both.Go(func() {
			said[i], errs[i] = at.ask(names[i], "new --on box -d -n same -- cat")
		})
	}
	both.Wait()
	if (errs[0] == nil) == (errs[1] == nil) || !strings.Contains(said[0]+said[1], "same") {
		t.Errorf("both make one of a name: %q, %q (%v)", said[0], said[1], errs)
	}
	lookers := []*onlooker{home.look("alice", "attach box/bobs"), door.look("carol", "attach box/bobs")}
	for _, o := range lookers {
		o.sees("up")
	}
	for i, o := range lookers {
		both.Go(func() { o.types(names[i] + "\r") })
	}
	both.Wait()
	hosttest.Eventually(t, "one has the keyboard, and the other is told", func() bool {
		for i, name := range names {
			if strings.Contains(lookers[i].shows(), "you took the keyboard") &&
				(strings.Contains(lookers[1-i].shows(), name+" has the keyboard") ||
					strings.Contains(lookers[1-i].shows(), name+" took the keyboard")) {
				return true
			}
		}
		return false
	})
	if who := box.do("who", "bobs"); strings.Count(who, "holds it") != 1 {
		t.Errorf("who has the keyboard: %s", who)
	}
}

// What a host that is removed has open ends, here and there, and it knows.
func TestHostsThatAreRemoved(t *testing.T) {
	slow(t)
	t.Parallel()
	slowtest.Hurry(t) // it is promised in two seconds
	_, home, door, box := trio(t)
	one, other := home.look("alice", "attach box/work"), door.look("alice", "attach box/work")
	one.answers(box, "first")
	other.sees("got first")

	home.do("fleet", "remove", "door")
	other.ended()
	other.sees("removed from")
	hosttest.Eventually(t, "the owner has one viewer", func() bool {
		return strings.Count(box.do("who", "work"), "\n") == 2
	})
	hosttest.Eventually(t, "the door knows", func() bool {
		out, err := door.try("fleet", "hosts")
		return err != nil && strings.Contains(out, "removed from")
	})
	door.do("ls")
	if out, err := door.ask("alice", "peek box/work"); err == nil {
		t.Errorf("a door that was removed shows %s", out)
	}
	one.answers(box, "second")

	home.do("fleet", "remove", "box")
	one.ended()
	one.sees("removed from the fleet")
	box.do("send", "--enter", "work", "alone")
	box.do("wait", "--match", "got alone", "work")
	_ = box.serve.Stop(syscall.SIGTERM)
	box.start()
	const out = `stays out of its fleet","err":"this host was removed from its fleet and is in none`
	if !strings.Contains(box.logged(), out) {
		t.Errorf("a host that was removed starts with %s", box.logged())
	}
	for host, entry := range map[*fleetHost]string{
		home: `"carry","who":"alice","to":"box"`, door: `"carry","who":"alice","to":"box"`,
		box: `"from":"home connection `} {
		if !strings.Contains(host.audit(), entry) {
			t.Errorf("the audit log of %s has no %s: %s", host.name, entry, host.audit())
		}
	}
}

// What is typed at a host that stands still is typed at once or never: for seconds its door does
// not know that it is silent.
func TestKeysForAHostThatStandsStillAreNotTypedLater(t *testing.T) {
	slow(t)
	t.Parallel()
	_, home, _, box := trio(t)
	one := home.look("alice", "attach box/work")
	one.answers(box, "first")
	thaw := box.freeze()
	one.types("late\r")
	one.sees("box is unreachable since 3") // seconds
	thaw()
	one.sees("box was silent; not typed: 5 keys")
	one.answers(box, "second")
	if log := box.do("log", "work"); strings.Contains(log, "late") {
		t.Errorf("a key was typed later: %s", log)
	}
}

// The picture of a host that stands still cannot be drawn anew. What lay over it leaves it as it
// was.
func TestTheListLeavesThePictureOfASilentHostWhereItWas(t *testing.T) {
	slow(t)
	t.Parallel()
	_, home, _, box := trio(t)
	one := home.look("alice", "attach box/work")
	one.answers(box, "first")
	thaw := box.freeze()
	const notice = " termhost: box is unreachable since "
	picture := func() string {
		above, _, _ := strings.Cut(one.shows(), notice)
		return above
	}
	one.sees(notice)
	want := picture()
	one.types("\x1cl")
	one.sees("Enter goes")
	one.types("\x1b[27u")
	for range 3 {
		before := one.shows()
		hosttest.Eventually(t, "the notice is shown again", func() bool {
			now := one.shows()
			return now != before && strings.Contains(now, notice)
		})
		if got := picture(); got != want {
			t.Errorf("the screen shows\n%s\nbut\n%s", got, want)
		}
	}
	thaw()
	one.answers(box, "second")
}
