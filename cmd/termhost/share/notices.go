package share

import (
	"context"
	"slices"
	"sync"
)

// maxNotices bounds how many notices wait to be shown, and how many are kept for the end.
const maxNotices = 8

// notices are what share has to tell its user while the screen belongs to a program. All methods
// may be called concurrently. None of them waits for the screen but run.
type notices struct {
	wake chan struct{} // 1 deep: there is something to show

	mu      sync.Mutex // nothing else is locked while it is held
	waiting []notice   // to be shown at once
	kept    []string   // to be told when the screen is the user's again
}

// notice is a line to show.
type notice struct {
	text  string
	shown chan struct{} // closed when it is shown, or when it was dropped
}

func newNotices() *notices { return &notices{wake: make(chan struct{}, 1)} }

// show shows text as soon as possible. The returned channel is closed after that.
func (n *notices) show(text string) (shown <-chan struct{}) {
	u := notice{text: text, shown: make(chan struct{})}
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.waiting) == maxNotices {
		close(u.shown)
		return u.shown
	}
	n.waiting = append(n.waiting, u)
	select {
	case n.wake <- struct{}{}:
	default:
	}
	return u.shown
}

// keep has text told at the end, once however often it is kept.
func (n *notices) keep(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.kept) < maxNotices && !slices.Contains(n.kept, text) {
		n.kept = append(n.kept, text)
	}
}

// run shows notices until ctx ends. display shows one and reports whether it stays on the screen;
// one that does not is told again at the end.
func (n *notices) run(ctx context.Context, display func(text string) (stays bool)) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.wake:
		}
		n.mu.Lock()
		due := n.waiting
		n.waiting = nil
		n.mu.Unlock()
		for _, u := range due {
			if !display(u.text) {
				n.keep(u.text)
			}
			close(u.shown)
		}
	}
}

// rest returns what remains to be told at the end.
func (n *notices) rest() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, u := range n.waiting {
		n.kept = append(n.kept, u.text)
	}
	n.waiting = nil
	return n.kept
}
