package host

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"termhost/ahp"
	"termhost/ahp/hosttest/slowtest"
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

// fedTerminal is a terminal of the host whose program is the test.
func fedTerminal(t testing.TB, h *Host, cols, rows int) *Terminal {
	t.Helper()
	exec := &serverExecutor{}
	term := &Terminal{host: h, created: h.now(), creator: carol, exec: exec,
		started: make(chan struct{}), done: make(chan struct{}), gone: make(chan struct{})}
	exec.t = term
	o := CreateOptions{Name: fmt.Sprintf("fed-%p", term), Cols: cols, Rows: rows,
		Claim: ahp.ClientClaim("c")}
	if err := h.register(term, o, "/", ""); err != nil {
		t.Fatal(err)
	}
	screen := vt.Options{ScrollbackLines: 100}
	if _, err := h.pool.Virtual(cols, rows, screen, silent{events{term}}); err != nil {
		t.Fatal(err)
	}
	return term
}

// silent gives no answers: there is no program that asks.
type silent struct{ events }

func (silent) Reply([]byte) {}

func (t *Terminal) prints(p []byte) {
	t.term.Lock()
	defer t.term.Unlock()
	t.term.Feed(p)
}

// sameScreen compares what a fresh terminal shows after the content with the host's screen.
func sameScreen(t *testing.T, term *Terminal, content []byte) bool {
	t.Helper()
	term.term.Lock()
	defer term.term.Unlock()
	host := term.term.Screen()
	cols, rows := host.Size()
	fresh := vt.New(cols, rows, vt.Options{})
	fresh.Feed(content, nil)
	fresh.Flush(nil)
	got, want := fresh.AppendText(nil, true), host.AppendText(nil, true)
	if string(got) != string(want) {
		t.Errorf("the content shows\n%q\nthe host's screen is\n%q", got, want)
		return false
	}
	x, y, shown := fresh.Cursor()
	hx, hy, hshown := host.Cursor()
	if x != hx || y != hy || shown != hshown || fresh.AltScreen() != host.AltScreen() {
		t.Errorf("the cursor is at %d,%d %v, the host's at %d,%d %v; alternate screen %v, %v",
			x, y, shown, hx, hy, hshown, fresh.AltScreen(), host.AltScreen())
		return false
	}
	return true
}

func TestTrimmedContentEndsInTheHostsScreen(t *testing.T) {
	t.Parallel()
	seeds := 12
	if !slowtest.On() {
		seeds = 4
	}
	for seed := range seeds {
		h, err := New(Config{ScrollbackBytes: 16 << 10, LogBytes: 128 << 10, MaxExited: 1})
		if err != nil {
			t.Fatal(err)
		}
		term := fedTerminal(t, h, 40, 12)
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
			term.prints([]byte(out[:cut]))
			term.prints([]byte(out[cut:]))
			st, _ := term.ch.Terminal()
			if n := len(text(st)); n > 16<<10+maxSpacing {
				t.Fatalf("seed %d: the content grows to %d bytes", seed, n)
			} else if n < total/2 {
				trimmed++
			}
			if p.r.IntN(8) == 0 && !settled(term) {
				continue // in the middle of a sequence
			}
			if !sameScreen(t, term, []byte(text(st))) {
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

func settled(t *Terminal) bool {
	t.term.Lock()
	defer t.term.Unlock()
	return !t.term.Screen().Pending()
}

func TestCheckpointsCostLittleOnALargeScreen(t *testing.T) {
	t.Parallel()
	h := newHost(t, func(c *Config) { c.ScrollbackBytes = 64 << 10 })
	term := fedTerminal(t, h, MaxCols, MaxRows)
	line := strings.Repeat("\x1b[31mx\x1b[32my", 80) + "\r\n"
	for range 3000 {
		term.prints([]byte(line))
	}
	st, _ := term.ch.Terminal()
	if n := len(text(st)); n > 64<<10+2*maxSpacing+1<<20 {
		t.Errorf("the content is %d bytes", n)
	}
	if !sameScreen(t, term, []byte(text(st))) {
		t.Fatal("not the same screen")
	}
}

func TestAStreamSeesTrimmedContentFromItsBeginning(t *testing.T) {
	t.Parallel()
	h := newHost(t, func(c *Config) { c.ScrollbackBytes = 64 << 10 })
	term := run(t, h, carol, "x",
		`stty -opost; printf '\033[?1049h\033[31m\033[3;5r'; yes 'text in red' | head -c 300000; printf THE-END; read x`)
	term.awaitOutput(t, "THE-END")
	v := attach(t, h, eve, "x", AttachOptions{})
	if !sameScreen(t, term, v.out) {
		t.Error("a late viewer's stream shows something else")
	}
}
