package vt

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// state describes all of a screen that a redraw must reproduce. An erased cell and a space of the
// same style count as the same.
func state(v *Screen) string {
	s := &v.model
	var b strings.Builder
	dumpGrid(&b, v, &s.main, "main")
	if s.altShown() {
		dumpGrid(&b, v, &s.alt, "alt")
	}
	c, m := s.cur, s.modes
	fmt.Fprintf(&b, "region %d-%d\n", s.grid.top, s.grid.bottom)
	fmt.Fprintf(&b, "cursor %d,%d wrap=%v origin=%v charsets=%q gl=%d single=%d",
		c.x, c.y, c.wrap, c.originMode, c.charsets, c.gl, s.single)
	fmt.Fprintf(&b, " pen=%s link=%+v\n", styleText(s.pen), s.table.hyperlinkOf(&s.pen))
	fmt.Fprintf(&b, "alt=%v modes=%b mouse=%d,%d style=%d modify=%d\n", s.altShown(),
		m.on&^(modeSync|modeTheme), m.mouse, m.mouseEncoding, m.cursorStyle, m.modifyOther)
	var tabs []int
	for x := range s.width {
		if s.tabAt(x) {
			tabs = append(tabs, x)
		}
	}
	fmt.Fprintf(&b, "tabs=%v\n", tabs)
	fmt.Fprintf(&b, "title=%q colors=%v", v.titles.current, v.colors.dynamic)
	for _, k := range slices.Sorted(maps.Keys(v.colors.palette)) {
		fmt.Fprintf(&b, " %d=%x", k, v.colors.palette[k])
	}
	b.WriteString("\n")
	return b.String()
}

// styleText describes a style without its hyperlink, in the format of the golden files.
func styleText(s style) string {
	return fmt.Sprintf("{fg:%d bg:%d ul:%d attrs:%d link:0}", s.fg, s.bg, s.ul, s.attrs)
}

func noHyperlink(s style) style { s.hyperlink = 0; return s }

func dumpGrid(b *strings.Builder, v *Screen, g *grid, name string) {
	fmt.Fprintf(b, "%s kitty=%v", name, strings.Trim(fmt.Sprint(g.kitty), "[0]"))
	c := powerUpCursor
	if g.hasSaved {
		c = g.saved
	}
	fmt.Fprintf(b, " saved {x:%d y:%d wrap:%v origin:%v pen:%s charsets:%v gl:%d}\n",
		c.x, c.y, c.wrap, c.originMode, styleText(c.pen), c.charsets, c.gl)
	for y := range g.rows {
		dumpRow(b, v, g, y)
	}
}

func dumpRow(b *strings.Builder, v *Screen, g *grid, y int) {
	r := &g.rows[y]
	fmt.Fprintf(b, "%3d|", y)
	n := r.used()
	if n > 0 && n == len(r.cells) && (r.wrapped || y == len(g.rows)-1) && r.cells[n-1].blank() {
		n-- // where a wide character did not fit; its background is anyone's
	}
	for n > 0 && r.cells[n-1]&^(cellFill|' ') == 0 {
		n--
	}
	last := style{}
	lastHyperlink := hyperlink{}
	for _, c := range r.cells[:n] {
		st := v.model.table.at(c.style())
		if l := v.model.table.hyperlinkOf(st); noHyperlink(*st) != last || l != lastHyperlink {
			last, lastHyperlink = noHyperlink(*st), l
			fmt.Fprintf(b, "{%x %x %x %x %s}", last.fg, last.bg, last.ul, last.attrs, l.uri)
		}
		b.Write(v.model.table.text(nil, c))
		if c&cellWide != 0 {
			b.WriteByte('>')
		}
	}
	b.WriteString("|")
	if r.wrapped && y < len(g.rows)-1 {
		b.WriteString("+")
	}
	b.WriteString("\n")
}

// sameState fails the test if two screens differ, showing the first lines that do.
func sameState(t *testing.T, got, want *Screen, what string) bool {
	t.Helper()
	a, b := strings.Split(state(got), "\n"), strings.Split(state(want), "\n")
	var diff []string
	for i := range max(len(a), len(b)) {
		var x, y string
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x != y {
			diff = append(diff, "got  "+x, "want "+y)
		}
	}
	if len(diff) == 0 {
		return true
	}
	t.Errorf("%s:\n%s", what, strings.Join(diff[:min(len(diff), 12)], "\n"))
	return false
}

// historyText writes down the scrollback's text. Whether the last line goes on is seen only if the
// screen begins with a character.
func historyText(v *Screen) string {
	var b strings.Builder
	n := v.model.history.lines
	for l := range v.model.history.newest(v.model.history.lines) {
		r := readLine(l)
		var line []byte
		for {
			text, _, ok := r.next()
			if !ok {
				break
			}
			line = append(line, text...)
		}
		n--
		goesOn := r.kind != lineEnds && (n > 0 || printsFirst(&v.model.main.rows[0]))
		fmt.Fprintf(&b, "%s|%v\n", strings.TrimRight(string(line), " "), goesOn)
	}
	return b.String()
}
