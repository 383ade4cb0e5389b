package store

import (
	"fmt"
	"slices"
	"testing"

	"termhost/ahp"
)

// A record of a terminal's output is read back in other pieces than it came in, and then the
// log may have dropped other entries. That must not change the positions.
func TestPositionsDoNotDependOnHowTheOutputWasCut(t *testing.T) {
	type place struct {
		action string
		at     int64
	}
	places := func(piece, logBytes int) (list []place) {
		s := New(Options{LogBytes: logBytes})
		c := newOwned(t, s)
		note := func() {
			e := c.log.at(c.log.end() - 1)
			list = append(list, place{e.Action().Type(), e.Position()})
		}
		for i := range 20 {
			c.Append(ahp.TerminalCommandExecuted{CommandID: fmt.Sprint(i)}, nil)
			note()
			output := lines(500)
			for p := output; len(p) > 0; {
				n := min(piece, len(p))
				c.AppendData(p[:n])
				p = p[n:]
			}
			c.Echo(ahp.TerminalOutput{Data: output}, nil)
			c.Append(ahp.TerminalCommandFinished{CommandID: fmt.Sprint(i)}, nil)
			note()
		}
		return list
	}
	want := places(500, 1<<20)
	if want[0].at != 0 || want[1].at != 501 || want[2].at != 502 {
		t.Errorf("the first are at %v", want[:3])
	}
	for _, piece := range []int{1, 7, 499} {
		if got := places(piece, 2<<10); !slices.Equal(got, want) {
			t.Errorf("cut into pieces of %d: %v, not %v", piece, got, want)
		}
	}
}
