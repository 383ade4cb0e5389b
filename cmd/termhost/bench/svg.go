package bench

import (
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// The parts of a plot, in pixels.
const (
	plotWidth  = 720
	plotNames  = 110 // the width of the column of names
	plotValues = 150 // and of that of values
	plotLine   = 20
	plotMargin = 12
)

// plotStyle has colours for a light background and for a dark one.
const plotStyle = `<style>
svg { color-scheme: light dark }
text { font: 13px system-ui, sans-serif; fill: #1f2328 }
.title { font-weight: 600; font-size: 15px }
.quiet { fill: #59636e }
.own { fill: #0969da } .peer { fill: #afb8c1 } .spread { stroke: #1f2328 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .quiet { fill: #9198a1 }
.own { fill: #4493f8 } .peer { fill: #57606a } .spread { stroke: #e6edf3 }
}
</style>
`

// WriteSVG writes a plot of each table to a file of a folder, which is made: bars as long as the
// medians, with a line from the least to the largest value.
func (r *Report) WriteSVG(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, t := range r.Tables {
		file := filepath.Join(dir, t.Name+".svg")
		if err := os.WriteFile(file, []byte(plot(t)), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// plot draws a table.
func plot(t Table) string {
	body := new(strings.Builder)
	y := plotMargin + plotLine
	write := func(x int, class, anchor, text string) {
		fmt.Fprintf(body, `<text x="%d" y="%d" class="%s" text-anchor="%s">%s</text>`+"\n",
			x, y-5, class, anchor, escape(text))
	}
	write(plotMargin, "title", "start", plain(t.Title))
	for _, f := range t.Figures {
		largest := 0.0
		for _, s := range t.Rivals {
			if _, _, most, ok := f.Spread(s.Name); ok {
				largest = max(largest, most)
			}
		}
		y += plotLine * 3 / 2
		write(plotMargin, "quiet", "start", f.Name+", "+f.unit())
		for i, s := range t.Rivals {
			least, median, most, ok := f.Spread(s.Name)
			if !ok || largest <= 0 {
				continue
			}
			class := "peer"
			if i == 0 {
				class = "own"
			}
			y += plotLine
			write(plotNames, "", "end", s.Name)
			bar(body, class, y-plotLine/2, max(0, least)/largest, max(0, median)/largest,
				max(0, most)/largest)
			write(plotWidth-plotMargin, "", "end",
				fmt.Sprintf("%s (%s to %s)", number(median), number(least), number(most)))
		}
	}
	height := y + plotMargin
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" `+
		`viewBox="0 0 %d %d" role="img" aria-label="%s">`+"\n", plotWidth, height,
		plotWidth, height, escape(plain(t.Title))) + plotStyle + body.String() + "</svg>\n"
}

// bar draws a bar around y, of parts of the largest one.
func bar(w *strings.Builder, class string, y int, least, median, most float64) {
	const left, half = plotNames + 8, 6
	at := func(part float64) float64 {
		return left + part*(plotWidth-plotMargin-plotValues-left)
	}
	fmt.Fprintf(w, `<rect x="%d" y="%d" width="%.1f" height="%d" class="%s"/>`+"\n",
		left, y-half, at(median)-left, 2*half, class)
	fmt.Fprintf(w, `<path d="M%.1f %dH%.1fM%.1f %dv%dM%.1f %dv%d" class="spread"/>`+"\n",
		at(least), y, at(most), at(least), y-half/2, half, at(most), y-half/2, half)
}

// escape returns text for XML.
func escape(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder takes everything
	return b.String()
}
