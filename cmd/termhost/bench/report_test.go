package bench_test

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"termhost/ahp/hosttest"
	"termhost/cmd/termhost/bench"
)

var none = math.NaN()

// TestArithmetic: the spread leaves out the rounds without a value, and the ratio is the median of
// those of the rounds that both have.
func TestArithmetic(t *testing.T) {
	for name, c := range map[string]struct {
		own, peer           []float64
		least, median, most float64 // of the own
		ratio               float64 // NaN: none
	}{
		"odd":                     {[]float64{3, 1, 2}, []float64{1, 1, 1}, 1, 2, 3, 2},
		"even":                    {[]float64{4, 1, 2, 3}, []float64{2, 1, 1, 1}, 1, 2.5, 4, 2},
		"drift touches both":      {[]float64{10, 20, 90}, []float64{5, 10, 45}, 10, 20, 90, 2},
		"rounds without a value":  {[]float64{none, 4, 6}, []float64{1, none, 3}, 4, 5, 6, 2},
		"a peer that dropped out": {[]float64{8, 4, 6}, []float64{4}, 4, 6, 8, 2},
		"a peer at nothing":       {[]float64{8}, []float64{0}, 8, 8, 8, none},
		"no peer":                 {[]float64{8}, nil, 8, 8, 8, none},
	} {
		f := bench.Figure{Samples: map[string][]float64{"own": c.own, "peer": c.peer}}
		least, median, most, ok := f.Spread("own")
		if !ok || least != c.least || median != c.median || most != c.most {
			t.Errorf("%s: %v, %v, %v, %v", name, least, median, most, ok)
		}
		if ratio, ok := f.Ratio("own", "peer"); ok == math.IsNaN(c.ratio) || ok && ratio != c.ratio {
			t.Errorf("%s: ratio %v, %v", name, ratio, ok)
		}
	}
	f := bench.Figure{Samples: map[string][]float64{"own": {none}}}
	if _, _, _, ok := f.Spread("own"); ok {
		t.Error("there is a spread of no values")
	}
}

// report is one with all that a report may have.
func report() *bench.Report {
	return &bench.Report{
		Machine: "2 CPUs", Missing: []string{"ttyd (not installed)"}, Notes: []string{"a failed"},
		Tables: []bench.Table{{Name: "flood", Title: "`cat` <fast> & \"loud\"",
			Rivals: []bench.Server{{Name: "termhost"}, {Name: "a & b", Version: "<1>"}, {Name: "c"}},
			Figures: []bench.Figure{
				{Name: "speed", Unit: "MB/s", More: true, Samples: map[string][]float64{
					"termhost": {50, 40, 60}, "a & b": {100, 80, 120}, "c": {none},
				}},
				{Name: "CPU", Unit: "s", Samples: map[string][]float64{"termhost": {0.125}, "c": {0}}},
			}}, {Name: "fleet", Title: "Fleet",
			Rivals: []bench.Server{{Name: "by a door"}, {Name: "directly"}},
			Figures: []bench.Figure{{Name: "p50", Unit: "µs", Samples: map[string][]float64{
				"by a door": {30}, "directly": {20},
			}}}}},
	}
}

func TestMarkdown(t *testing.T) {
	var b strings.Builder
	hosttest.Check(t, report().WriteMarkdown(&b))
	_, table, _ := strings.Cut(b.String(), "\n\n|")
	const want = " | termhost | a & b | c |\n" +
		"|---|---|---|---|\n" +
		"| **`cat` <fast> & \"loud\"** | | | |\n" +
		"| speed, MB/s ↑ | 40.0 / **50.0** / 60.0 | 80.0 / **100** / 120 × 0.50 | - |\n" +
		"| CPU, s ↓ | 0.125 / **0.125** / 0.125 | - | 0 / **0** / 0 |\n" +
		"\n| | by a door | directly |\n" +
		"|---|---|---|\n" +
		"| **Fleet** | | |\n" +
		"| p50, µs ↓ | 30.0 / **30.0** / 30.0 | 20.0 / **20.0** / 20.0 × 1.50 |\n" +
		"\na failed\n"
	if table != want {
		t.Errorf("got:\n%s\nwant:\n%s", table, want)
	}
	for _, want := range []string{"2 CPUs", "without ttyd (not installed)", "a & b (<1>)"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in %s", want, b.String())
		}
	}
}

func TestText(t *testing.T) {
	var b strings.Builder
	hosttest.Check(t, report().WriteText(&b))
	text := strings.Join(strings.Fields(b.String()), " ")
	for _, want := range []string{
		"speed, MB/s ↑ min median max termhost 40.0 50.0 60.0 a & b 80.0 100 120 termhost is × 0.50 " +
			"CPU, s ↓",
		"Fleet p50, µs ↓ min median max by a door 30.0 30.0 30.0 directly 20.0 20.0 20.0 " +
			"by a door is × 1.50",
		"c, by a door, directly; without ttyd (not installed)", "a failed",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, b.String())
		}
	}
}

// TestSVG: a plot is well-formed, and has the names, a bar for each server that has a value, and
// colours for dark backgrounds.
func TestSVG(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "plots")
	hosttest.Check(t, report().WriteSVG(dir))
	data, err := os.ReadFile(filepath.Join(dir, "flood.svg"))
	hosttest.Check(t, err)
	elements, text := map[string]int{}, ""
	for d := xml.NewDecoder(strings.NewReader(string(data))); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		hosttest.Check(t, err)
		switch token := token.(type) {
		case xml.StartElement:
			elements[token.Name.Local]++
		case xml.CharData:
			text += string(token) + "\n"
		}
	}
	if elements["svg"] != 1 || elements["rect"] != 4 || elements["path"] != 4 {
		t.Errorf("it has %v", elements)
	}
	for _, want := range []string{
		"cat <fast> & \"loud\"", "a & b\n", "100 (80.0 to 120)", "prefers-color-scheme: dark",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in it", want)
		}
	}
	if strings.Contains(string(data), "NaN") {
		t.Error("it has NaN")
	}
}

// TestOnlyWhatThereIs: a name that nothing has is an error, before anything is started.
func TestOnlyWhatThereIs(t *testing.T) {
	_, err := bench.Run(t.Context(), "/nowhere", bench.Options{Only: []string{"echo", "speed"}})
	if err == nil || !strings.Contains(err.Error(), `"speed"`) || !strings.Contains(err.Error(), "fan-out-10") {
		t.Error(err)
	}
}
