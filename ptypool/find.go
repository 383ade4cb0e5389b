package ptypool

import (
	"cmp"
	"crypto/rand"
	"os"
	"slices"
	"strings"

	"termhost/ptypool/proctag"
)

const (
	// maxAncestors bounds how many ancestors Find visits: more than any chain of shells has, and an
	// end even if /proc changes meanwhile.
	maxAncestors = 256
	// maxEnded is how many ended terminals are remembered by their process sessions. Few suffice:
	// processes that a terminal has left usually have the marker as well.
	maxEnded = 1024
	// maxNewest is how many markers are remembered for terminals that are being started, whose
	// process sessions are not known yet.
	maxNewest = 256
)

// NewMarker returns a random value for MarkerVariable that begins with the pool's realm.
func (p *Pool) NewMarker() string {
	marker := p.markerPrefix() + rand.Text()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.newest) == maxNewest {
		p.newest = slices.Delete(p.newest, 0, 1)
	}
	p.newest = append(p.newest, marker)
	return marker
}

// tagged returns the marker of a terminal that was begun lately, by its tag; "": none has that.
func (p *Pool) tagged(tag proctag.Tag) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, marker := range slices.Backward(p.newest) {
		if proctag.New(marker) == tag {
			return marker
		}
	}
	return ""
}

// markerPrefix is what all markers of the pool's realm begin with, and no others.
func (p *Pool) markerPrefix() string { return p.cfg.Realm + "-" }

// Find returns the marker of the terminal to which process pid belongs, by the process session, the
// marker and the tag of the process and of its ancestors. The terminal may have ended, or may have
// belonged to another Pool of the same realm; if only the realm is known, the marker is that of no
// terminal. It is "" for a process that belongs to none.
func (p *Pool) Find(pid int) (marker string) {
	trees := p.processTrees()
	var r procReader
	for range maxAncestors {
		proc, err := readProcess(pid, &r, true)
		if err != nil || pid <= 1 || pid == os.Getpid() {
			return ""
		}
		for _, tree := range trees {
			if tree.inSession(proc) || proc.tag != 0 && proc.tag == tree.tag {
				return tree.marker
			}
		}
		if strings.HasPrefix(proc.marker, p.markerPrefix()) {
			if tag := proctag.New(proc.marker); tag != 0 && tag != proc.tag {
				return p.markerPrefix() // anybody can read and set a marker
			}
			return proc.marker
		}
		if proc.tag.In(p.cfg.Realm) {
			// It begins another program, and has no environment at the moment, or has cleared that;
			// its terminal is being started, or is forgotten.
			return cmp.Or(p.tagged(proc.tag), p.markerPrefix())
		}
		pid = proc.parent
	}
	return ""
}

// processTrees returns the terminals' process trees, running ones first: if two terminals in turn
// had the same process session number, the younger counts.
func (p *Pool) processTrees() []*processTree {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := make([]*processTree, 0, len(p.terms)+len(p.processes)+len(p.ended))
	for t := range p.terms {
		if tree := t.processTree(); tree != nil {
			list = append(list, tree)
		}
	}
	for process := range p.processes {
		list = append(list, process.tree())
	}
	return append(list, p.ended...)
}

// rememberLocked keeps the process tree, if there is one, of a terminal that has ended. The Pool's
// lock is held.
func (p *Pool) rememberLocked(tree *processTree) {
	if tree == nil {
		return
	}
	if len(p.ended) == maxEnded {
		p.ended = append(p.ended[:0], p.ended[1:]...)
	}
	p.ended = append(p.ended, tree)
}
