package history_test

import (
	"slices"
	"testing"

	"termhost/ahp/history"
	"termhost/ptypool/termlog"
)

// A line ends where output is missing between two records, whatever kind the next record is.
func TestASearchJoinsNoOutputAcrossAGap(t *testing.T) {
	t.Parallel()
	data := func(pos int64, text string) termlog.Record {
		return termlog.Record{Kind: termlog.Data, Pos: pos, Payload: []byte(text)}
	}
	checkpoint := func(pos int64) termlog.Record {
		return termlog.Record{Kind: termlog.Checkpoint, Pos: pos, Payload: []byte(`{"Cols":80,"Rows":24}`)}
	}
	gap := func(pos int64) termlog.Record {
		return termlog.Record{Kind: termlog.Gap, Pos: pos, Payload: []byte("disk full")}
	}
	for name, c := range map[string]struct {
		records []termlog.Record
		want    []string
	}{
		"a checkpoint behind the beginning": {
			[]termlog.Record{data(10, "one"), checkpoint(13), data(13, "two\n")}, []string{"onetwo"}},
		"a checkpoint behind a hole": {
			[]termlog.Record{data(10, "one"), checkpoint(20), data(20, "two\n")}, []string{"one", "two"}},
		"no checkpoint": {
			[]termlog.Record{data(10, "one"), data(20, "two\n")}, []string{"one", "two"}},
		"a checkpoint some way behind a gap": {
			[]termlog.Record{data(0, "one"), gap(10), data(10, "tw"), checkpoint(12), data(12, "o\n")},
			[]string{"one", "two"}},
	} {
		l := &history.Log{ID: "x", Format: format{},
			Records: func(_ func(termlog.Spot) termlog.Spot, visit func(termlog.Record) bool) error {
				for _, r := range c.records {
					if !visit(r) {
						break
					}
				}
				return nil
			}}
		pattern, err := history.NewPattern(".", false)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		err = l.Search(&work{}, history.Search{Pattern: pattern}, func(l *history.Line) bool {
			got = append(got, string(l.Text))
			return true
		})
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, %v; want %q", name, got, err, c.want)
		}
	}
}
