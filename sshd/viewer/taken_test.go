package viewer_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termhost/ahp/hosttest"
	"termhost/sshd/viewer"
)

// What waits for a program can be lost with the host, and is not taken before it reads.
func TestInputIsTakenWhenTheProgramHasRoomForIt(t *testing.T) {
	r := newRoom(t)
	work := r.runs("stty raw -echo; echo ready; " +
		"until [ -e go ]; do sleep 0.02; done; head -c 100002 >out; printf end; exec cat")
	p, _ := r.sits(work, viewer.Options{})
	p.Sees("ready")
	p.Types(strings.Repeat("x", 100002)) // more than a terminal's queue has room for
	p.Types(prefix + "?")
	p.Sees("Any key closes this") // the viewer has looked since
	if bytes, _ := p.Told(); bytes > 90000 {
		t.Errorf("%d bytes are taken by a program that reads nothing", bytes)
	}
	p.Types("x")
	go p.SeesAll() // it ends with the viewer
	hosttest.Check(t, os.WriteFile(filepath.Join(r.dir, "go"), nil, 0o600))
	hosttest.Eventually(t, "all is taken", func() bool {
		bytes, shown := p.Told()
		return bytes == 100005 && shown
	})
	p.Types(prefix + "d")
	<-p.Status
}

func TestAPeerIsToldThatWhatIsTypedIsNotShown(t *testing.T) {
	r := newRoom(t)
	p, _ := r.sits(r.runs("printf Password:; stty -echo; read x"), viewer.Options{})
	p.Sees("Password:")
	go p.SeesAll() // it ends with the viewer
	hosttest.Eventually(t, "the peer is told", func() bool {
		_, shown := p.Told()
		return !shown
	})
	p.Types(prefix + "d")
	<-p.Status
}
