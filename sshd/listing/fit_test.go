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
		if got, _ := distinct(c.names, c.room); !slices.Equal(got, c.want) {
			t.Errorf("%q in %d cells are %q, want %q", c.names, c.room, got, c.want)
		}
	}
}

// In 80 cells a list that is live tells what is waited for, whatever else there is to show.
func TestALiveListTellsWhatIsWaitedFor(t *testing.T) {
	row := Head()
	row[Name].Text, row[State], row[Claim].Text = "work", Cell{"waits: approval (guarded)", " !"}, "ann/claude"
	row[Last], row[Quiet].Text = Cell{"go test ./...", " failed 137"}, "10s"
	row[Labels].Text, row[Title].Text = "group=api,stage=test", "ann/claude: git push --force^M"
	line := NewFit([][]Cell{Head(), row}, 77, true).Line(row)
	if !strings.Contains(line, "waits: approval… !") || !strings.Contains(line, "ann/claude: gi") {
		t.Errorf("the row is %q", line)
	}
}
