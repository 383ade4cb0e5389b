package host_test

import (
	"strings"
	"testing"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
)

// What is printed takes as many cells after a restart as it did when it came: the log has when mode
// 2027 was known.
func TestClustersTakeAsManyCellsAfterARestartAsBefore(t *testing.T) {
	t.Parallel()
	const family = "👩\u200d👩\u200d👧"
	h := hosttest.New(t)
	term, err := hosttest.Create(h, carol, host.CreateOptions{Name: "x", Cols: 40, Rows: 5,
		Argv: sh(`stty -icanon -echo; printf '\033[?2027h` + family + `\033[10Gone\n'; ` +
			`head -c 1 >/dev/null; printf '` + family + `\033[10Gtwo\n'; ` +
			`head -c 1 >/dev/null; printf '` + family + `\033[10Gthree'; exec cat`)})
	hosttest.Check(t, err)
	v := attach(t, h, carol, "x", host.AttachOptions{Cols: 40, Rows: 5})
	v.shows("one")
	v.a.SetClusters(true)
	hosttest.Check(t, v.a.Input([]byte("x")))
	v.shows("two")
	v.a.SetClusters(false)
	hosttest.Check(t, v.a.Input([]byte("x")))
	v.shows("three")
	was := logged(t, h, term)
	for _, line := range []string{family + "   one\n", family + "       two\n", family + "   three\n"} {
		if !strings.Contains(was.screen, line) {
			t.Errorf("%q is not on the screen %q", line, was.screen)
		}
	}
	later := after(t, killed(t, h))
	is := logged(t, later, find(t, later, "x"))
	content, _, _ := strings.Cut(is.json, `"lifecycle"`)
	if is.screen != was.screen || !strings.HasPrefix(was.json, content) {
		t.Errorf("the screen is\n%s\nand the content %s\nnot\n%s\nand %s", is.screen, content,
			was.screen, was.json)
	}
}
