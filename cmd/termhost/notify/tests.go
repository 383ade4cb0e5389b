package notify

import (
	"context"
	"fmt"
	"sync"
	"time"
)

const (
	// maxTests is how many tests one person may have sent within testPause: enough to try a
	// setting, and too few to flood a phone or a server.
	maxTests  = 3
	testPause = time.Minute
)

// tests are the tests of the last minute. It may be used concurrently.
type tests struct {
	mu sync.Mutex
	by map[string][]time.Time // by the person's ID
}

// TooManyTestsError says that a person has asked for more tests than maxTests.
type TooManyTestsError struct{ Wait time.Duration }

func (e *TooManyTestsError) Error() string {
	return fmt.Sprintf("%d tests have gone out within a minute; try again in %.0f s", maxTests,
		max(1, e.Wait.Round(time.Second).Seconds()))
}

// begin counts a test of a person's, or returns a *TooManyTestsError.
func (ts *tests) begin(id string, now time.Time) error {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.by == nil {
		ts.by = map[string][]time.Time{}
	}
	for other, list := range ts.by {
		for len(list) > 0 && now.Sub(list[0]) >= testPause {
			list = list[1:]
		}
		if ts.by[other] = list; len(list) == 0 {
			delete(ts.by, other)
		}
	}
	list := ts.by[id]
	if len(list) >= maxTests {
		return &TooManyTestsError{testPause - now.Sub(list[0])}
	}
	ts.by[id] = append(list, now)
	return nil
}

// Result is how a test message to a target went.
type Result struct {
	Target string
	Err    error
}

// Test sends a message to the targets that tell of a person's terminals, one after the other. id is
// that of the person's principal, and person the name. The error is a *TooManyTestsError.
func (n *Notifier) Test(ctx context.Context, id, person string) (results []Result, err error) {
	n.mu.Lock()
	targets := n.targets
	n.mu.Unlock()
	m := message{Title: "termhost: a test", Body: person + " has asked for it", Items: []item{}}
	if n.o.Hostname != "" {
		m.Body += " on " + n.o.Hostname
	}
	for _, l := range targets {
		if l.Principal != "" && l.Principal != person {
			continue
		}
		if len(results) == 0 {
			if err := n.tests.begin(id, n.o.Now()); err != nil {
				return nil, err
			}
		}
		err := n.send(ctx, &l.Target, m)
		results = append(results, Result{l.String(), err})
	}
	return results, nil
}
