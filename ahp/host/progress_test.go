package host_test

import (
	"strings"
	"testing"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/store"
)

func TestProgressIsInTheRootListUntilItsProgramEnds(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	p := connect(t, h, carol, "c")
	p.follow("ahp-root:")
	is := func(want ahp.Progress) {
		t.Helper()
		p.until("the progress", func(e *store.Entry) bool {
			l, ok := e.Action().(ahp.RootTerminalsChanged)
			return ok && len(l.Terminals) == 1 && l.Terminals[0].Termhost.Progress == want
		})
	}
	term := run(t, h, carol, "x", `stty -icanon -echo; head -c 1 >/dev/null; printf '\033]9;4;1;42\a\033['; `+
		`head -c 1 >/dev/null; printf 'm\033]9;4;2\a'; head -c 1 >/dev/null`)
	v := attach(t, h, carol, "x", host.AttachOptions{Cols: 80, Rows: 24})
	for _, want := range []ahp.Progress{{State: "normal", Percent: 42}, {State: "error", Percent: 42}, {}} {
		hosttest.Check(t, v.a.Input([]byte("x")))
		is(want)
		if want.State == "normal" { // what is held back changes nothing when it is released
			v.until("that", func(out string) bool { return strings.HasSuffix(out, "\x1b[") })
		}
	}
	wait(t, "the exit", term.Done())
	// Those who follow the output, too, are told that it is over.
	if got := logged(t, h, term).json; !strings.Contains(got, `\u001b]9;4;2\u0007\u001b]9;4;0\u001b\\`) {
		t.Errorf("the content is %s", got)
	}
}
