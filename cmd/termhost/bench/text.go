package bench

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// WriteText writes the report for a terminal.
func (r *Report) WriteText(out io.Writer) error {
	w := new(strings.Builder)
	fmt.Fprintf(w, "%s\n%s\n%s\n", r.Machine, r.Caution, r.servers())
	for _, t := range r.Tables {
		own := t.Rivals[0].Name
		fmt.Fprintf(w, "\n%s\n", plain(t.Title))
		tabs := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
		for _, f := range t.Figures {
			fmt.Fprintf(tabs, "\t%s, %s\tmin\tmedian\tmax\t\n", f.Name, f.unit())
			for _, s := range t.Rivals {
				least, median, most, ok := f.Spread(s.Name)
				if !ok {
					continue
				}
				fmt.Fprintf(tabs, "\t%s\t%s\t%s\t%s\t", s.Name,
					number(least), number(median), number(most))
				if ratio, ok := f.Ratio(own, s.Name); ok && s.Name != own {
					fmt.Fprintf(tabs, "%s is × %s\t", own, factor(ratio))
				}
				fmt.Fprintln(tabs)
			}
		}
		if err := tabs.Flush(); err != nil {
			return err
		}
	}
	for _, note := range r.Notes {
		fmt.Fprintf(w, "\n%s", note)
	}
	if len(r.Notes) > 0 {
		fmt.Fprintln(w)
	}
	_, err := io.WriteString(out, w.String())
	return err
}

// WriteMarkdown writes the report as a table of Markdown.
func (r *Report) WriteMarkdown(out io.Writer) error {
	w := new(strings.Builder)
	fmt.Fprintf(w, "%s: %s\n\n%s\n\n%s least / **median** / most of the rounds; ↑ more is better, "+
		"↓ less is better; × is the first server's divided by that server's.\n", "Measured on",
		r.Machine, r.Caution, r.servers()+".")
	var heads []Server // of the columns
	for _, t := range r.Tables {
		if !slices.Equal(heads, t.Rivals) {
			heads = t.Rivals
			writeHeads(w, heads)
		}
		fmt.Fprintf(w, "| **%s** |%s\n", t.Title, strings.Repeat(" |", len(heads)))
		for _, f := range t.Figures {
			fmt.Fprintf(w, "| %s, %s |", f.Name, f.unit())
			for _, s := range heads {
				fmt.Fprintf(w, " %s |", f.cell(heads[0].Name, s.Name))
			}
			fmt.Fprintln(w)
		}
	}
	for _, note := range r.Notes {
		fmt.Fprintf(w, "\n%s\n", note)
	}
	_, err := io.WriteString(out, w.String())
	return err
}

// writeHeads begins a table of Markdown.
func writeHeads(w io.Writer, columns []Server) {
	fmt.Fprint(w, "\n|")
	for _, s := range columns {
		fmt.Fprintf(w, " | %s", s.Name)
	}
	fmt.Fprintf(w, " |\n|---|%s\n", strings.Repeat("---|", len(columns)))
}

// servers names the measured servers, and the missing ones.
func (r *Report) servers() string {
	var names []string
	for _, t := range r.Tables {
		for _, s := range t.Rivals {
			name := s.Name
			if s.Version != "" {
				name += " (" + s.Version + ")"
			}
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	text := strings.Join(names, ", ")
	if len(r.Missing) > 0 {
		text += "; without " + strings.Join(r.Missing, ", ")
	}
	return text
}

// cell returns the field of a server in a table.
func (f Figure) cell(own, server string) string {
	least, median, most, ok := f.Spread(server)
	if !ok {
		return "-"
	}
	text := fmt.Sprintf("%s / **%s** / %s", number(least), number(median), number(most))
	if ratio, ok := f.Ratio(own, server); ok && server != own {
		text += " × " + factor(ratio)
	}
	return text
}

// unit returns the unit, and which way is better.
func (f Figure) unit() string {
	if f.More {
		return f.Unit + " ↑"
	}
	return f.Unit + " ↓"
}

// plain returns text of Markdown without its marks.
func plain(text string) string { return strings.ReplaceAll(text, "`", "") }

// number returns a value with three digits or more.
func number(v float64) string {
	digits := 0
	for limit := 100.0; digits < 3 && math.Abs(v) < limit && v != 0; limit /= 10 {
		digits++
	}
	return strconv.FormatFloat(v, 'f', digits, 64)
}

// factor returns a ratio with two digits behind the point, or fewer if it is large.
func factor(v float64) string {
	if math.Abs(v) >= 10 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}
