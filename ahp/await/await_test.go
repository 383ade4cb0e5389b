package await_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"termhost/ahp/await"
	"termhost/ahp/history"
	"termhost/authz"
	"termhost/authz/admit"
)

// maxLine is how much of a line that has not ended counts, in bytes.
const maxLine = 64 << 10

// free is the work of a peer whose turn it is always.
type free struct{ ctx context.Context }

func (f *free) Step() error               { return context.Cause(f.ctx) }
func (f *free) Rest()                     {}
func (f *free) Until(ctx context.Context) { f.ctx = ctx }

// stuck is the work of a peer whose turn never comes.
type stuck struct{ free }

func (s *stuck) Step() error {
	<-s.ctx.Done()
	return context.Cause(s.ctx)
}

var (
	ann = peer("ann", func(ctx context.Context) await.Work { return &free{ctx} })
	bob = peer("bob", func(ctx context.Context) await.Work { return &stuck{free{ctx}} })
)

func peer(name string, work func(context.Context) await.Work) await.Peer {
	return await.Peer{Principal: authz.Principal{ID: name, Name: name, Role: authz.Observer}, Work: work}
}

// terminal is a list of waits, with what is retained of the output.
type terminal struct {
	*await.List
	t       *testing.T
	all     *await.Lookers
	shown   [][]byte
	failed  chan []byte // 1 deep
	pending map[*await.Wait]bool
}

// newTerminal returns one that has shown some pieces of output. In the end nothing is left of its
// waits.
func newTerminal(t *testing.T, shown ...string) *terminal {
	x := &terminal{t: t, all: &await.Lookers{}, shown: [][]byte{}, failed: make(chan []byte, 1),
		pending: map[*await.Wait]bool{}}
	for _, s := range shown {
		x.shown = append(x.shown, []byte(s))
	}
	x.List = await.NewList(await.Terminal{Name: func() string { return "x" },
		Retained: func() [][]byte { return x.shown },
		Failed:   func(stack []byte) { x.failed <- stack }}, x.all)
	t.Cleanup(func() {
		for w := range x.pending {
			w.Leave()
		}
		x.all.Wait()
		if left := await.Left(x.all); left != 0 {
			t.Errorf("%d bytes still wait to be looked at", left)
		}
	})
	return x
}

func (x *terminal) join(p await.Peer, f await.For) *await.Wait {
	x.t.Helper()
	w, err := x.Join(f, p)
	if err != nil {
		x.t.Fatal(err)
	}
	x.pending[w] = true
	return w
}

// leave ends a wait, and reports whether it was the last one.
func (x *terminal) leave(w *await.Wait) bool {
	delete(x.pending, w)
	return w.Leave()
}

func (x *terminal) prints(pieces ...string) {
	for _, p := range pieces {
		x.Output([]byte(p))
	}
}

// line returns a pattern that is well formed.
func line(expr string) *history.Pattern {
	p, err := history.NewPattern(expr, false)
	if err != nil {
		panic(err)
	}
	return p
}

// fresh waits for a line that comes.
func fresh(expr string) await.For { return await.For{Match: line(expr), Fresh: true} }

// catchUp returns when all that has come was looked at for a wait.
func catchUp(w *await.Wait) {
	for moved := w.Behind(); moved != nil; moved = w.Behind() {
		<-moved
	}
}

// goesOn checks that a wait has not ended when all that has come was looked at.
func goesOn(t *testing.T, w *await.Wait, when string) {
	t.Helper()
	catchUp(w)
	select {
	case got := <-w.Result():
		t.Errorf("%s: it ends with %+v", when, got)
	default:
	}
}

