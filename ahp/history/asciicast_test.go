package history_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"termhost/ahp/history"
)

var sample = []history.Event{
	{Kind: history.Output, Text: []byte("$ \"\x1b[1m\xff\xe2\x82\r\n")},
	{At: 1500 * time.Millisecond, Kind: history.Marker, Text: []byte("make 'x'")},
	{At: 1500400 * time.Microsecond, Kind: history.Resize, Cols: 100, Rows: 30},
	{At: 1500600 * time.Microsecond, Kind: history.Output, Text: []byte("é")},
	{At: 2 * time.Second, Kind: history.Exit, Code: 3},
}

func encode(version int, h history.Header, events []history.Event) string {
	var text strings.Builder
	_ = history.Write(&text, version, h, events) // a Builder takes all
	return text.String()
}

func TestTheEncoderWritesBothVersions(t *testing.T) {
	h := history.Header{Cols: 80, Rows: 24, Term: "xterm", Title: "a \"b\"", Began: time.Unix(1700000000, 5)}
	for version, want := range map[int]string{
		history.V3: `{"version":3,"term":{"cols":80,"rows":24,"type":"xterm"},"timestamp":1700000000,"title":"a \"b\""}
[0.000, "o", "$ \"\u001b[1m���\r\n"]
[1.500, "m", "make 'x'"]
[0.000, "r", "100x30"]
[0.001, "o", "é"]
[0.499, "x", "3"]
`,
		history.V2: `{"version":2,"width":80,"height":24,"timestamp":1700000000,"title":"a \"b\"","env":{"TERM":"xterm"}}
[0.000000, "o", "$ \"\u001b[1m���\r\n"]
[1.500000, "m", "make 'x'"]
[1.500400, "r", "100x30"]
[1.500600, "o", "é"]
[2.000000, "x", "3"]
`,
	} {
		if got := encode(version, h, sample); got != want {
			t.Errorf("version %d: got\n%swant\n%s", version, got, want)
		}
	}
}

// Each time of version 3 is rounded, and yet the last one is exact.
func TestRoundedTimesDoNotDrift(t *testing.T) {
	t.Parallel()
	var events []history.Event
	for i := range 10_000 {
		events = append(events, history.Event{At: time.Duration(i) * 333_777 * time.Nanosecond,
			Kind: history.Output, Text: []byte("x")})
	}
	sum := 0.0
	for _, line := range strings.Split(encode(history.V3, history.Header{}, events), "\n")[1:] {
		if line == "" {
			continue
		}
		var ev []any
		if err := json.Unmarshal([]byte(line), &ev); err != nil {
			t.Fatal(err)
		}
		sum += ev[0].(float64)
	}
	if want := events[len(events)-1].At.Seconds(); math.Abs(sum-want) > 0.001 {
		t.Errorf("ends at %v, not %v", sum, want)
	}
}
