package verbs

import (
	"testing"

	"termhost/ptypool"
)

// The codes of programs that run elsewhere are whatever their system makes them; ssh shows eight
// bits of the status.
func TestAFailureElsewhereIsNoSuccessHere(t *testing.T) {
	for code, want := range map[int]int{
		0: 0, 1: 1, 255: 255, 256: 255, 512: 255, -1: 255,
		99999999999: 255, 3221225786: 255, -1073741510: 255,
	} {
		if got := statusOf(ptypool.ExitStatus{Code: code}); got != want {
			t.Errorf("a terminal that ended with %d: %d, want %d", code, got, want)
		}
	}
}
