package host_test

import (
	"fmt"
	"strings"
	"testing"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ptypool/vt"
)

// A viewer that is covered and uncovered again and again while output comes has every line exactly
// once in the end.
func TestLinesThatScrolledOffWhileCoveredComeOnce(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	const last = 101999 // fewer lines than the host keeps
	term := run(t, h, carol, "x",
		"stty -icanon -echo; read x; i=100000; while [ $i -lt 102000 ]; do echo $i; i=$((i+1)); done; printf END; read x")
	v := attach(t, h, carol, "x", window)
	own := vt.New(80, 24, vt.Options{ScrollbackLines: 10000})
	own.Feed(v.out, nil)
	show := func(out []byte, err error) {
		if err != nil {
			t.Fatal(err)
		}
		own.Feed(out, nil)
	}
	if err := v.a.Input([]byte("\r")); err != nil {
		t.Fatal(err)
	}
	for over := false; !over; {
		st := state(t, h, term)
		over = strings.HasSuffix(text(st), "END")
		v.out = nil
		v.pull()
		own.Feed(v.out, nil)
		items, screen, err := v.a.Cover(nil, host.Over{}, false)
		for _, it := range items {
			if d, ok := it.Entry.Action().(ahp.TerminalData); ok {
				own.Feed(d.Data, nil)
			}
		}
		show(screen, err)
		screen, _, err = v.a.Covered(host.Over{})
		show(screen, err)
		show(v.a.Uncover())
	}
	checkNumbers(t, own, 100000, last)
}

// checkNumbers checks that a terminal's lines are the numbers up to last, each once.
func checkNumbers(t *testing.T, own *vt.Screen, first, last int) {
	t.Helper()
	next := first
	for line := range strings.Lines(string(own.AppendHistoryText(nil))) {
		var n int
		if _, err := fmt.Sscanf(line, "%d", &n); err != nil {
			continue
		}
		if n != next {
			t.Fatalf("%d follows %d", n, next-1)
		}
		next = n + 1
	}
	if next != last+1 {
		t.Fatalf("it ends with %d", next-1)
	}
}
