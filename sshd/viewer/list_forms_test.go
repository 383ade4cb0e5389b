package viewer

import "testing"

func TestTheKeysOfAListFitWithTheOneThatShowsAll(t *testing.T) {
	for room, want := range map[int]string{
		79: "Enter goes, s types, g guards, x ends, / filters, space marks, ? helps",
		59: "Enter goes, s types, g guards, x ends, / filters, ? helps",
		40: "Enter goes, s types, g guards, ? helps",
		10: "? helps",
		0:  "? helps",
	} {
		got := keyLine(room, "Enter goes", "s types", "g guards", "x ends", "/ filters",
			"space marks", "r renames")
		if got != want {
			t.Errorf("in %d columns: %q, want %q", room, got, want)
		}
	}
}