func TestLinesAreMatchedAcrossPieces(t *testing.T) {
	for _, c := range []struct {
		pieces []string
		expr   string
		want   string // the line; "": none
	}{
		{[]string{"bui", "ld do", "ne"}, "^build done$", "build done"},
		{[]string{"a\nb"}, "^b", "b"},
		{[]string{"x\x1b[1mbold\x1b[m"}, "^xbold$", "xbold"},
		{[]string{"d\x1b[3", "1mone\n"}, "^done$", "done"},
		{[]string{"10%\r20%\r"}, "^20%$", "20%"},
		{[]string{"a\n", "b\n"}, "ab", ""},
		{[]string{"a1\na2\n", "a3\n"}, "a[0-9]", "a1"},
		{[]string{"b\nca", "t\ncut\n"}, "c.t", "cat"},
		{[]string{strings.Repeat("x", 2*maxLine), "end"}, "end$", strings.Repeat("x", maxLine-3) + "end"},
	} {
		x := newTerminal(t)
		w := x.join(ann, fresh(c.expr))
		x.prints(c.pieces...)
		if c.want == "" {
			x.prints("\nTHE END\n")
		}
		x.Exited(0)
		got := <-w.Result()
		if got.Err != nil || (got.Reason == await.Match) != (c.want != "") || got.Line != c.want {
			t.Errorf("%.40q: %s %.80q, %v", c.pieces, got.Reason, got.Line, got.Err)
		}
	}
}

// Of a line that is longer than what counts, each part is looked at before it is dropped.
func TestAMatchInTheMiddleOfALongLineIsFound(t *testing.T) {
	x := newTerminal(t)
	w := x.join(ann, fresh("inside"))
	x.prints(strings.Repeat("x", maxLine)+"in", "side"+strings.Repeat("x", maxLine))
	if got := <-w.Result(); got.Match != "inside" {
		t.Errorf("%s %.80q, %v", got.Reason, got.Match, got.Err)
	}
}

