package host

import (
	"os"
	"sync"
)

// janitor is a goroutine of the Host: see [Host.tidy]. It forgets exited terminals beyond the
// limits of number and age, and people that are gone, deletes leftovers on disk, repeats failed
// writes, makes folders for terminals to come, and moves the high-water mark ahead.
type janitor struct {
	wake chan struct{} // of capacity 1: a terminal has exited
	made chan struct{} // of capacity 1: a terminal was created, perhaps in a spare folder
	stop chan struct{} // closed to end it
	done chan struct{} // closed when it has ended

	mu      sync.Mutex // no other lock is taken while it is held
	rubbish []string   // folders to be deleted
}

// begin starts the janitor; tidy is its goroutine.
func (j *janitor) begin(tidy func()) {
	j.wake, j.made = make(chan struct{}, 1), make(chan struct{}, 1)
	j.stop, j.done = make(chan struct{}), make(chan struct{})
	go tidy()
}

// exited has the janitor look at once. It may be called with any lock held.
func (j *janitor) exited() {
	select {
	case j.wake <- struct{}{}:
	default:
	}
}

// created has the janitor make another spare, and nothing else: what it tidies up takes the longer
// the more terminals there are. It may be called with any lock held.
func (j *janitor) created() {
	select {
	case j.made <- struct{}{}:
	default:
	}
}

// sweep has a folder deleted; "": none. It may be called with any lock held.
func (j *janitor) sweep(folder string) {
	if folder == "" {
		return
	}
	j.mu.Lock()
	j.rubbish = append(j.rubbish, folder)
	j.mu.Unlock()
	j.exited()
}

// deleteRubbish deletes the folders that are to be deleted. What is left is for the next host.
func (j *janitor) deleteRubbish() {
	j.mu.Lock()
	rubbish := j.rubbish
	j.rubbish = nil
	j.mu.Unlock()
	for _, folder := range rubbish {
		os.RemoveAll(folder)
	}
}

// end stops the janitor and waits until it has ended.
func (j *janitor) end() {
	close(j.stop)
	<-j.done
}
