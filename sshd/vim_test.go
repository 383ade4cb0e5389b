package sshd

import (
	"testing"

	"termhost/ahp/hosttest/slowtest"
)

// slowVim is a vimrc with which vim takes some milliseconds to draw itself in another size, so that
// a key that is typed meanwhile is not drawn until the next one.
const slowVim = `set nocompatible laststatus=2 showmode
func Slow()
	let began = reltime()
	while reltimefloat(reltime(began)) < 0.005
	endwhile
	return ''
endfunc
set statusline=%{Slow()}
`

func TestVimDrawsEachKeyOfWindowsOfDifferentSizes(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: map[string]string{"alice": ""}})
	if !r.hasProgram("vim") {
		slowtest.Missing(t, "vim is not installed")
	}
	r.write("vimrc", slowVim)
	large := r.open(r.dial("alice"), 80, 24, "new -n work -- vim -n -u "+r.path("vimrc"))
	large.sees("VIM - Vi IMproved")
	small := r.open(r.dial("alice"), 60, 15, "attach work")
	small.sees("VIM - Vi IMproved")
	large.typeIn("i")
	large.sees("-- INSERT --")
	r.ssh("alice", "", "wait --idle 200ms work") // vim does not draw what comes while it draws
	typed := "#"                                 // which is nowhere in vim's greeting
	large.typeIn(typed)
	r.shows("work", typed)
	for range 5 {
		for p, key := range map[*person]string{small: "s", large: "l"} {
			p.typeIn(key)
			typed += key
			r.shows("work", typed)
		}
	}
}
