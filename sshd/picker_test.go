package sshd

import (
	"fmt"
	"strings"
	"testing"

	"termhost/ahp/hosttest"
	"termhost/ptypool/vt"
)

// window is a person's own terminal, whose size may change.
type window struct {
	*person
	cols, rows int
	fed        int
	own        *vt.Screen
}

func (r *rig) window(name string, cols, rows int, command string) *window {
	r.t.Helper()
	return &window{r.open(r.dial(name), cols, rows, command), cols, rows, 0,
		vt.New(cols, rows, vt.Options{})}
}

// state is what the window shows, and the modes of its keyboard; with exact, all that its terminal
// was told besides: that counts where programs draw on it themselves.
func (w *window) state(exact bool) string {
	all := w.out.all()
	w.own.Feed([]byte(all[w.fed:]), nil)
	w.fed = len(all)
	if exact {
		return string(w.own.AppendRedraw(nil, vt.Redraw{}))
	}
	x, y, visible := w.own.Cursor()
	return fmt.Sprintf("%s\n%d %d %v %+v", w.own.AppendText(nil, true), x, y, visible, w.own.KeyModes())
}

// resized gives the window another size.
func (w *window) resized(cols, rows int) {
	w.t.Helper()
	w.state(false)
	w.cols, w.rows = cols, rows
	w.own.Resize(cols, rows)
	w.resize(cols, rows)
}

func TestWhatLiesOverTheScreenLeavesNoTrace(t *testing.T) {
	t.Parallel()
	const wide = `printf '\033[44;1m界界界界\033[K\r\n\033[0;31m%s\r\n\033[7m%s\033[m+\033[24;1H\033[4mlast line\033[m'` +
		` 界界界界界界界界界界界界界界界界界界界界界界界界界界界界界界界界界界界界界界界界 0123456789;`
	for name, c := range map[string]struct {
		draw       string
		cols, rows int
	}{
		"wide characters":     {wide + `printf '\033[5;70H界界界界界ready'`, 80, 24},
		"a scroll region":     {wide + `printf '\033[5;20r\033[?6h\033[3;9Hready'`, 80, 24},
		"an alternate screen": {wide + `printf '\033[?1049h\033[?25l\033[?1h\033[?1006;1000h\033[?2004h\033[H界ready'`, 80, 24},
		"a smaller window":    {wide + `printf '\033[20;40Hready'`, 40, 10},
		"a larger window":     {wide + `printf '\033[20;40Hready'`, 100, 30},
		"kitty's keyboard":    {wide + `printf '\033[>31u\033[4 q\033[?7lready'`, 80, 24},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, rigOptions{people: crew()})
			b := r.open(r.dial("bob"), 80, 24, "new -n work -- stty raw -echo; "+c.draw+"; exec cat")
			b.sees("ready")
			v := r.window("eve", c.cols, c.rows, "attach work")
			v.sees("ready")
			ref := r.window("eve", c.cols, c.rows, "attach work")
			ref.sees("ready")
			exact := c.cols == 80
			same := func(when string) {
				t.Helper()
				var got, want string
				defer func() {
					if t.Failed() {
						t.Logf("got  %q\nwant %q", got, want)
					}
				}()
				hosttest.Eventually(t, "the screen is as if nothing had lain over it, "+when, func() bool {
					got, want = v.state(exact), ref.state(exact)
					return got == want
				})
			}
			same("at first")
			v.typeIn("\x1cl")
			v.sees("* work")
			if v.state(false) == ref.state(false) {
				t.Error("there is no list on the screen")
			}
			v.typeIn("\x1b")
			same("after the list")
			v.typeIn("\x1cl")
			v.sees("* work")
			b.typeIn("\r\nprinted 界 \x1b[32mmeanwhile\r\n\n\n\nmore")
			ref.sees("more")
			v.typeIn("zz\x1b")
			same("after output")
			v.typeIn("\x1c[")
			v.sees("work: lines ")
			b.typeIn("\r\nprinted 界 \x1b[32mwhile somebody looks back\r\n\n\n\nmuch more")
			ref.sees("much more")
			v.typeIn("gGq")
			same("after looking back")
			v.typeIn("\x1cl")
			v.sees("* work")
			exact = false
			for _, w := range []*window{v, ref} {
				w.resized(c.cols-3, c.rows+2)
			}
			b.typeIn("!")
			v.typeIn("\x1b")
			same("after another size of the window")
			v.typeIn("\x1cl")
			v.sees("* work")
			b.resize(70, 20)
			b.typeIn("?")
			v.typeIn("\x1b")
			same("after another size of the terminal")
			v.typeIn("\x1c?")
			v.sees("Any key closes this")
			v.typeIn("q")
			same("after the help")
		})
	}
}

func TestThePicker(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: crew()})
	for _, name := range []string{"build", "jobs", "kernel", "xylem", "test"} {
		r.ssh("bob", "", "new -d -n "+name+" -- echo 'ready at "+name+" '; exec sleep 1000") // which wants nobody
	}
	p := r.open(r.dial("bob"), 80, 24, "attach build")
	p.sees("ready at build")
	goes := func(keys, name string) {
		t.Helper()
		p.typeIn("\x1cl" + keys + "\r")
		p.sees("ready at " + name)
	}
	goes("jj", "kernel")
	goes("k", "jobs")
	goes("/te", "test")
	goes("/xy", "xylem")
	goes("\x1b[H\x1bOB", "jobs")
	goes("/zz\x7f\x7fkern", "kernel")
	goes("/j\x1b[A", "jobs") // to the list, filtered
	p.typeIn("\x1clt")
	p.sees("Title of jobs: _")
	p.typeIn("the jobz\x7fs\r")
	p.sees("* jobs ")
	hosttest.Eventually(t, "it has its title", func() bool {
		return strings.Contains(r.ssh("bob", "", "ls").stdout, "the jobs")
	})
	p.typeIn("/xyl\x1b[Bx")
	p.sees("End xylem and its programs? y ends it")
	p.typeIn("\rx")
	p.sees("End xylem and its programs? y ends it")
	p.typeIn("y")
	p.sees("no terminal matches")
	p.typeIn("\x1b")
	if ls := r.ssh("bob", "", "ls").stdout; strings.Contains(ls, "xylem") || !strings.Contains(ls, "kernel") {
		t.Errorf("the list is %s", ls)
	}
	p.typeIn("typed")
	p.sees("typed")
}

func TestThePickerDecidesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{people: crew()})
	r.ssh("bob", "", "new -d -n work -- printf ready; exec cat")
	r.ssh("bob", "", "new -d -n other -- exec cat")
	p := r.open(r.dial("eve"), 80, 24, "attach work")
	p.sees("ready")
	p.typeIn("\x1clxy")
	p.sees("observers may only look")
	p.typeIn("rtitle\r")
	p.sees("* work")
	p.typeIn("\x1b\x1c+")
	p.sees("observers may only look")
	if ls := r.ssh("bob", "", "ls").stdout; strings.Contains(ls, "title") || strings.Count(ls, "\n") != 3 {
		t.Errorf("the list is %s", ls)
	}
}
