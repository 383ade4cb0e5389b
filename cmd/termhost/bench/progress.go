package bench

import (
	"fmt"
	"io"
)

// Progress is where a run tells how far it is.
type Progress struct {
	Out io.Writer
	// Redraw has one line be drawn again and again, as on a terminal; otherwise every measurement
	// has a line.
	Redraw bool
}

// says tells what is done now: it is the n-th of several measurements.
func (p Progress) says(n, of int, t Table, detail string) {
	if p.Redraw {
		fmt.Fprintf(p.Out, "\r\x1b[K%d/%d %s: %s", n, of, t.Name, detail)
	}
}

// begins tells that a measurement begins.
func (p Progress) begins(n, of int, t Table) {
	if !p.Redraw {
		fmt.Fprintf(p.Out, "%d/%d %s\n", n, of, t.Name)
	}
}

// ends clears the line.
func (p Progress) ends() {
	if p.Redraw {
		fmt.Fprint(p.Out, "\r\x1b[K")
	}
}
