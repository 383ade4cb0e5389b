package ptypool

import (
	"bytes"
	"crypto/rand"
	"os"
	"strings"
)

const (
	// maxAncestors bounds the walk of Find: deeper than any chain of shells, short if /proc changes underneath it.
	maxAncestors = 256
	// maxEnded is how many terminals that have ended are known by their process sessions: what is left of a terminal keeps
	// its environment as a rule, by which it is found without that.
	maxEnded = 1024
)

// NewMark returns a random value for MarkerVariable, which says of which realm it is.
func (p *Pool) NewMark() string { return p.realm() + rand.Text() }

// realm is what all marks of the pool's realm begin with.
func (p *Pool) realm() string { return p.cfg.Realm + "-" }

// Find returns the mark of the terminal that process pid belongs to, by the signs of MarkerVariable: its process session,
// its marker, or one of its ancestors'. The terminal may have ended, or been another Pool's of the same realm. "": it
// belongs to none.
func (p *Pool) Find(pid int) (mark string) {
	families := p.families()
	var env bytes.Buffer
	for range maxAncestors {
		proc, err := readProcess(pid, &env)
		if err != nil || pid <= 1 || pid == os.Getpid() {
			return ""
		}
		for _, f := range families {
			if f.inSession(proc) {
				return f.mark
			}
		}
		if strings.HasPrefix(proc.mark, p.realm()) {
			return proc.mark
		}
		pid = proc.parent
	}
	return ""
}

// families returns those of the terminals, running ones first: a number that names two process sessions is of the younger
// one.
func (p *Pool) families() []*family {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := make([]*family, 0, len(p.terms)+len(p.ended))
	for t := range p.terms {
		if b, ok := t.backend.(*ptyBackend); ok {
			list = append(list, b.family)
		}
	}
	return append(list, p.ended...)
}

// endedLocked remembers whose t's process session was.
func (p *Pool) endedLocked(t *Term) {
	b, ok := t.backend.(*ptyBackend)
	if !ok {
		return
	}
	if len(p.ended) == maxEnded {
		p.ended = append(p.ended[:0], p.ended[1:]...)
	}
	p.ended = append(p.ended, b.family)
}

// inSession reports whether a process is in the leader's process session. Once the leader is reaped its number may come to
// name another one. A process that is older than that cannot be in it: it would have had to be its leader, or born in it.
func (f *family) inSession(p process) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.inSessionLocked(p)
}

func (f *family) inSessionLocked(p process) bool {
	return p.session == f.leader && (!f.reaped || p.start <= f.reapedAt)
}
