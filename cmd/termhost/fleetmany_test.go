package main

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/hosttest"
)

// manyHosts is how many hosts the largest fleet of real processes has.
const manyHosts = 30

// Thirty hosts, each a process with a folder, a port and a terminal of its own, are used through one
// door.
func TestThirtyHostsBehindOneDoor(t *testing.T) {
	slow(t)
	t.Parallel()
	w, home := newFleet(t, "")
	boxes := w.joinMany(manyHosts - 1)
	door := visit(home, "alice")
	hosttest.Eventually(t, "the door sees all", func() bool {
		return strings.Count(door.run("hosts"), " reachable ") == len(boxes)
	})
	door.run("new -d -n work -- " + echoes)
	for i, box := range boxes {
		door.run(fmt.Sprintf("new --on %s -d -n work -- %s", box.name, echoes))
		door.run(fmt.Sprintf("send --enter %s/work I am %d", box.name, i))
	}
	door.run("send --enter home/work I am home")

	checkLists(t, door, boxes)
	askAll(t, door, boxes)
	reachByName(t, home, door, boxes[len(boxes)-1], w.hosts["box17"])
	shareOut(t, door, w.hosts["box3"])
	killOne(t, door, w.hosts["box5"])
}

// joinMany makes hosts members and starts them. The first ten are in zone=eu, the others in zone=us.
func (w *fleetWorld) joinMany(n int) (boxes []*fleetHost) {
	w.t.Helper()
	for i := range n {
		zone := "eu"
		if i >= 10 {
			zone = "us"
		}
		boxes = append(boxes, w.join(fmt.Sprintf("box%d", i), w.listen,
			fmt.Sprintf("[fleet]\nlabels = { zone = %q, disk = %q }", zone, fmt.Sprint("d", i%5))))
	}
	return boxes
}

// visitor runs commands at a host on one connection.
type visitor struct {
	t testing.TB
	c *gossh.Client
}

// visit logs in to a host.
func visit(h *fleetHost, person string) visitor { return visitor{h.w.t, h.as(person)} }

// ask runs a command, and returns what it prints, errors included.
func (v visitor) ask(line string) (string, error) {
	s, err := v.c.NewSession()
	hosttest.Check(v.t, err)
	out, err := s.CombinedOutput(line)
	return string(out), err
}

// run is ask for what must succeed.
func (v visitor) run(line string) string {
	v.t.Helper()
	out, err := v.ask(line)
	if err != nil {
		v.t.Fatalf("%s: %v: %s", line, err, out)
	}
	return out
}

// rows returns the lines of a list that are about a host.
func rows(list, host string) (found []string) {
	for line := range strings.Lines(list) {
		if strings.HasPrefix(line, host+" ") {
			found = append(found, line)
		}
	}
	return found
}

// checkLists lists the terminals of all hosts, and of each.
func checkLists(t *testing.T, door visitor, boxes []*fleetHost) {
	list := door.run("ls")
	for _, box := range boxes {
		if own := rows(door.run("ls "+box.name), box.name); len(own) != 1 {
			t.Errorf("ls %s has %q", box.name, own)
		}
		if all := rows(list, box.name); len(all) != 1 || strings.Contains(all[0], "unreachable") {
			t.Errorf("ls has of %s %q", box.name, all)
		}
	}
	if strings.Count(list, " work ") != manyHosts {
		t.Errorf("ls shows\n%s", list)
	}
}

// reachByName attaches to a terminal as HOST/NAME, and on another host to one by a NAME that no
// other has.
func reachByName(t *testing.T, home *fleetHost, door visitor, box, another *fleetHost) {
	one := home.look("alice", "attach "+box.name+"/work")
	one.answers(box, "one")
	if who := door.run("who " + box.name + "/work"); !strings.Contains(who, "alice") {
		t.Errorf("who watches: %s", who)
	}
	said := ""
	hosttest.Eventually(t, "a NAME that all have is refused", func() (refused bool) {
		var err error
		said, err = door.ask("peek work")
		return err != nil
	})
	if !strings.Contains(said, "there are several") || !strings.Contains(said, "home/work") {
		t.Errorf("a NAME that several have: %s", said)
	}
	door.run("new --on " + another.name + " -d -n alone -- " + echoes)
	door.run("send --enter alone hello")
	another.do("wait", "--match", "got hello", "alone")
	alone := home.look("alice", "attach alone")
	alone.sees("got hello")
	alone.types("by name\r")
	alone.sees("got by name")
}

