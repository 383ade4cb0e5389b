package vt

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// state writes down everything about a screen that a redraw must reproduce. An
// erased cell and a space of the same style are the same.
func state(v *Terminal) string {
	var b strings.Builder
	dumpGrid(&b, v, &v.main, "main")
	if v.AltScreen() {
		dumpGrid(&b, v, &v.alt, "alt")
	}
	c := v.cur
	fmt.Fprintf(&b, "region %d-%d\n", v.grid.top, v.grid.bottom)
	fmt.Fprintf(&b, "cursor %d,%d wrap=%v origin=%v charsets=%q gl=%d single=%d pen=%+v link=%+v\n", c.x, c.y, c.wrap, c.origin, c.charsets, c.gl, v.single, noLink(v.pen), v.table.linkOf(&v.pen))
	fmt.Fprintf(&b, "alt=%v modes=%b mouse=%d,%d style=%d modify=%d\n", v.AltScreen(), v.modes&^modeSync, v.mouse, v.mouseEnc, v.cursorStyle, v.modifyOther)
	fmt.Fprintf(&b, "tabs=%v\n", func() (at []int) {
		for x := range v.cols {
			if v.tabAt(x) {
				at = append(at, x)
			}
		}
		return
	}())
	fmt.Fprintf(&b, "title=%q colors=%v", v.title, v.colors.dynamic)
	for _, k := range slices.Sorted(maps.Keys(v.colors.palette)) {
		fmt.Fprintf(&b, " %d=%x", k, v.colors.palette[k])
	}
	b.WriteString("\n")
	return b.String()
}

func noLink(s style) style { s.link = 0; return s }

func dumpGrid(b *strings.Builder, v *Terminal, g *grid, name string) {
	fmt.Fprintf(b, "%s kitty=%v", name, strings.Trim(fmt.Sprint(g.kitty), "[0]"))
	c := powerUpCursor
	if g.hasSaved {
		c = g.saved
	}
	fmt.Fprintf(b, " saved %+v\n", c)
	for y := range g.rows {
		dumpRow(b, v, g, y)
	}
}

func dumpRow(b *strings.Builder, v *Terminal, g *grid, y int) {
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
	lastLink := link{}
	for _, c := range r.cells[:n] {
		st := v.table.at(c.style())
		if l := v.table.linkOf(st); noLink(*st) != last || l != lastLink {
			last, lastLink = noLink(*st), l
			fmt.Fprintf(b, "{%x %x %x %x %s}", last.fg, last.bg, last.ul, last.attrs, l.uri)
		}
		b.Write(v.table.text(nil, c))
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
func sameState(t *testing.T, got, want *Terminal, what string) bool {
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

// historyText writes down the scrollback's text. Whether the last line goes on is
// seen only if the screen begins with a character.
func historyText(v *Terminal) string {
	var b strings.Builder
	n := v.history.lines
	for l := range v.history.newest(v.history.lines) {
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
		fmt.Fprintf(&b, "%s|%v\n", strings.TrimRight(string(line), " "), r.kind != lineEnds && (n > 0 || printsFirst(&v.main.rows[0])))
	}
	return b.String()
}
