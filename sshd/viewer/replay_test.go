package viewer_test

import (
	"context"
	"errors"
	"testing"

	"termhost/ahp/history"
	"termhost/ahp/hosttest"
	"termhost/sshd/viewer"
	"termhost/sshd/viewertest"
)

// plays has a person look at a recording of work, and returns what Replay will have returned.
func (r *room) plays(name string) (*viewertest.Person, *error) {
	result := new(error)
	p := viewertest.Sit(r.t, viewer.Window{Cols: 60, Rows: 10}, func(ctx context.Context, p *viewertest.Peer) int {
		work := r.conn.Work(ctx)
		defer work.Rest()
		from, err := r.conn.FindSource(name)
		hosttest.Check(r.t, err)
		c, err := r.conn.Cast(work, from)
		if err == nil {
			player := history.NewPlayer(c.Header, c.Events, 0)
			err = viewer.Replay(ctx, r.session(p), viewer.Recording{Player: player, Work: work,
				Speed: viewer.MaxSpeed, From: from, Name: name})
		}
		*result = err
		return 0
	})
	return p, result
}

func TestAReplayEndsWhenThePersonQuitsOrLeaves(t *testing.T) {
	r := newRoom(t)
	work := r.runs("echo first; echo second")
	hosttest.Eventually(t, "it has ended", func() bool {
		_, over := work.Exit()
		return over
	})
	p, err := r.plays("work")
	p.Sees("second")
	p.Sees("end ")
	p.Types("/first\r")
	p.Sees("paused")
	p.Types("/third\r")
	p.Sees("not found: third")
	p.Types("[")
	p.Sees("work: lines 1 to 2 of 2")
	p.Types("ky")
	p.Sees(copying("first"))
	p.Types("q")
	p.Sees("paused")
	p.Types("q")
	p.SeesAll()
	if <-p.Status; *err != nil {
		t.Errorf("quit: %v", *err)
	}
	p, err = r.plays("work")
	p.Sees("end ")
	p.Leaves()
	p.SeesAll()
	if <-p.Status; !errors.Is(*err, viewer.ErrLost) {
		t.Errorf("left: %v", *err)
	}
}
