package share

import (
	"context"
	"slices"
	"sync"
)

// maxNews bounds what is kept to be said.
const maxNews = 8

// news is what share has to say to its user while the screen is a program's. All
// methods may be called concurrently; none waits for the screen but show.
type news struct {
	wake chan struct{} // 1 deep: there is something to be shown

	mu   sync.Mutex // a leaf
	now  []urgent   // to be shown at once
	late []string   // to be said when the screen is the user's again
}

// urgent is a line to be shown at once.
type urgent struct {
	text  string
	shown chan struct{} // closed when it is, or never will be
}

func newNews() *news { return &news{wake: make(chan struct{}, 1)} }

// tell has something shown at once. What it returns is closed when that is done.
func (n *news) tell(text string) (shown <-chan struct{}) {
	u := urgent{text: text, shown: make(chan struct{})}
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.now) == maxNews {
		close(u.shown)
		return u.shown
	}
	n.now = append(n.now, u)
	select {
	case n.wake <- struct{}{}:
	default:
	}
	return u.shown
}

// keep has something said at the end, once.
func (n *news) keep(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.late) < maxNews && !slices.Contains(n.late, text) {
		n.late = append(n.late, text)
	}
}

// run shows what is told until ctx ends. notify shows a line and returns whether it
// stays on the screen; what does not is said at the end again.
func (n *news) run(ctx context.Context, notify func(text string) (stays bool)) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.wake:
		}
		n.mu.Lock()
		due := n.now
		n.now = nil
		n.mu.Unlock()
		for _, u := range due {
			if !notify(u.text) {
				n.keep(u.text)
			}
			close(u.shown)
		}
	}
}

// rest returns what is to be said at the end.
func (n *news) rest() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, u := range n.now {
		n.late = append(n.late, u.text)
	}
	n.now = nil
	return n.late
}
