package rpc

import (
	"fmt"
	"slices"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/store"
)

// A peer that reconnects goes on with its channels under flow control apart from the others: the
// answer has their limits, which the client's last connection was granted by this host, and what
// the client has missed comes in frames.

// resumedWindows are the channels with flow control that a reconnecting peer names.
type resumedWindows struct {
	Items []struct {
		Channel string  `json:"channel"`
		Applied *uint64 `json:"lastAppliedServerSeq"` // nil: a snapshot is wanted
	} `json:"items"`
}

// resumedResult are the channels that go on.
type resumedResult struct {
	Items []resumedWindow `json:"items"`
}

type resumedWindow struct {
	Channel     string      `json:"channel"`
	FlowControl flowControl `json:"flowControl"`
	Recovery    string      `json:"recovery"` // ahp.RecoverySnapshot or ahp.RecoveryReplay
}

// check returns the subscriptions without flow control.
func (w *resumedWindows) check(all []ahp.SubscriptionRef,
	cursors bool) ([]ahp.SubscriptionRef, *ahp.Error) {
	if w == nil {
		return all, nil
	}
	if cursors {
		return nil, ahp.FieldProblem("windows", "goes with a lastSeenServerSeq for all channels")
	}
	rest := slices.Clone(all)
	for i, item := range w.Items {
		n := len(rest)
		rest = slices.DeleteFunc(rest,
			func(ref ahp.SubscriptionRef) bool { return string(ref) == item.Channel })
		if len(rest) == n {
			return nil, ahp.FieldProblem(fmt.Sprintf("windows.items[%d].channel", i),
				"must be one of subscriptions, and come once")
		}
	}
	return rest, nil
}

// cursors returns what the peer has applied of each channel.
func (w *resumedWindows) cursors() (list []ahp.ChannelCursor) {
	if w == nil {
		return nil
	}
	for _, item := range w.Items {
		list = append(list, ahp.ChannelCursor{Channel: ahp.SubscriptionRef(item.Channel),
			LastSeenServerSeq: item.Applied})
	}
	return list
}

// resumeWindows opens the windows of a reconnected peer, and returns the references of those that
// cannot go on, too. before has the limits of the client's last connection. The writer calls it
// while it writes the answer.
func (p *peer) resumeWindows(list []host.ChannelRecovery, snapshots *store.Subscription,
	before *grants) (resumed resumedResult, missing []string) {
	resumed.Items = []resumedWindow{}
	if len(list) == 0 {
		return resumed, nil
	}
	views, _ := snapshots.Start()
	for _, c := range list {
		if c.Channel == nil {
			missing = append(missing, c.Ref)
			continue
		}
		var first []queued
		recovery := ahp.RecoveryReplay
		if c.Snapshot {
			view, shape := views[0], p.conn.Shape()
			views, recovery = views[1:], ahp.RecoverySnapshot
			first = append(first, queued{message: func([]byte) []byte {
				return channelSnapshot(view, shape)
			}})
		}
		l, ok := before.of(c.Channel.URI())
		if !ok {
			p.conn.Unsubscribe(c.Channel.URI())
			missing = append(missing, c.Ref)
			continue
		}
		for _, e := range c.Missed {
			first = append(first, queued{entry: store.Item{Entry: e}})
		}
		p.openWindow(c.Channel.URI(), l, append(first, channelReady(c.Channel.URI()))...)
		resumed.Items = append(resumed.Items, resumedWindow{c.Ref,
			flowControl{l, hostReceives}, recovery})
	}
	return resumed, missing
}
