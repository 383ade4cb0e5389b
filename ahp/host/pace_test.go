package host

import (
	"context"
	"testing"
	"time"
)

// A key and its tokens write few large answers at once, whoever takes none of them, and admins any
// number.
func TestFewLargeAnswersAreWrittenAtOnce(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	token, _ := of(worker)
	ctx, cancel := context.WithCancel(t.Context())
	var releases []func()
	for range maxLarge {
		c, err := h.Connect(worker, DoorWebSocket)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		release, err := c.WaitLarge(ctx)
		if err != nil {
			t.Fatal(err)
		}
		releases = append(releases, release)
	}
	next, err := h.Connect(token, DoorWebSocket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(next.Close)
	admin, err := h.Connect(chief, DoorWebSocket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(admin.Close)
	for range 2 * maxLarge {
		if _, err := admin.WaitLarge(ctx); err != nil {
			t.Fatal(err)
		}
	}
	cancelled, stop := context.WithCancel(ctx)
	stop()
	if _, err := next.WaitLarge(cancelled); err == nil {
		t.Error("one more is written at once")
	}
	releases[0]()
	if _, err := next.WaitLarge(ctx); err != nil {
		t.Error(err)
	}
	cancel()
}

func TestThePaceOfAnAccount(t *testing.T) {
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
