package history

import "sort"

// keyframes are states of readers at some places of a log, in order. They never change: a reader
// starts from a clone.
type keyframes[S any] struct {
	list  []keyframe[S]
	bytes int // what all take
	spacing
}

// spacing is the least amount of output between two keyframes, in bytes: every, or perByte times a
// keyframe's size if that is more, because making a keyframe takes about as long as parsing perByte
// bytes for each of its own.
type spacing struct{ every, perByte int64 }

type keyframe[S any] struct {
	at    int64 // how much output came before, in bytes
	bytes int   // what it takes
	state S
}

// framePerByte is the usual spacing.perByte.
const framePerByte = 4

// last returns the last usable keyframe, or nil. If one is usable, so are all before it.
func (k *keyframes[S]) last(usable func(*S) bool) *S {
	n := sort.Search(len(k.list), func(i int) bool { return !usable(&k.list[i].state) })
	if n == 0 {
		return nil
	}
	return &k.list[n-1].state
}

// due reports whether a keyframe should be made after at bytes of output.
func (k *keyframes[S]) due(at int64) bool {
	var last keyframe[S]
	if n := len(k.list); n > 0 {
		last = k.list[n-1]
	}
	return at-last.at >= max(k.every, k.perByte*int64(last.bytes))
}

// add adds a keyframe that is due.
func (k *keyframes[S]) add(f keyframe[S]) {
	k.list = append(k.list, f)
	k.bytes += f.bytes
}

// thin drops every other keyframe.
func (k *keyframes[S]) thin() {
	kept := k.list[:0]
	k.bytes = 0
	for i, f := range k.list {
		if i%2 == 1 {
			kept = append(kept, f)
			k.bytes += f.bytes
		}
	}
	clear(k.list[len(kept):])
	k.list = kept
	k.every *= 2
}
