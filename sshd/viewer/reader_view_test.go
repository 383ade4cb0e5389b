package viewer

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"termhost/ahp/history"
	"termhost/ptypool/vt"
	"termhost/ptypool/vt/width"
)

// viewOf returns a view of lines that have all been read.
func viewOf(lines ...string) *readerView {
	return &readerView{mark: -1, printed: printed{until: &history.Place{}, total: len(lines),
		kept: lines}}
}

func randomLine(r *rand.Rand, most int) string {
	var b strings.Builder
	for range r.IntN(most) {
		switch r.IntN(12) {
		case 0:
			b.WriteString("世")
		case 1:
			b.WriteString("e\u0301")
		case 2:
			fmt.Fprintf(&b, "\x1b[%dm", 30+r.IntN(8))
		case 3:
			b.WriteString(" ")
		default:
			b.WriteByte("abcdefgh"[r.IntN(8)])
		}
	}
	return b.String() + "\x1b[m"
}

// A line is broken into rows that fit, and nothing of it is lost.
func TestRowsHaveAllOfTheirLine(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	plain := func(s string) string {
		var strip vt.Stripper
		return strings.ReplaceAll(string(strip.Append(nil, []byte(s))), " ", "")
	}
	for range 1000 {
		line, cols := randomLine(r, 200), 2+r.IntN(60)
		text, styled := "", ""
		for _, row := range wrapStyled(line, cols) {
			if n := width.String(row.plain); n > cols {
				t.Fatalf("%q takes %d cells of %d", row.plain, n, cols)
			}
			text, styled = text+row.plain, styled+row.styled
		}
		if plain(text) != plain(line) || plain(styled) != plain(line) {
			t.Fatalf("%q in %d columns is %q and %q", line, cols, text, styled)
		}
	}
}

// Wherever a person goes, the current line is in view, and the view is full as long as there are
// enough lines.
func TestTheCurrentLineStaysInView(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 2))
		lines := make([]string, r.IntN(80))
		for i := range lines {
			lines[i] = randomLine(r, []int{2, 30, 400}[r.IntN(3)])
		}
		v := viewOf(lines...)
		moves := []struct {
			name string
			do   func()
		}{
			{"fit", func() { v.fit(5+r.IntN(20)*3, 1+r.IntN(20)) }}, {"down", v.down}, {"up", v.up},
			{"page", func() { v.page(max(v.rows-1, 1)) }},
			{"page back", func() { v.page(-max(v.rows-1, 1)) }},
			{"go", func() { v.goTo(r.IntN(100)) }}, {"end", func() { v.goTo(v.total) }},
		}
		moves[0].do()
		all := func() (n int) {
			for i := range lines {
				n += len(v.rowsOf(i))
			}
			return n
		}
		for range 200 {
			m := moves[r.IntN(len(moves))]
			m.do()
			last, _, used := v.last()
			if v.at < v.top || v.at > last {
				t.Fatalf("seed %d: after %s line %d is current, in view are %d to %d", seed, m.name,
					v.at, v.top, last)
			}
			if used != min(v.rows, all()) {
				t.Fatalf("seed %d: after %s %d rows of %d are used, and there are %d", seed, m.name,
					used, v.rows, all())
			}
		}
	}
}

// Key by key one comes to each row of each line.
func TestEachRowIsReached(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	lines := make([]string, 30)
	for i := range lines {
		lines[i] = randomLine(r, []int{2, 30, 400}[r.IntN(3)])
	}
	for name, keys := range map[string]func(v *readerView) (from int, key func()){
		"down": func(v *readerView) (int, func()) { return 0, v.down },
		"up":   func(v *readerView) (int, func()) { return v.total, v.up },
	} {
		v := viewOf(lines...)
		v.fit(20, 5)
		from, key := keys(v)
		v.goTo(from)
		seen := map[string]bool{}
		for range 600 {
			skip := v.skip
			for line, left := v.top, v.rows; left > 0 && line < v.total; line++ {
				for i := skip; i < len(v.rowsOf(line)) && left > 0; i++ {
					seen[fmt.Sprint(line, " ", i)] = true
					left--
				}
				skip = 0
			}
			key()
		}
		for line := range lines {
			for i := range v.rowsOf(line) {
				if !seen[fmt.Sprint(line, " ", i)] {
					t.Errorf("%s: row %d of line %d was not seen", name, i, line)
				}
			}
		}
	}
}

// The lines that stay are the same ones after others before them have gone.
func TestLinesThatGoMoveNobody(t *testing.T) {
	t.Parallel()
	v := viewOf("0", "1", "2", "3", "4", "5", "6", "7", "8", "9")
	v.fit(20, 3)
	v.goTo(6)
	v.mark = 5
	v.gone, v.total, v.kept = 4, 6, v.kept[4:]
	if !v.settle() || v.line0() != "6" || v.mark != 1 {
		t.Errorf("the current line is %q, the mark at %d", v.line0(), v.mark)
	}
	v.gone, v.total, v.kept = 4, 2, v.kept[4:]
	v.settle()
	v.fill()
	if v.at != 0 || v.mark != 0 || v.top != 0 {
		t.Errorf("at %d, marked from %d, in view from %d", v.at, v.mark, v.top)
	}
}

func (v *readerView) line0() string { return v.rowsOf(v.at)[0].plain }
