package listing

import (
	"slices"
	"strings"
	"testing"
)

func TestNamesThatAreCutDiffer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		names, want []string
		room        int
	}{
		{[]string{"abcdefgh", "xyz"}, []string{"abcdefgh", "xyz"}, 8},
		{[]string{"abcdefgh", "xyz"}, []string{"abc…", "xyz"}, 4},
		{[]string{"abcdefgh", "abcdefgi"}, []string{"ab…h", "ab…i"}, 4},
		{[]string{"a-1-very-same", "a-2-very-same"}, []string{"a-1…", "a-2…"}, 4},
		{[]string{"the-1-end", "the-2-end"}, []string{"the-1…", "the-2…"}, 4},
		{[]string{"twice-the-same", "twice-the-same"}, // one was renamed meanwhile
			[]string{"twice-the-same", "twice-the-same"}, 4},
	} {
		short, _ := distinct(c.names, c.room)
		var got []string
		for _, name := range c.names {
			got = append(got, short[name])
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q in %d cells are %q, want %q", c.names, c.room, got, c.want)
		}
	}
}

// In 80 cells a list that is live tells what is waited for, whatever else there is to show.
func TestALiveListTellsWhatIsWaitedFor(t *testing.T) {
	row := Head()
	row[Name].Text, row[State], row[Claim].Text = "work", Cell{Text: "waits: approval (guarded)", End: " !"}, "ann/claude"
	row[Last], row[Quiet].Text = Cell{Text: "go test ./...", End: " failed 137"}, "10s"
	row[Labels].Text, row[Title].Text = "group=api,stage=test", "ann/claude: git push --force^M"
	line := NewFit([][]Cell{Head(), row}, 77, true).Line(row)
	if !strings.Contains(line, "waits: approval… !") || !strings.Contains(line, "ann/claude: gi") {
		t.Errorf("the row is %q", line)
	}
}

// One long NAME takes no columns of the others', where nobody types NAMEs.
func TestALongNameLeavesALiveListItsColumns(t *testing.T) {
	rows := [][]Cell{Head()}
	for _, name := range []string{"work", strings.Repeat("long-", 12) + "name"} {
		row := Head()
		row[Name].Text, row[State], row[Claim].Text = name, Cell{Text: "waits: approval", End: " !"}, "ann/claude"
		row[Last], row[Quiet].Text, row[Title].Text = Cell{Text: "make test", End: " ok"}, "10s", "May I push this to main?"
		rows = append(rows, row)
	}
	fit := NewFit(rows, 77, true)
	for n, want := range []string{"NAME", "work", "long-"} {
		line := fit.Line(rows[n])
		if !strings.HasPrefix(line, want) || n > 0 && (!strings.Contains(line, "May I push") ||
			!strings.Contains(line, "10s") || !strings.Contains(line, "ann/")) {
			t.Errorf("the row is %q", line)
		}
		if len([]rune(line)) > 77 {
			t.Errorf("%q is too wide", line)
		}
	}
}

// The time of a command goes first where there is no room, then its line; how it went stays.
func TestHowACommandWentStaysLongest(t *testing.T) {
	c := Cell{Text: "make test", End: " failed 2", Extra: " 41s"}
	for room, want := range map[int]string{22: "make test failed 2 41s", 21: "make test failed 2", 13: "mak… failed 2"} {
		if got := cut(c, room); got != want {
			t.Errorf("in %d cells it is %q, want %q", room, got, want)
		}
	}
}
