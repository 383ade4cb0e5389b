package viewer

import (
	"bytes"
	"strings"
	"testing"

	"termhost/ptypool/keyboard"
)

// question is a dialog that notes the keys that it gets. q ends it; ! is for the program.
type question struct{ keys strings.Builder }

func (q *question) draw(_, _ Window) overlay { return overlay{lines: []string{"well?"}} }

func (q *question) key(k keyboard.Key) verdict {
	switch k.Code {
	case 'q':
		return dialogEnds
	case '!':
		return notMine
	case keyboard.Up:
		k.Code = '^'
	}
	q.keys.WriteRune(k.Code)
	return dialogStays
}

func TestADialogHasTheKeyboardWhileItIsShown(t *testing.T) {
	f := newFront(true)
	l := &inputLoop{w: &viewer{front: f}}
	var program bytes.Buffer
	typed := func(p string) {
		l.filter.Feed([]byte(p), handler{func(p []byte) {
			if p = l.dismissing(p); len(p) > 0 {
				program.Write(l.converse(p))
			}
		}})
	}
	q := &question{}
	f.raise(q)
	typed("early ")
	f.setDrawn(nil) // what was drawn before it
	typed("still early ")
	f.setDrawn(q)
	typed("a\x1b[A\x1bOA!\xc3")
	typed("\xa9\x1b[I\x1b[98;1:3u\x1b]11;rgb:aaaa/bbbb/cccc\x1b\\")
	typed("\x1b[200~pasted\x1b[201~\x1b[200~and q")
	typed("on\x1b[201~zq after")
	if got := q.keys.String(); got != "a^^éz" {
		t.Errorf("the dialog got %q", got)
	}
	want := "early still early !\x1b[I\x1b]11;rgb:aaaa/bbbb/cccc\x1b\\ after"
	if got := program.String(); got != want {
		t.Errorf("the program got %q, want %q", got, want)
	}
	second := &question{}
	if f.open(second); f.raise(q) {
		t.Error("a dialog took the place of another one")
	}
	if typed("s"); second.keys.String() != "s" {
		t.Error("a dialog that was asked for did not get the next key")
	}
}

// handler passes on what is typed.
type handler struct{ typed func([]byte) }

func (h handler) Typed(p []byte)                 { h.typed(p) }
func (h handler) Prefixed()                      {}
func (h handler) Commanded(rune, []byte, []byte) {}
