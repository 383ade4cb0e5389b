package curves_test

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"termhost/ahp/hosttest"
)

var curvesDir = flag.String("curves", "", "a folder to write curves.md and curves.svg to")

// curve is what an operation costs along an axis, point by point.
type curve struct {
	op     operation
	axis   axis
	points []point
}

// point is what an operation costs in one world.
type point struct {
	time          time.Duration
	allocs, bytes int64
	sent          int64 // to peers, in bytes; 0: nothing
}

// TestCurves measures all curves, and writes them down.
func TestCurves(t *testing.T) {
	if *curvesDir == "" {
		t.Skip("it measures, for minutes, with -curves DIR only")
	}
	var curves []curve
	for _, a := range axes {
		first := len(curves)
		for _, op := range operations {
			curves = append(curves, curve{op: op, axis: a})
		}
		for _, n := range a.points {
			t.Run(fmt.Sprintf("%s=%d", a.name, n), func(t *testing.T) {
				w := newWorld(t, a.at(n))
				for i, op := range operations {
					c := &curves[first+i]
					c.points = append(c.points, measured(op, w))
				}
			})
		}
	}
	slices.SortStableFunc(curves, func(a, b curve) int { return strings.Compare(a.op.name, b.op.name) })
	for name, text := range map[string][]byte{
		"curves.md": table(curves), "curves.svg": plot(curves),
	} {
		hosttest.Check(t, os.WriteFile(filepath.Join(*curvesDir, name), text, 0o644))
	}
}

// measured measures an operation some times, and returns the time when it was fastest: what else
// the machine does only adds to it.
func measured(op operation, w *world) (best point) {
	for i := range 5 {
		r := testing.Benchmark(func(b *testing.B) { op.measure(b, w) })
		if now := time.Duration(r.NsPerOp()); i == 0 || now < best.time {
			best = point{now, r.AllocsPerOp(), r.AllocedBytesPerOp(), int64(r.Extra[sentUnit])}
		}
	}
	return best
}

// of returns the curves of an axis.
func of(a axis, curves []curve) (list []curve) {
	for _, c := range curves {
		if c.axis.name == a.name {
			list = append(list, c)
		}
	}
	return list
}

// preface is the beginning of the table's file.
const preface = `# Cost curves

TestCurves in ahp/hosttest/curves has written this. A cell has the time of one operation, which is
the least of five measurements, its allocations and their bytes, those of the peers included, and
behind a semicolon how many bytes one peer is sent. Where an axis does not grow, there are one
terminal, one subscriber and 32 KiB of scrollback.

![the times, on logarithmic scales](curves.svg)
`

// table returns a table for each axis, as Markdown.
func table(curves []curve) []byte {
	var b bytes.Buffer
	b.WriteString(preface)
	for _, a := range axes {
		fmt.Fprintf(&b, "\n| %s |", strings.TrimSpace(a.name+" "+a.unit))
		for _, n := range a.points {
			fmt.Fprintf(&b, " %d |", n)
		}
		b.WriteString("\n|---|" + strings.Repeat("---|", len(a.points)) + "\n")
		for _, c := range of(a, curves) {
			fmt.Fprintf(&b, "| %s |", c.op.name)
			for _, p := range c.points {
				fmt.Fprintf(&b, " %s, %d, %s", amount(float64(p.time), "ns", "µs", "ms"), p.allocs,
					amount(float64(p.bytes), "B", "kB", "MB"))
				if p.sent > 0 {
					fmt.Fprintf(&b, "; %s", amount(float64(p.sent), "B", "kB", "MB"))
				}
				b.WriteString(" |")
			}
			b.WriteString("\n")
		}
	}
	b.WriteString("\n")
	for _, c := range of(axes[0], curves) {
		fmt.Fprintf(&b, "- %s: %s\n", c.op.name, c.op.does)
	}
	return b.Bytes()
}

// amount returns a number with two or three digits and the unit that suits it, each of which is a
// thousand times the one before.
func amount(x float64, units ...string) string {
	for len(units) > 1 && x >= 1000 {
		x, units = x/1000, units[1:]
	}
	if x >= 10 || x == math.Trunc(x) {
		return fmt.Sprintf("%.0f %s", x, units[0])
	}
	return fmt.Sprintf("%.1f %s", x, units[0])
}

// The plot's measures, in pixels. Each axis has a panel.
const (
	panelWidth, panelHeight = 300, 300
	marginLeft, marginTop   = 60, 30
	marginBetween           = 40
	legendHeight            = 100
)

// The range of times in the plot, as powers of ten of nanoseconds.
const lowest, highest = 2, 8

var colours = []string{"#4477aa", "#ee6677", "#228833", "#aa8800", "#66ccee", "#aa3377",
	"#777777", "#000000"}

// plot returns the times of the curves as SVG, with logarithmic scales.
func plot(curves []curve) []byte {
	var b bytes.Buffer
	width := marginLeft + len(axes)*(panelWidth+marginBetween)
	height := marginTop + panelHeight + legendHeight
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" `+
		`font-family="sans-serif" font-size="12">`+"\n"+`<rect width="100%%" height="100%%" `+
		`fill="white"/>`+"\n", width, height)
	for i, a := range axes {
		fmt.Fprintf(&b, `<g transform="translate(%d %d)">`+"\n",
			marginLeft+i*(panelWidth+marginBetween), marginTop)
		plotPanel(&b, a, of(a, curves))
		b.WriteString("</g>\n")
	}
	for i, c := range of(axes[0], curves) {
		x := marginLeft + i%4*200
		y := marginTop + panelHeight + 60 + i/4*20
		fmt.Fprintf(&b, `<path d="M%d %dh24" stroke="%s" stroke-width="2"/>`+
			`<text x="%d" y="%d">%s</text>`+"\n", x, y-4, colours[i], x+30, y, c.op.name)
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

func plotPanel(b *bytes.Buffer, a axis, curves []curve) {
	first, last := float64(a.points[0]), float64(a.points[len(a.points)-1])
	x := func(n int) float64 { return panelWidth * math.Log(float64(n)/first) / math.Log(last/first) }
	y := func(power float64) float64 {
		return panelHeight * (1 - (power-lowest)/(highest-lowest))
	}
	for power := lowest; power <= highest; power++ {
		at := y(float64(power))
		fmt.Fprintf(b, `<path d="M0 %.1fh%d" stroke="#ddd"/>`+"\n", at, panelWidth)
		if a.name == axes[0].name { // the others have the same scale
			fmt.Fprintf(b, `<text x="-6" y="%.1f" text-anchor="end">%s</text>`+"\n", at+4,
				amount(math.Pow10(power), "ns", "µs", "ms"))
		}
	}
	for _, n := range a.points {
		fmt.Fprintf(b, `<path d="M%.1f 0v%d" stroke="#ddd"/><text x="%.1f" y="%d" `+
			`text-anchor="middle">%d</text>`+"\n", x(n), panelHeight, x(n), panelHeight+16, n)
	}
	fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="middle">%s</text>`+"\n",
		panelWidth/2, panelHeight+34, strings.TrimSpace(a.name+" "+a.unit))
	for i, c := range curves {
		var line strings.Builder
		for k, p := range c.points {
			fmt.Fprintf(&line, " %.1f,%.1f", x(a.points[k]), y(math.Log10(float64(p.time))))
		}
		fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n",
			line.String()[1:], colours[i])
	}
}
