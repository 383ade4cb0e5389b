package host

import (
	"sync/atomic"
	"time"

	"termhost/ahp"
	"termhost/ahp/history"
	"termhost/ahp/store"
)

// keptLog is the log of a terminal of an earlier host, until it has been read.
type keptLog struct {
	t      *Terminal
	past   atomic.Pointer[func() error] // reads the log, with the Term's lock held; nil: it is read
	replay *replay                      // while the log is being read; else nil
}

// replay rebuilds a terminal from its log, as a [history.Visitor]. The Term's lock guards it.
type replay struct {
	history.Ignore
	t     *Terminal
	draft *store.Channel // the channel's new content; nil: no checkpoint has been read yet
	told  map[string]toldCommand
	at    time.Time // of the record
	walk  history.Walker
	// astray: the draft's positions are not those that the entries had, because output is missing.
	astray bool
	// missing are actions that the log does not have, and gets.
	missing []ahp.Action
}

// toldCommand is what the earlier host has told of a command, which the output does not say.
type toldCommand struct {
	by        string
	timestamp int64 // in ms since 1970; 0: its beginning was not told
	took      *int64
}

// setPast has load read the log.
func (p *keptLog) setPast(read func() error) { p.past.Store(&read) }

// load reads the terminal's log unless it has been read. It must be called before the content or
// the screen is looked at, without the Term's lock.
func (p *keptLog) load() {
	if p.past.Load() == nil {
		return
	}
	p.t.term.Lock()
	defer p.t.term.Unlock()
	p.loadLocked()
}

// loadLocked is load with the Term's lock held.
func (p *keptLog) loadLocked() {
	t := p.t
	read := p.past.Load()
	if read == nil {
		return
	}
	defer p.past.Store(nil) // load returns at once from then on
	if err := (*read)(); err != nil {
		t.host.log.Warn("the log of a terminal cannot be read, and is left aside",
			"name", t.Name(), "err", err)
	}
	t.output.boundOutput()
}

// channel returns where the terminal's actions go: a draft while its log is read.
func (t *Terminal) channel() *store.Channel {
	if t.kept.replay != nil {
		return t.kept.replay.draft
	}
	return t.ch
}

// listChanged has the root's list published anew.
func (t *Terminal) listChanged() {
	if t.kept.replay == nil {
		t.host.list.changed()
	}
}