func TestRetainedOutput(t *testing.T) {
	seven := 7
	last := &await.Ended{Reason: await.Command, ExitCode: &seven}
	long := strings.Repeat("0123456789abcdef", maxLine/8)
	for name, c := range map[string]struct {
		shown []string
		f     await.For
		comes string
		want  await.Ended
	}{
		"a line of it": {[]string{"do", "ne\nmore"}, await.For{Match: line("^done$")}, "",
			await.Ended{Reason: await.Match, Line: "done", Match: "done"}},
		"its last line": {[]string{"a\n", "ready"}, await.For{Match: line("read.")}, "",
			await.Ended{Reason: await.Match, Line: "ready", Match: "ready"}},
		"what comes continues it": {[]string{"done\n\x1b[1mhalf a "}, fresh("(done|half a l).*"), "line\n",
			await.Ended{Reason: await.Match, Line: "half a line", Match: "half a line"}},
		"nor does a sequence end": {[]string{"d\x1b[3"}, fresh("^done$"), "1mone\n",
			await.Ended{Reason: await.Match, Line: "done", Match: "done"}},
		"it begins anywhere": {[]string{long, long, "x\n", "hal"}, fresh("^half$"), "f\n",
			await.Ended{Reason: await.Match, Line: "half", Match: "half"}},
		"a command that has ended": {[]string{"a\n"}, await.For{Match: line("b"), Command: true, Last: last}, "",
			*last},
		"a line comes before it": {[]string{"b\n"}, await.For{Match: line("b"), Command: true, Last: last}, "",
			await.Ended{Reason: await.Match, Line: "b", Match: "b"}},
	} {
		x := newTerminal(t, c.shown...)
		w := x.join(ann, c.f)
		if c.comes != "" {
			goesOn(t, w, name)
			x.prints(c.comes)
		}
		if got := <-w.Result(); got.Ended != c.want || got.Err != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Events have their place in the output, though lines are looked for later.
func TestTheFirstThatCameEndsAWait(t *testing.T) {
	three := 3
	for name, c := range map[string]struct {
		f     await.For
		comes func(x *terminal)
		want  await.Reason
	}{
		"any output":            {await.For{Output: true}, func(x *terminal) { x.prints("a") }, await.Output},
		"a command":             {await.For{Command: true}, func(x *terminal) { x.prints("a"); x.Finished(&three) }, await.Command},
		"the end":               {await.For{Command: true}, func(x *terminal) { x.Exited(3) }, await.Exit},
		"the end, for output":   {await.For{Output: true}, func(x *terminal) { x.Finished(nil); x.Exited(3) }, await.Exit},
		"the end, for a line":   {fresh("b"), func(x *terminal) { x.prints("a"); x.Finished(nil); x.Exited(3) }, await.Exit},
		"a line before the end": {fresh("b"), func(x *terminal) { x.prints("b"); x.Exited(3) }, await.Match},
		"a line before a command's end": {await.For{Match: line("b"), Fresh: true, Command: true},
			func(x *terminal) { x.prints("b"); x.Finished(&three) }, await.Match},
		"a line behind it": {await.For{Match: line("b"), Fresh: true, Command: true},
			func(x *terminal) { x.prints("a"); x.Finished(&three); x.prints("b") }, await.Command},
		"a line, or any output": {await.For{Match: line("b"), Fresh: true, Output: true},
			func(x *terminal) { x.prints("a") }, await.Output},
	} {
		x := newTerminal(t)
		w := x.join(ann, c.f)
		goesOn(t, w, name)
		c.comes(x)
		got := <-w.Result()
		if got.Reason != c.want || got.Err != nil {
			t.Errorf("%s: %+v", name, got)
		}
		if ends := c.want == await.Exit || c.want == await.Command; ends && *got.ExitCode != 3 {
			t.Errorf("%s: the exit code is %d", name, *got.ExitCode)
		}
	}
}

func TestOutputIsWaitedForByItsTime(t *testing.T) {
	x := newTerminal(t)
	w := x.join(ann, await.For{})
	if at := w.LastOutput(); !at.IsZero() {
		t.Errorf("nothing has come, and that at %s", at)
	}
	before := time.Now()
	x.prints("a")
	if at := w.LastOutput(); at.Before(before) || at.After(time.Now()) {
		t.Errorf("it came at %s, not after %s", at, before)
	}
	goesOn(t, w, "it waits for the end only")
}

// Waits that begin in the middle of a line do not count what came before.
func TestEqualPatternsAreLookedForOnce(t *testing.T) {
	x := newTerminal(t)
	first, second := x.join(ann, fresh("a.c")), x.join(ann, fresh("a.c"))
	if n := await.Patterns(second); n != 1 {
		t.Errorf("there are %d patterns", n)
	}
	x.prints("abc")
	later := x.join(ann, fresh("a.c"))
	for i, w := range []*await.Wait{first, second} {
		if got := <-w.Result(); got.Line != "abc" || got.Err != nil {
			t.Errorf("wait %d: %+v", i, got)
		}
	}
	goesOn(t, later, "it began behind the line")
	x.prints(" more\nacc")
	if got := <-later.Result(); got.Line != "abc more" || got.Err != nil {
		t.Errorf("the wait that began later: %+v", got)
	}
}

func TestTheLastWaitTakesTheListWithIt(t *testing.T) {
	x := newTerminal(t)
	first, second := x.join(ann, fresh("a")), x.join(ann, await.For{Output: true})
	if x.leave(second) {
		t.Error("one is left")
	}
	x.prints("b")
	if !x.leave(first) {
		t.Error("none is left")
	}
}

// Nobody's turn holds up the terminal, or others.
func TestAnAccountWhoseTurnDoesNotComeHoldsNobodyUp(t *testing.T) {
	x := newTerminal(t)
	slow, quick := x.join(bob, fresh("a")), x.join(ann, fresh("a"))
	other := bob
	other.Budget, other.Work = "another", ann.Work // as an admin's is
	own := x.join(other, fresh("a"))
	x.prints("a\n")
	for by, w := range map[string]*await.Wait{"another account": quick, "another budget": own} {
		if got := <-w.Result(); got.Reason != await.Match {
			t.Errorf("%s: %+v", by, got)
		}
	}
	if slow.Behind() == nil {
		t.Error("it is looked at out of turn")
	}
}

// An account that has too much looked for is told so, and keeps no memory; others go on.
func TestWaitsThatFallTooFarBehindAreToldSo(t *testing.T) {
	x := newTerminal(t)
	slow, quick := x.join(bob, fresh("never")), x.join(ann, fresh("end"))
	text := strings.Repeat("x", 1<<20)
	for range 33 { // MiB
		x.prints(text)
		catchUp(quick)
	}
	var behind *await.BehindError
	if got := <-slow.Result(); !errors.As(got.Err, &behind) || behind.Terminal != "x" {
		t.Errorf("it ends with %+v", got)
	}
	if left := await.Left(x.all); left != 0 {
		t.Errorf("%d bytes are kept for it", left)
	}
	x.prints("\nend\n")
	if got := <-quick.Result(); got.Reason != await.Match {
		t.Errorf("another one's: %+v", got)
	}
}

func TestAnAccountHasSoManyWaitsForLines(t *testing.T) {
	const maxLineWaits = 512
	x := newTerminal(t)
	pattern := line("never")
	var waits []*await.Wait
	for range maxLineWaits {
		waits = append(waits, x.join(ann, await.For{Match: pattern, Fresh: true}))
	}
	var quota *admit.QuotaError
	if _, err := x.Join(fresh("never"), ann); !errors.As(err, &quota) {
		t.Errorf("one too many: %v", err)
	}
	x.join(ann, await.For{Output: true}) // which costs nothing
	x.join(bob, fresh("never"))
	chief := ann
	chief.Principal.Role = authz.Admin
	x.join(chief, fresh("never"))
	x.leave(waits[0])
	x.join(ann, fresh("never"))
}

// failing is work that panics.
type failing struct{ free }

func (*failing) Step() error { panic("it fails") }

func TestALookerThatFailsEndsItsWaits(t *testing.T) {
	x := newTerminal(t)
	eve := peer("eve", func(ctx context.Context) await.Work { return &failing{free{ctx}} })
	bad, good := x.join(eve, fresh("a")), x.join(ann, fresh("a"))
	x.prints("a\n")
	if got := <-bad.Result(); got.Err == nil || strings.Contains(got.Err.Error(), "it fails") {
		t.Errorf("it ends with %+v", got)
	}
	if got := <-good.Result(); got.Reason != await.Match {
		t.Errorf("another one's: %+v", got)
	}
	if stack := <-x.failed; !strings.Contains(string(stack), "failing") {
		t.Errorf("the log has %s", stack)
	}
}

// queued returns a terminal on which a wait for a line has begun, and a peer whose turn comes when
// turn is called: until then all that is printed is queued.
func queued(t *testing.T) (x *terminal, p await.Peer, turn func()) {
	x = newTerminal(t)
	gate := make(chan struct{})
	p = peer("carl", func(ctx context.Context) await.Work { return &gated{free{ctx}, gate} })
	x.join(p, fresh("never"))
	return x, p, func() { close(gate) }
}

// gated is the work of a peer whose turn comes when a channel is closed.
type gated struct {
	free
	turn chan struct{}
}

func (g *gated) Step() error {
	<-g.turn
	return g.free.Step()
}

func TestWhatCameBeforeAWaitDoesNotEndItHoweverLateItIsLookedAt(t *testing.T) {
	for name, comes := range map[string]func(*terminal){
		"a line":    func(x *terminal) { x.prints("b\n") },
		"a command": func(x *terminal) { x.prints("a\n"); x.Finished(nil) },
	} {
		x, p, turn := queued(t)
		comes(x)
		later := x.join(p, await.For{Match: line("b"), Fresh: true, Command: true})
		x.prints("c\n")
		turn()
		goesOn(t, later, name)
	}
}

// Of a line that has not ended, no part is dropped before it was looked at.
func TestALineThatGoesOnForLongIsLookedAtInParts(t *testing.T) {
	x, p, turn := queued(t)
	w := x.join(p, fresh("inside"))
	x.prints(strings.Repeat("x", maxLine)+"inside", strings.Repeat("x", 2*maxLine), "y")
	turn()
	if got := <-w.Result(); got.Match != "inside" {
		t.Errorf("%s %.80q, %v", got.Reason, got.Match, got.Err)
	}
}

// BenchmarkWaits is how long it takes to look at output for 60 waits of one account.
func BenchmarkWaits(b *testing.B) {
	for name, of := range map[string]func(int) await.For{
		"text":   func(i int) await.For { return fresh(fmt.Sprintf("never%d", i)) },
		"equal":  func(int) await.For { return fresh("[nN]ever") },
		"choice": func(i int) await.For { return fresh(fmt.Sprintf("(never|[Nn]o)%d", i)) },
	} {
		b.Run(name, func(b *testing.B) {
			l := await.NewList(await.Terminal{Retained: func() [][]byte { return nil }}, &await.Lookers{})
			var waits []*await.Wait
			for i := range 60 {
				w, err := l.Join(of(i), ann)
				if err != nil {
					b.Fatal(err)
				}
				waits = append(waits, w)
			}
			text := []byte(strings.Repeat("0123456789abcdef and some text that goes on\r\n", 700))
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				l.Output(text)
				catchUp(waits[0])
			}
			for _, w := range waits {
				w.Leave()
			}
		})
	}
}
