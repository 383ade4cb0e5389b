package journal_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"termhost/ahp"
	"termhost/ahp/journal"
)

// The list of commands keeps the newest within its bounds, and a copy stays as it was.
func TestTheListOfCommandsIsBounded(t *testing.T) {
	t.Parallel()
	var o journal.Outline
	run := func(n int, line string) {
		id := fmt.Sprint(n)
		o.Apply(ahp.TerminalCommandExecuted{CommandID: id, CommandLine: line}, journal.Event{}, time.Time{})
		o.Apply(ahp.TerminalCommandFinished{CommandID: id}, journal.Event{}, time.Time{})
	}
	for n := range 2000 {
		run(n, "make")
	}
	before := o
	last := before.Ran[len(before.Ran)-1]
	if len(o.Ran) < 100 || len(o.Ran) > 500 || last.ID != "1999" {
		t.Errorf("of 2000 commands %d are kept, up to %s", len(o.Ran), last.ID)
	}
	for n := range 1000 {
		run(n, strings.Repeat("x", 10_000))
	}
	size := 0
	for _, c := range o.Ran {
		size += len(c.Line)
	}
	if size > 32<<10 || len(o.Ran) < 40 {
		t.Errorf("%d long commands take %d bytes", len(o.Ran), size)
	}
	if got := before.Ran[len(before.Ran)-1].ID; got != "1999" {
		t.Errorf("a copy ends with %s now", got)
	}
	if few := o.Within(1 << 10).Ran; len(few) != 1 || few[0].ID != "999" {
		t.Errorf("of 1 KiB there are %d", len(few))
	}
	o.Apply(ahp.TerminalCleared{}, journal.Event{}, time.Time{})
	if len(o.Ran) != 0 {
		t.Error("what was cleared is listed")
	}
}