// askAll asks for what concerns all hosts.
func askAll(t *testing.T, door visitor, boxes []*fleetHost) {
	names := ""
	for _, box := range boxes {
		names += " " + box.name + "/work"
	}
	door.run("wait --all --match 'got I am [0-9]+'" + names)
	found := door.run("grep '^got I am'")
	for i, box := range boxes {
		if !strings.Contains(found, fmt.Sprintf("%s/work:", box.name)) ||
			!strings.Contains(found, fmt.Sprintf(":got I am %d\n", i)) {
			t.Errorf("grep has nothing of %s:\n%s", box.name, found)
		}
	}
	for _, box := range boxes {
		if who := door.run("who " + box.name + "/work"); !strings.Contains(who, "nobody watches") {
			t.Errorf("who %s/work: %q", box.name, who)
		}
	}
}

// shareOut makes terminals on whichever of two hosts has fewer: those with both labels of one.
func shareOut(t *testing.T, door visitor, one *fleetHost) {
	const alike = "zone=eu,disk=d3"
	door.run("new --on " + one.name + " -d -- cat")
	for range 7 { // faster than a host says how many it has
		door.run("new --on " + alike + " -d -- cat")
	}
	list := door.run("ls box3 box8")
	less, more := len(rows(list, "box3")), len(rows(list, "box8"))
	if less+more != 10 || max(less-more, more-less) > 2 { // each may have one on the way
		t.Errorf("box3 and box8 have\n%s", list)
	}
	if said, err := door.ask("new --on zone=eu,disk=d9 -d"); err == nil ||
		!strings.Contains(said, "no host that can be reached") {
		t.Errorf("labels that none has: %q (%v)", said, err)
	}
}

// killOne kills a host, whose programs go on without it, and restarts it twice.
func killOne(t *testing.T, door visitor, box *fleetHost) {
	door.run("ls") // what is listed last
	_ = box.serve.Stop(syscall.SIGKILL)
	hosttest.Eventually(t, "it is said to be unreachable", func() bool {
		return strings.Contains(door.run("ls"), box.name+" is unreachable since")
	})
	list := door.run("ls")
	if own := rows(list, box.name+" "); len(own) != 1 || !strings.Contains(own[0], "unreachable") {
		t.Errorf("of a host that was killed ls has %q", own)
	}
	if strings.Count(list, " work ") != manyHosts {
		t.Errorf("ls shows\n%s", list)
	}
	if own := door.run("ls " + box.name); !strings.Contains(own, "unreachable since") {
		t.Errorf("ls %s: %s", box.name, own)
	}
	found, err := door.ask("grep '^got I am'")
	if err != nil || strings.Count(found, ":got I am") != manyHosts-1 ||
		!strings.Contains(found, box.name+" is unreachable since") {
		t.Errorf("grep: %v:\n%s", err, found)
	}
	for _, line := range []string{"who", "wait", "peek", "send --enter"} {
		said, err := door.ask(line + " " + box.name + "/work")
		if exit := (*gossh.ExitError)(nil); !errors.As(err, &exit) ||
			!strings.Contains(said, box.name+" is unreachable since") {
			t.Errorf("%s: %q (%v)", line, said, err)
		}
	}

	box.start()
	back := func(word string) {
		t.Helper()
		hosttest.Eventually(t, "it is back", func() bool {
			_, err := door.ask("send --enter " + box.name + "/work " + word)
			return err == nil
		})
		door.run("wait --match 'got " + word + "' " + box.name + "/work")
		if list := door.run("ls"); strings.Contains(list, "unreachable") ||
			strings.Count(list, " work ") != manyHosts {
			t.Errorf("ls shows\n%s", list)
		}
	}
	back("again")
	_ = box.serve.Stop(syscall.SIGTERM)
	box.start()
	back("after-all")
}
