package host

import (
	"testing"
	"time"
)

func TestThePaceOfAnAccount(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	p := newPace()
	for _, step := range []struct {
		after           time.Duration
		bytes, messages int
		want            time.Duration
	}{
		{0, paceBytes, paceMessages, 0}, // a second's worth at once
		{0, paceBytes / 2, 0, time.Second / 2},
		{time.Second / 2, 0, paceMessages, time.Second / 2},
		{time.Hour, paceBytes, 0, 0}, // no more than that is saved up
		{0, paceBytes, 0, time.Second},
	} {
		now = now.Add(step.after)
		if got := max(p.owe(step.bytes, step.messages*MessageParts, now), 0); got != step.want {
			t.Errorf("%+v: a wait of %v", step, got)
		}
	}
}
