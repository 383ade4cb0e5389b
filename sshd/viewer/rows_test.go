package viewer

import (
	"slices"
	"strings"
	"testing"

	"termhost/ahp/visible"
)

func TestAContinuedRowDoesNotLookLikeALineOfItsOwn(t *testing.T) {
	rows := func(text string, room int) (list []string) {
		lines, _ := visible.Lines(text)
		for _, r := range numbered(lines, room) {
			list = append(list, r.text)
		}
		return list
	}
	want := []string{"1 xxxxxxxx", "  2 rm -rf", "   /^M", "2 ls^M"}
	if got := rows(strings.Repeat("x", 8)+"2 rm -rf /\rls\r", 10); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for room := 1; room <= 3; room += 2 {
		if got := rows("日本語", room); len(got) != 3 {
			t.Errorf("in a window of %d cells: %q", room, got)
		}
	}
}
