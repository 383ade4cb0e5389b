package width

import (
	"strings"
	"testing"
)

func TestAQuoteFitsInItsRoom(t *testing.T) {
	for _, tt := range []struct {
		text         string
		bytes, cells int
		want         string
	}{
		{"ls\r", 3, 20, `"ls\r"`},
		{"漢字\x1b", 7, 20, `"漢字\x1b"`},
		{"ls", 5000, 20, `"ls" (5000 bytes)`},
		{strings.Repeat("x", 30), 30, 20, `"` + strings.Repeat("x", 18) + `… (30 bytes)`},
	} {
		if got := Quote([]byte(tt.text), tt.bytes, tt.cells); got != tt.want {
			t.Errorf("%q of %d bytes in %d cells: %s, want %s", tt.text, tt.bytes, tt.cells, got, tt.want)
		}
	}
}
