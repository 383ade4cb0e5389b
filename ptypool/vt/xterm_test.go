package vt

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"termhost/ahp/hosttest/slowtest"
)

// xterm is a running testdata/xterm.js.
type xterm struct {
	in  *json.Encoder
	out *bufio.Reader
}

type xtermJob struct {
	Cols       int         `json:"cols"`
	Rows       int         `json:"rows"`
	Scrollback int         `json:"scrollback"`
	Steps      []xtermStep `json:"steps"`
}

type xtermStep struct {
	Data []byte `json:"data,omitempty"`
	Cols int    `json:"cols,omitempty"`
	Rows int    `json:"rows,omitempty"`
}

// xtermScreen has the state by which both emulators are compared.
type xtermScreen struct {
	Rows    []string   `json:"rows"`
	History []string   `json:"history"`
	X       int        `json:"x"`
	Y       int        `json:"y"`
	Alt     bool       `json:"alt"`
	Modes   xtermModes `json:"modes"`

	Private xtermPrivate `json:"private"`

	Error string `json:"error"` // xterm.js threw an exception

	cols int
}

type xtermModes struct {
	AppCursor bool   `json:"appCursor"`
	AppKeypad bool   `json:"appKeypad"`
	Paste     bool   `json:"paste"`
	Insert    bool   `json:"insert"`
	Mouse     string `json:"mouse"`
	Origin    bool   `json:"origin"`
	Focus     bool   `json:"focus"`
	Wrap      bool   `json:"wrap"`
}

// xtermPrivate is the state for which xterm.js has no API. There is nothing to compare with for
// kitty's keyboard flags, modifyOtherKeys, protected cells, pointer shapes and the modes listed at
// xtermOutput; saved cursors, scroll regions and charsets show in what is printed next, see
// TestLiveOutputContinuesARedraw.
type xtermPrivate struct {
	Hidden   bool   `json:"hidden"`
	Cursor   string `json:"cursor"`
	Encoding string `json:"encoding"`
	Tabs     string `json:"tabs"`
	Palette  string `json:"palette"`
}

// startXterm installs and starts the second emulator, if the slow tests run: with TERMHOST_SLOW=1.
func startXterm(t *testing.T) *xterm {
	t.Helper()
	slowtest.Skip(t)
	slowtest.Programs(t, "node", "npm")
	dir := t.TempDir()
	for _, name := range []string{"xterm.js", "package.json"} {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	npm := exec.Command("npm", "install",
		"--no-audit", "--no-fund", "--ignore-scripts", "--no-package-lock")
	npm.Dir = dir
	if out, err := npm.CombinedOutput(); err != nil {
		slowtest.Missing(t, "npm install: %v\n%s", err, out)
	}
	node := exec.Command("node", filepath.Join(dir, "xterm.js"))
	node.Stderr = os.Stderr
	in, err := node.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := node.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := node.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := node.Wait(); err != nil {
			t.Error(err)
		}
	})
	return &xterm{json.NewEncoder(in), bufio.NewReaderSize(out, 1<<20)}
}

