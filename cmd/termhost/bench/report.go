package bench

import (
	"math"
	"slices"
)

// Report is what was measured.
type Report struct {
	Machine string   // what it was measured on
	Caution string   // what has to be known to read the figures
	Missing []string // servers that were not there, with the reason
	Notes   []string // what went wrong
	Tables  []Table
}

// Server is one of those that were measured.
type Server struct{ Name, Version string }

// Table is what one measurement gave.
type Table struct {
	Name    string // a word
	Title   string
	Rivals  []Server // the first is termhost, or what of it the others are compared with
	Figures []Figure
}

// Figure is a figure of a measurement, as it came out in each round.
type Figure struct {
	Name, Unit string
	More       bool // more is better, not less
	// Samples are the values by the server's name, one of each round; NaN: there is none.
	Samples map[string][]float64
}

// Spread returns the least value of a server, the median and the largest. false: there is none.
func (f Figure) Spread(server string) (least, median, most float64, ok bool) {
	list := numbers(f.Samples[server])
	if len(list) == 0 {
		return 0, 0, 0, false
	}
	return list[0], middle(list), list[len(list)-1], true
}

// Ratio returns how many times a peer's figure a server's is: the median of the ratios of the
// rounds, in each of which both were measured one soon after the other. false: there is none.
func (f Figure) Ratio(server, peer string) (ratio float64, ok bool) {
	var list []float64
	own, its := f.Samples[server], f.Samples[peer]
	for i := range min(len(own), len(its)) {
		if its[i] > 0 {
			list = append(list, own[i]/its[i])
		}
	}
	if list = numbers(list); len(list) == 0 {
		return 0, false
	}
	return middle(list), true
}

// numbers returns the values that there are, sorted.
func numbers(list []float64) []float64 {
	list = slices.DeleteFunc(slices.Clone(list), math.IsNaN)
	slices.Sort(list)
	return list
}

// middle returns the median of a sorted list, which is not empty.
func middle(list []float64) float64 {
	n := len(list)
	return (list[(n-1)/2] + list[n/2]) / 2
}

// add keeps the values of a server in a round, one of each figure.
func (t *Table) add(server string, round int, values []float64) {
	for i, v := range values {
		f := &t.Figures[i]
		if f.Samples == nil {
			f.Samples = map[string][]float64{}
		}
		for len(f.Samples[server]) < round {
			f.Samples[server] = append(f.Samples[server], math.NaN())
		}
		f.Samples[server] = append(f.Samples[server], v)
	}
}
