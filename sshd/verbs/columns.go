package verbs

import (
	"encoding/json"
	"io"
	"strings"

	"termhost/ahp/host"
	"termhost/ptypool/vt/width"
	"termhost/sshd/listing"
)

// writeTable aligns the columns. No cell's content acts on a terminal. Lines are cut at cols cells,
// if it is not 0.
func writeTable(w io.Writer, rows [][]string, cols int) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i := range row {
			row[i] = host.Printable(row[i])
			widths[i] = max(widths[i], width.String(row[i]))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		var l strings.Builder
		for i, cell := range row {
			l.WriteString(cell)
			if i < len(row)-1 {
				l.WriteString(strings.Repeat(" ", widths[i]-width.String(cell)+listing.Gap))
			}
		}
		text := strings.TrimRight(l.String(), " ")
		if cols > 0 {
			text = width.Cut(text, cols, "…")
		}
		b.WriteString(text + "\n")
	}
	io.WriteString(w, b.String())
}

// printJSON writes a value as indented JSON.
func (v *invocation) printJSON(value any) int {
	b, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return v.failed(err)
	}
	if _, err := v.stdout.Write(append(b, '\n')); err != nil {
		return StatusFailed
	}
	return StatusOK
}
