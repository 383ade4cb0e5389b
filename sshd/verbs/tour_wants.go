package verbs

import (
	"context"
	"time"

	"termhost/sshd/viewer"
)

// wantsPause is the least time between two counts of what wants the person on this host.
const wantsPause = 250 * time.Millisecond

// counting keeps up the count of what wants the person on other hosts than the one that is shown,
// until the function is called that it returns. The viewer there adds that host's own.
func (t *tour) counting() (stop func()) {
	ctx, stop := context.WithCancel(t.v.ctx)
	t.v.Go("following what wants somebody on other hosts", func() {
		t.v.follow(ctx, &follower{life: countLife, news: t.count})
	})
	t.v.Go("following what wants somebody on this host", func() {
		calls, end := t.v.Conn.WantingChanges()
		defer end()
		for {
			select {
			case <-calls:
				if t.now().host != "" { // else its viewer counts
					t.count()
				}
			case <-ctx.Done():
				return
			}
			if _, ok := waits(ctx, nil, wantsPause); !ok {
				return
			}
		}
	})
	return stop
}

// corner is [Guide.Corner] for a host.
func (t *tour) corner(on string) []byte {
	n := t.wants.Now()
	rows, _ := t.v.following.of(t.follows).rows()
	for _, r := range rows {
		if r.WantsYou && r.Host == on || n > 0 {
			return viewer.Corner(n, t.v.Window())
		}
	}
	return nil
}

// count counts what wants the person on other hosts than the one that is shown. Of a host that is
// silent nothing can be answered, and nothing counts.
func (t *tour) count() {
	t.recount.Lock()
	defer t.recount.Unlock()
	shown, n := t.now().host, 0
	if t.v.Quiet == nil || !t.v.Quiet() {
		rows, _ := t.v.following.of(t.follows).rows()
		for _, r := range rows {
			if r.WantsYou && r.Away.IsZero() && r.Host != shown {
				n++
			}
		}
		if shown != "" {
			own, _ := t.v.Conn.Wanting() // a principal that may not list gets none
			n += len(own)
		}
	}
	t.wants.Set(n)
}
