package host

import (
	"context"
	"testing"
	"time"

	"termhost/authz"
)

// A key and its tokens write few large answers and read few logs at once, whoever takes none of
// them, and admins any number.
func TestAnAccountDoesFewLargeThingsAtOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		most int
		wait func(*Conn, context.Context) (release func(), err error)
	}{
		"answers":  {maxLarge, (*Conn).WaitLarge},
		"readings": {maxReadings, (*Conn).WaitReading},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t)
			token, _ := of(worker)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			connect := func(p authz.Principal) *Conn {
				c, err := h.Connect(p, DoorWebSocket)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(c.Close)
				return c
			}
			var releases []func()
			for range c.most {
				release, err := c.wait(connect(worker), ctx)
				if err != nil {
					t.Fatal(err)
				}
				releases = append(releases, release)
			}
			next, admin := connect(token), connect(chief)
			for range 2 * c.most {
				if _, err := c.wait(admin, ctx); err != nil {
					t.Fatal(err)
				}
			}
			cancelled, stop := context.WithCancel(ctx)
			stop()
			if _, err := c.wait(next, cancelled); err == nil {
				t.Error("one more is done at once")
			}
			releases[0]()
			if _, err := c.wait(next, ctx); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestThePaceOfAnAccount(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	p := &Pace{at: now, bytes: paceBytes, messages: paceMessages}
	for _, step := range []struct {
		after           time.Duration
		bytes, messages float64
		want            time.Duration
	}{
		{0, paceBytes, paceMessages, 0}, // a second's worth at once
		{0, paceBytes / 2, 0, time.Second / 2},
		{time.Second / 2, 0, paceMessages, time.Second / 2},
		{time.Hour, paceBytes, 0, 0}, // no more than that is saved up
		{0, paceBytes, 0, time.Second},
	} {
		now = now.Add(step.after)
		if got := max(p.owe(step.bytes, step.messages, now), 0); got != step.want {
			t.Errorf("%+v: a wait of %v", step, got)
		}
	}
}
