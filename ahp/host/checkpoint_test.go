package host_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ptypool/vt"
)

// painter makes up what programs print.
type painter struct{ r *rand.Rand }

func (p painter) pick(list ...string) string { return list[p.r.IntN(len(list))] }

// piece is one thing that a program may print.
func (p painter) piece() string {
	n := func(most int) int { return 1 + p.r.IntN(most) }
	switch p.r.IntN(22) {
	case 0:
		return fmt.Sprintf("\x1b[%d;%dH", n(14), n(45))
	case 1:
		return fmt.Sprintf("\x1b[%d%s", n(5),
			p.pick("A", "B", "C", "D", "E", "F", "G", "d", "X", "P", "@", "L", "M", "S", "T"))
	case 2:
		return fmt.Sprintf("\x1b[%d%s", p.r.IntN(3), p.pick("J", "K"))
	case 3:
		return fmt.Sprintf("\x1b[%d;%d;38;5;%dm", p.r.IntN(10), 30+p.r.IntN(8), p.r.IntN(256))
	case 4:
		return fmt.Sprintf("\x1b[48;2;%d;%d;%dm", p.r.IntN(256), p.r.IntN(256), p.r.IntN(256))
	case 5:
		return p.pick("\x1b[0m", "\x1b[1;4m", "\x1b[7m", "\x1b[27;22m", "\x1b[4:3m")
	case 6:
		top := n(8)
		return fmt.Sprintf("\x1b[%d;%dr", top, top+n(6))
	case 7:
		return "\x1b[r"
	case 8:
		return p.pick("\x1b[?1049h", "\x1b[?1049l", "\x1b[?1049l", "\x1b[?47h", "\x1b[?47l",
			"\x1b[?1047h", "\x1b[?1047l")
	case 9:
		return p.pick("\x1b7", "\x1b8", "\x1b[s", "\x1b[u")
	case 10:
		return p.pick("\x1b[?7l", "\x1b[?7h", "\x1b[4h", "\x1b[4l", "\x1b[?25l", "\x1b[?25h",
			"\x1b[?2004h", "\x1b[?6h", "\x1b[?6l")
	case 11:
		return p.pick("漢字", "👍🏽", "e\u0301", "한글", "🇩🇪", "\u200b", "\u0301")
	case 12:
		return p.pick("\x1b(0qqx\x1b(B", "\x0elq\x0f", "\x1b)0")
	case 13:
		return p.pick("\t", "\x1bH", "\x1b[g", "\x1b[3g", "\b", "\r")
	case 14:
		return p.pick("\x1bM", "\x1bD", "\x1bE", "\n", "\r\n")
	case 15:
		return p.pick("\x1b]8;;http://x/\x1b\\link\x1b]8;;\x1b\\", "\x1b]2;title\x07",
			"\x1b]4;1;#123456\x1b\\", "\x1b[c", "\x1b[6n")
	case 16:
		return p.pick("\x1b]633;C\x07", "\x1b]633;D;0\x07", "\x1b]633;A\x07")
	default:
		return strings.Repeat(p.pick("a", "word ", "xyz", "=", " "), n(30))
	}
}

// sharedTerminal returns a terminal without a program: the test prints.
func sharedTerminal(tb testing.TB, h *host.Host, cols, rows int) *host.Share {
	tb.Helper()
	s, err := door(tb, h, carol, host.DoorSSH).Share(host.ShareOptions{Cols: cols, Rows: rows, Pty: true})
	hosttest.Check(tb, err)
	tb.Cleanup(s.Close)
	return s
}

// prints prints p on a shared terminal.
func prints(tb testing.TB, s *host.Share, p string) {
	tb.Helper()
	_, err := s.Output(tb.Context(), []byte(p))
	hosttest.Check(tb, err)
}

