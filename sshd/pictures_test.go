package sshd

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"termhost/ahp/hosttest"
)

// answersKind returns the answers of a terminal of a name to the questions at each attach.
func answersKind(name string) string { return "\x1bP>|" + name + "\x1b\\\x1b[?62;c" }

// picturesOf are a sixel picture, and a PNG in iTerm2's form, as files of the rig's.
func picturesOf(t *testing.T) (sixel, file string) {
	t.Helper()
	var b bytes.Buffer
	hosttest.Check(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, 80, 32))))
	dir := t.TempDir()
	sixel, file = filepath.Join(dir, "sixel"), filepath.Join(dir, "file")
	hosttest.Check(t, os.WriteFile(sixel, []byte("\x1bPq\"1;1;160;48#1;2;100;0;0!160~\x1b\\\n"), 0o600))
	hosttest.Check(t, os.WriteFile(file, []byte("\x1b]1337;File=inline=1:"+base64.StdEncoding.EncodeToString(b.Bytes())+"\a\n"), 0o600))
	return sixel, file
}

// A viewer whose terminal says by its name that it draws pictures gets each over its box, in its own
// form, once; and again when the screen is drawn anew. Others see the boxes. The cells of x/crypto's
// window have 8 by 8 pixels.
func TestPicturesAreDrawnInTerminalsThatTakeThem(t *testing.T) {
	t.Parallel()
	sixel, file := picturesOf(t)
	for name, c := range map[string]struct{ form, all string }{
		"kitty(0.36)":  {"\x1b[1;11H\x1b_Ga=T,f=100,i=", `c=%d,r=%d,C=1,q=2,m=0;iVBOR`},
		"iTerm2 3.5.0": {"\x1b[1;11H\x1b]1337;File=inline=1;size=", `width=%d;height=%d;preserveAspectRatio=0;doNotMoveCursor=1:iVBOR`},
		"xterm(390)":   {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, rigOptions{people: crew()})
			r.ssh("alice", "", "new -d -n draw -- stty -echo; printf ready; while read f; do cat $f; printf shown; done")
			p := r.open(r.dial("alice"), 80, 24, "attach draw")
			p.sees("ready")
			p.typeIn(answersKind(name))
			p.typeIn("/dev/null\r") // once it is read, the answers are
			p.sees("shown")
			r.ssh("alice", "", "send --enter draw "+sixel)
			r.ssh("alice", "", "wait --match 160 draw")
			p.sees("▣")
			if c.form == "" {
				p.typeIn(file + "\r")
				p.sees("╰────────╯")
				if all := p.out.all(); strings.Contains(all, "\x1b]1337") || strings.Contains(all, "\x1b_G") {
					t.Errorf("it is sent a picture: %q", all)
				}
				return
			}
			p.sees(fmt.Sprintf(c.all, 20, 6))
			if !strings.Contains(p.out.all(), c.form) {
				t.Errorf("it is not where its box is: %q", p.out.all())
			}
			p.typeIn(file + "\r")
			p.sees(fmt.Sprintf(c.all, 10, 4))
			again := regexp.MustCompile(regexp.QuoteMeta(fmt.Sprintf(c.all, 20, 6)))
			if n := len(again.FindAllString(p.out.all(), -1)); n != 1 {
				t.Errorf("the first picture is drawn %d times", n)
			}
			// One who comes later has both.
			q := r.open(r.dial("alice"), 80, 24, "attach -r draw")
			q.sees("▣")
			q.typeIn(answersKind(name))
			r.ssh("alice", "", "send --enter draw /dev/null")
			q.sees(fmt.Sprintf(c.all, 20, 6))
			q.sees(fmt.Sprintf(c.all, 10, 4))
		})
	}
}
