package verbs

import (
	"strings"
	"testing"
)

func TestTablesAreAlignedInCells(t *testing.T) {
	var b strings.Builder
	rows := [][]string{{"NAME", "TITLE"}, {"a", "\x1b[31mred"}, {"\u754c\u754c\u754c", "wide"}}
	writeTable(&b, rows, 9)
	want := "NAME    …\na       …\n\u754c\u754c\u754c  …\n"
	if b.String() != want {
		t.Errorf("got  %q\nwant %q", b.String(), want)
	}
}