// sameScreen compares a fresh screen after the content with a terminal's.
func sameScreen(t *testing.T, h *host.Host, term *host.Terminal, content string) bool {
	t.Helper()
	st := state(t, h, term)
	want, err := hosttest.Peek(h, eve, term, true)
	hosttest.Check(t, err)
	drawn := vt.New(st.Cols, st.Rows, vt.Options{}) // for what is no text
	v := attach(t, h, eve, term.Name(), host.AttachOptions{Cols: st.Cols, Rows: st.Rows})
	v.a.Close()
	v.c.Close()
	drawn.Feed(v.out, nil)
	fresh := vt.New(st.Cols, st.Rows, vt.Options{})
	fresh.Feed([]byte(content), nil)
	fresh.Flush(nil)
	got := bytes.TrimRight(fresh.AppendText(nil, true), "\n")
	if want = bytes.TrimRight(want, "\n"); !bytes.Equal(got, want) {
		t.Errorf("the content shows\n%q\nthe host's screen is\n%q", got, want)
		return false
	}
	x, y, shown := fresh.Cursor()
	hx, hy, hshown := drawn.Cursor()
	if x != hx || y != hy || shown != hshown || fresh.AltScreen() != drawn.AltScreen() {
		t.Errorf("the cursor is at %d,%d %v, the host's at %d,%d %v; alternate screen %v, %v",
			x, y, shown, hx, hy, hshown, fresh.AltScreen(), drawn.AltScreen())
		return false
	}
	return true
}

func TestTrimmedContentEndsInTheHostsScreen(t *testing.T) {
	t.Parallel()
	const seeds = 4
	for seed := range seeds {
		h, err := host.New(host.Config{ScrollbackBytes: 16 << 10, LogBytes: 128 << 10, MaxExited: 1})
		if err != nil {
			t.Fatal(err)
		}
		shared := sharedTerminal(t, h, 40, 12)
		term := shared.Terminal()
		straight := vt.New(40, 12, vt.Options{}) // gets all that is printed
		p := painter{rand.New(rand.NewPCG(uint64(seed), 7))}
		trimmed, total := 0, 0
		for range 300 {
			var b strings.Builder
			for range 1 + p.r.IntN(60) {
				b.WriteString(p.piece())
			}
			out := b.String()
			total += len(out)
			cut := p.r.IntN(len(out) + 1)
			prints(t, shared, out[:cut])
			prints(t, shared, out[cut:])
			straight.Feed([]byte(out), nil)
			st := state(t, h, term)
			if n := len(text(st)); n > 16<<10+maxSpacing {
				t.Fatalf("seed %d: the content grows to %d bytes", seed, n)
			} else if n < total/2 {
				trimmed++
			}
			if p.r.IntN(8) == 0 && straight.Pending() {
				continue // in the middle of a sequence
			}
			if !sameScreen(t, h, term, text(st)) {
				t.Fatalf("seed %d", seed)
			}
		}
		if trimmed == 0 {
			t.Errorf("seed %d: nothing was trimmed of %d bytes", seed, total)
		}
		if err := h.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCheckpointsCostLittleOnALargeScreen(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, func(c *host.Config) { c.ScrollbackBytes = 64 << 10 })
	shared := sharedTerminal(t, h, host.MaxCols, host.MaxRows)
	line := strings.Repeat("\x1b[31mx\x1b[32my", 80) + "\r\n"
	for range 3000 {
		prints(t, shared, line)
	}
	st := state(t, h, shared.Terminal())
	if n := len(text(st)); n > 64<<10+2*maxSpacing+1<<20 {
		t.Errorf("the content is %d bytes", n)
	}
	if !sameScreen(t, h, shared.Terminal(), text(st)) {
		t.Fatal("not the same screen")
	}
}

func TestAStreamSeesTrimmedContentFromItsBeginning(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, func(c *host.Config) { c.ScrollbackBytes = 64 << 10 })
	term := run(t, h, carol, "x",
		`stty -opost; printf '\033[?1049h\033[31m\033[3;5r'; yes 'text in red' | head -c 300000; printf THE-END; read x`)
	awaitOutput(t, h, term, "THE-END")
	v := attach(t, h, eve, "x", host.AttachOptions{})
	if !sameScreen(t, h, term, string(v.out)) {
		t.Error("a late viewer's stream shows something else")
	}
}
