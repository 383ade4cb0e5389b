package sshd

import (
	"strings"
	"testing"
)

// framesShown draws frame after frame, slowly. Of half of one only FIRST is to be seen.
const framesShown = `new -n work -- stty raw -echo; n=0; while :; do n=$((n+1)); ` +
	`printf '\033[?2026h\033[H\033[JFIRST %d' $n; sleep 0.05; printf ' LAST\033[?2026l'; ` +
	`sleep 0.01; done`

// A frame (mode 2026) is seen when it is complete: by those who look, by a viewer of another size,
// and by one that comes meanwhile, whose terminal gets it with its end.
func TestAFrameIsSeenWhenItIsComplete(t *testing.T) {
	t.Parallel()
	const begin, end = "\x1b[?2026h", "\x1b[?2026l"
	r := newRig(t, rigOptions{})
	p := r.open(r.dial("alice"), 80, 24, framesShown)
	p.sees("FIRST 2 LAST")
	for range 8 {
		if got := r.screen(); !strings.HasSuffix(got, " LAST") {
			t.Errorf("peek shows\n%s", got)
		}
		late := r.open(r.dial("alice"), 80, 24, "attach -r work")
		late.sees(" LAST")
		first, _, _ := strings.Cut(late.out.all(), end)
		if _, drawn, ok := strings.Cut(first, begin); !ok || !strings.Contains(drawn, " LAST") {
			t.Errorf("an attach shows half a frame first: %q", first)
		}
	}
	small := r.open(r.dial("alice"), 60, 20, "attach -r work")
	for range 5 {
		small.sees(begin) // something has changed
		small.sees(end)
	}
	for drawing := range strings.SplitSeq(small.out.all(), end) {
		if strings.Contains(drawing, "FIRST") && !strings.Contains(drawing, " LAST") {
			t.Errorf("a viewer of another size is shown half a frame: %q", drawing)
		}
	}
}
