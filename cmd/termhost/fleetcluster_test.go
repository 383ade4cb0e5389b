package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"termhost/ahp/hosttest"
)

// A fleet is on a NATS cluster of three servers that is set up as the manual says, with two doors.
// The home, the other door and the box begin at a server each.
func TestAFleetOnANATSCluster(t *testing.T) {
	slow(t)
	t.Parallel()
	n := newNATSCluster(t)
	w, home := newFleet(t, n.fleet("home", 0))
	door := w.host("door", n.fleet("door", 1))
	door.joins(w.token("--door"), n.url(1))
	door.start()
	box := w.host("box", n.fleet("box", 2)+
		"[terminal]\nlog_bytes = \"32MiB\"\nscrollback_bytes = \"16MiB\"")
	box.joins(w.token(), n.url(2))
	box.start()
	w.together()

	floodThrough(t, n, home, door, box)
	transferThrough(t, n, []*fleetHost{home, door}, box)
	stealCredentials(t, n)
}

// A host that was given the credentials of another one says so, and the line stays good.
func TestAHostDoesNotJoinWithTheCredentialsOfAnother(t *testing.T) {
	slow(t)
	t.Parallel()
	n := newNATSCluster(t)
	w, _ := newFleet(t, n.fleet("home", 0))
	other := w.host("other", n.fleet("other", 1))
	token := w.token()
	out, err := other.try("fleet", "join", "--name", "box", n.url(1), token)
	if err == nil || !strings.Contains(out, "the credentials do not let this host speak as box") ||
		!strings.Contains(out, "hint: give the name that they are for with --name") {
		t.Errorf("it says %s (%v)", out, err)
	}
	if _, err := os.Stat(filepath.Join(other.state(), "fleet")); err == nil {
		t.Error("it has a fleet")
	}
	other.joins(token, n.url(1))
	other.start()
	w.together()
}

// floodThrough kills the server of a door in the middle of a flood that people look at through both
// doors, and then all servers.
func floodThrough(t *testing.T, n *natsCluster, home, door, box *fleetHost) {
	stop := filepath.Join(box.dir, "stop")
	home.run("alice", "new --on box -d -n flood -- stty -echo; read x; until [ -e "+stop+" ]; "+
		`do seq 1 100000; done; seq 1 200000; while read x; do echo "[$x]"; done`)
	lookers := []*onlooker{home.look("alice", "attach box/flood"),
		door.look("alice", "attach box/flood")}
	lookers[0].types("\r")
	for _, o := range lookers {
		o.sees("0000")
	}
	n.kill(0)
	hosttest.Eventually(t, "the home has lost its server", func() bool {
		return strings.Contains(home.logged(), "server is lost; connecting again")
	})
	if strings.Contains(door.logged()+box.logged(), "server is lost") {
		t.Error("others have lost theirs, too")
	}
	writeFile(t, stop, "")
	for _, o := range lookers {
		o.sees("199998\n199999\n200000")
		o.mirrors(box, "flood")
	}
	n.kill(1)
	n.kill(2)
	for _, o := range lookers {
		o.sees("box is unreachable since")
		o.types("lost\r")
	}
	for i := range n.nodes {
		n.start(i)
	}
	for i, o := range lookers {
		word := []string{"one", "other"}[i]
		hosttest.Eventually(t, "keys are taken again", func() bool {
			o.types(word + "\r")
			time.Sleep(100 * time.Millisecond)
			return strings.Contains(o.shows(), "["+word+"]")
		})
	}
	for _, o := range lookers {
		o.mirrors(box, "flood")
	}
	if out, err := box.try("grep", "lost", "flood"); err == nil {
		t.Errorf("a key is typed later: %s", out)
	}
}

// transferThrough reads what a terminal has printed through doors, and kills each server meanwhile.
func transferThrough(t *testing.T, n *natsCluster, doors []*fleetHost, box *fleetHost) {
	box.do("new", "-d", "-n", "long", "--", "sh", "-c", "stty -onlcr; seq 1 1500000; exec cat")
	box.do("wait", "--match", "^1500000$", "long")
	want := box.do("log", "--raw", "long")
	var rest sync.WaitGroup
	texts, outs := make([]strings.Builder, len(doors)), make([]io.Reader, len(doors))
	for i, d := range doors {
		s, err := d.as("alice").NewSession()
		hosttest.Check(t, err)
		outs[i], err = s.StdoutPipe()
		hosttest.Check(t, err)
		hosttest.Check(t, s.Start("log --raw box/long"))
		defer func() {
			if err := s.Wait(); err != nil || texts[i].String() != want {
				t.Errorf("of %d bytes %d have come through %s, or others (%v)", len(want),
					texts[i].Len(), d.name, err)
			}
		}()
	}
	for node := range n.nodes {
		for i, out := range outs {
			_, err := io.CopyN(&texts[i], out, int64(len(want)/(natsNodes+1)))
			hosttest.Check(t, err)
		}
		n.kill(node)
		n.start(node)
	}
	for i, out := range outs {
		rest.Go(func() { _, _ = io.Copy(&texts[i], out) }) // what is missing is seen
	}
	rest.Wait()
}

// stealCredentials tries what the credentials of a host that is no door are not for.
func stealCredentials(t *testing.T, n *natsCluster) {
	denied := make(chan error, 10)
	nc, err := nats.Connect(n.url(0), nats.RootCAs(filepath.Join(n.dir, "ca.pem")),
		nats.UserCredentials(filepath.Join(n.dir, "box.creds")),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { denied <- err }))
	hosttest.Check(t, err)
	defer nc.Close()
	refuses(t, nc, denied, []string{">", "th.>", "th.*.home.c", "th.home.door.b", "_INBOX.>"},
		[]string{"th.home.door.c", "th.home.all.c", "th.door.home.b", "_INBOX.x"})
	_, err = nats.Connect(n.url(0), nats.RootCAs(filepath.Join(n.dir, "ca.pem")))
	if !errors.Is(err, nats.ErrAuthorization) {
		t.Errorf("without credentials: %v", err)
	}
}