// run returns the screen after a job.
func (x *xterm) run(t *testing.T, job xtermJob) xtermScreen {
	t.Helper()
	if err := x.in.Encode(job); err != nil {
		t.Fatal(err)
	}
	line, err := x.out.ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var s xtermScreen
	if err := json.Unmarshal(line, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// xtermView returns our screen in the same form.
func xtermView(v *Screen) xtermScreen {
	cur, m := v.model.cur, &v.model.modes
	mouse := map[uint16]string{0: "none", 9: "x10", 1000: "vt200", 1002: "drag", 1003: "any"}
	s := xtermScreen{X: cur.x, Y: cur.y, Alt: v.AltScreen(), cols: v.model.width}
	s.Modes = xtermModes{
		AppCursor: m.has(modeCursorKeys), AppKeypad: m.has(modeKeypad), Paste: m.has(modePaste),
		Insert: m.has(modeInsert), Origin: cur.originMode, Focus: m.has(modeFocus),
		Wrap: m.has(modeWrap), Mouse: mouse[m.mouse],
	}
	s.Private = xtermPrivateView(v)
	if cur.wrap {
		s.X = v.model.width
	}
	for y := range v.model.grid.rows {
		s.Rows = append(s.Rows, xtermRow(v, &v.model.grid.rows[y]))
	}
	for b := range v.model.history.newest(v.model.history.lines) {
		var text []byte
		for r := readLine(b); ; {
			p, _, ok := r.next()
			if !ok {
				break
			}
			text = append(text, p...)
		}
		s.History = append(s.History, string(text))
	}
	return s
}

func xtermPrivateView(v *Screen) xtermPrivate {
	m := &v.model.modes
	encoding := map[uint16]string{0: "DEFAULT", 1006: "SGR"}
	s := xtermPrivate{
		Hidden: !m.has(modeCursor),
		Cursor: [...]string{
			"", "block blinking", "block", "underline blinking", "underline", "bar blinking", "bar",
		}[m.cursorStyle],
		Encoding: encoding[m.mouseEncoding],
	}
	if m.pixelMouse {
		s.Encoding = "SGR_PIXELS"
	}
	var tabs, palette []string
	for x := 1; x < v.model.width; x++ {
		if v.model.tabAt(x) {
			tabs = append(tabs, fmt.Sprint(x))
		}
	}
	set := func(i int, c uint32) {
		palette = append(palette, fmt.Sprintf("%d=%d,%d,%d", i, c>>16&255, c>>8&255, c&255))
	}
	for _, i := range slices.Sorted(maps.Keys(v.colors.palette)) {
		set(int(i), v.colors.palette[i])
	}
	for i, c := range v.colors.dynamic {
		if c != 0 {
			set(256+i, c)
		}
	}
	s.Tabs, s.Palette = strings.Join(tabs, " "), strings.Join(palette, " ")
	return s
}

func xtermRow(v *Screen, r *row) string {
	var b strings.Builder
	last := "- - "
	for x := range v.model.width {
		var c cell
		if r.cells != nil {
			c = r.cells[x]
		}
		if c&cellTail != 0 {
			continue
		}
		st := v.model.table.at(c.style())
		s := xtermColor(st.fg) + " " + xtermColor(st.bg) + " "
		for i, name := range "bfikrvso" {
			if st.attrs&(1<<i) != 0 {
				s += string(name)
			}
		}
		if n := st.underline(); n != 0 {
			s += fmt.Sprintf("u%d", n)
			if st.ul != 0 {
				s += xtermColor(st.ul)
			}
		}
		s += v.model.table.hyperlinkOf(st).uri
		if s != last {
			b.WriteString("{" + s + "}")
		}
		last = s
		b.Write(v.model.table.text(nil, c))
		if c&cellWide != 0 {
			b.WriteByte('>')
		}
	}
	return b.String()
}

func xtermColor(c color) string {
	switch c & colorTag {
	case colorIndexed:
		return fmt.Sprintf("i%d", c&colorValue)
	case colorRGB:
		return fmt.Sprintf("#%06x", uint32(c&colorValue))
	}
	return "-"
}

// diff describes how xterm.js's screen differs from ours.
func (s xtermScreen) diff(x xtermScreen, history bool) string {
	if x.Error != "" {
		return "xterm.js: " + x.Error
	}
	var diff []string
	for y := range s.Rows {
		if s.Rows[y] != x.Rows[y] {
			diff = append(diff,
				fmt.Sprintf("row %d\n ours  %q\n xterm %q", y, s.Rows[y], x.Rows[y]))
		}
	}
	trim := func(h []string) string {
		var b strings.Builder
		for _, l := range h {
			b.WriteString(strings.TrimRight(l, " ") + "\n")
		}
		return b.String()
	}
	if history && trim(s.History) != trim(x.History) {
		diff = append(diff, fmt.Sprintf("scrollback\n ours  %q\n xterm %q", s.History, x.History))
	}
	if !s.Modes.Wrap { // xterm.js has a pending wrap then too
		x.X = min(x.X, s.cols-1)
	}
	s.Rows, s.History, x.Rows, x.History, s.cols = nil, nil, nil, nil, 0
	if s.X != x.X || s.Y != x.Y || s.Alt != x.Alt || s.Modes != x.Modes || s.Private != x.Private {
		diff = append(diff, fmt.Sprintf("state\n ours  %+v\n xterm %+v", s, x))
	}
	return strings.Join(diff[:min(len(diff), 4)], "\n")
}

// scrollsUp finds SU, whose lines we keep as scrollback.
var scrollsUp = regexp.MustCompile("\x1b\\[[0-9]*S")

// Random output gives the same screen here and in xterm.js, whether that is fed the output itself,
// what viewers get, or a redraw. A failure is reported with the shortest output that shows it.
func TestRandomOutputEqualsXterm(t *testing.T) {
	x := startXterm(t)
	failed := 0
	for seed := range uint64(600) {
		g := newGenerator(seed, true)
		pieces := g.xtermOutput(New(g.cols, g.rows, Options{}), 5+g.IntN(80))
		if x.compare(t, g, pieces) == "" {
			continue
		}
		for i := len(pieces) - 1; i >= 0; i-- {
			less := slices.Delete(slices.Clone(pieces), i, i+1)
			if x.compare(t, g, less) != "" {
				pieces = less
			}
		}
		t.Errorf("seed %d, %d by %d, %q:\n%s",
			seed, g.cols, g.rows, strings.Join(pieces, ""), x.compare(t, g, pieces))
		if failed++; failed > 6 {
			return
		}
	}
}

// compare returns how the screens differ after some output.
func (x *xterm) compare(t *testing.T, g *generator, pieces []string) string {
	t.Helper()
	in := []byte(strings.Join(pieces, ""))
	v := New(g.cols, g.rows, Options{ScrollbackLines: 1000})
	var rec recorder
	v.Feed(in, &rec)
	ours := xtermView(v)
	for _, c := range []struct {
		name string
		data []byte
	}{
		{"output", in}, {"data", []byte(rec.data.String())},
		{"redraw", v.AppendRedraw(nil, Redraw{Scrollback: -1})},
	} {
		job := xtermJob{g.cols, g.rows, 1000, []xtermStep{{Data: c.data}}}
		if diff := ours.diff(x.run(t, job), !scrollsUp.Match(in)); diff != "" {
			return c.name + ": " + diff
		}
	}
	return ""
}

// A redraw after resizes shows what xterm.js makes of them itself, scrollback included, as far as
// they can agree: xterm.js does not reflow the line that the cursor is in, loses parts of lines
// with wide characters, and fills a taller screen with scrollback only if the cursor is at the
// bottom.
func TestResizesEqualXterm(t *testing.T) {
	x := startXterm(t)
	for seed := range uint64(300) {
		g := newGenerator(seed, true)
		v := New(g.cols, g.rows, Options{ScrollbackLines: 1000})
		job := xtermJob{g.cols, g.rows, 1000, nil}
		var log []string
		for range 1 + g.IntN(4) {
			var b strings.Builder
			for range g.IntN(12) {
				b.WriteString(g.pick([]string{
					"one two three four five ", "é", "x", "\r\n", "\x1b[31mred\x1b[m ", "──┐",
				}))
			}
			b.WriteString(strings.Repeat("\r\n", g.rows))
			v.Feed([]byte(b.String()), nil)
			cols := 4 + g.IntN(40)
			v.Resize(cols, g.rows)
			job.Steps = append(job.Steps,
				xtermStep{Data: []byte(b.String())}, xtermStep{Cols: cols, Rows: g.rows})
			log = append(log, fmt.Sprintf("%q to %d", b.String(), cols))
		}
		cols, rows := v.Size()
		data := v.AppendRedraw(nil, Redraw{Scrollback: -1})
		redraw := xtermJob{cols, rows, 1000, []xtermStep{{Data: data}}}
		if diff := x.run(t, redraw).diff(x.run(t, job), true); diff != "" {
			t.Fatalf("seed %d, %d by %d, %s:\n%s",
				seed, g.cols, g.rows, strings.Join(log, ", "), diff)
		}
	}
}

// In xterm.js, which erases what it clears, the viewer's own lines and everything that scrolled are
// in the scrollback once: after the first redraw, after drawing over it, and after one with the
// lines missed meanwhile.
func TestARedrawInXtermKeepsTheViewersScrollback(t *testing.T) {
	x := startXterm(t)
	for seed := range uint64(100) {
		g := newGenerator(seed, true)
		v := New(g.cols, g.rows, Options{ScrollbackLines: 1000})
		v.Feed([]byte(lineOutput(g)), nil)
		own := g.IntN(2 * g.rows)
		job := xtermJob{g.cols, g.rows, 1000, nil}
		step := func(p []byte) {
			if len(p) > 0 {
				job.Steps = append(job.Steps, xtermStep{Data: p})
			}
		}
		step([]byte("\x1b[?1049hfull\x1b[?1049l" + // another program before
			"\x1b[44mx\x1b[K\r\n" + strings.Repeat("own\r\n", own)))
		step(v.AppendRedraw(nil, Redraw{Scrollback: -1}))
		var rec recorder
		v.Feed([]byte(lineOutput(g)), &rec)
		step([]byte(rec.data.String()))
		step(v.AppendRedraw(nil, Redraw{}))
		before := v.Scrolled()
		v.Feed([]byte(lineOutput(g)), nil)
		step(v.AppendRedraw(nil, Redraw{Update: true, Scrollback: int(v.Scrolled() - before)}))
		ours := xtermView(v)
		first := append([]string{"x"}, slices.Repeat([]string{"own"}, own)...)
		ours.History = append(first, ours.History...)
		if diff := ours.diff(x.run(t, job), true); diff != "" {
			t.Fatalf("seed %d, %d by %d: %s", seed, g.cols, g.rows, diff)
		}
	}
}
