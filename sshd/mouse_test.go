package sshd

import (
	"strings"
	"testing"
)

// pixelMouse asks for sizes and for the mouse in pixels, and shows what it is sent.
const pixelMouse = `new -n work -- stty raw -echo; printf '\033[14t\033[16t\033[18t\033[?1016$p` +
	`\033[?1003;1006;1016h\033[?1016$pready'; exec cat -v`

func TestThePixelsOfTheHoldersWindowAreTheProgramsMouseAndSizes(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	p := r.askFor(r.dial("alice"), 800, 504, "\x00", pixelMouse)
	p.sees("^[[4;504;800t^[[6;21;10t^[[8;24;80t^[[?1016;2$y^[[?1016;1$y")
	p.sees("\x1b[?1016h")
	p.typeIn("\x1b[<35;123;45M")
	p.sees("^[[<35;123;45M")

	// Another font: the key gives the terminal this window's pixels.
	other := r.askFor(r.dial("alice"), 1600, 1008, "\x00", "attach work")
	other.sees("\x1b[?1016h")
	other.typeIn("\x1b[<0;246;90M")
	p.sees("^[[<0;123;45M")
	other.typeIn("K\x1b[<0;246;90M")
	p.sees("K^[[<0;246;90M")
	p.typeIn("\x1b[<0;123;45m")
	p.sees("^[[<0;245;89m")

	// One that says it cannot, or whose pixels are unknown, reports cells.
	for _, c := range []struct {
		width, height uint32
		says          string
	}{{0, 0, ""}, {800, 504, "\x1b[?1016;0$y"}, {800, 504, ""}} {
		cells := r.askFor(r.dial("alice"), c.width, c.height, "\x00", "attach work")
		cells.sees("ready")
		if c.width > 0 {
			cells.typeIn("\x1bP>|a terminal\x1b\\\x1b[?62c")
			cells.sees("\x1b[?1016$p\x1b[?2027$p\x1b[c")
			c.says += "\x1b[?62c"
		}
		cells.typeIn(c.says + "\x1b[<0;13;3M")
		p.sees("^[[<0;251;106M") // the middle of the cell
		cells.typeIn("\x1cd")
		cells.sees("\x1b[?2031l")
	}
	p.typeIn("\x1cd")
	p.sees("\x1b[?2031l")
	if out := p.out.all(); strings.LastIndex(out, "1016h") > strings.LastIndex(out, "1016;2004l") {
		t.Error("the mouse reports pixels after the detach")
	}
}

func TestWhereThePixelsAreUnknownNoneAreInvented(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	p := r.askFor(r.dial("alice"), 0, 0, "\x00", pixelMouse)
	p.sees("^[[8;24;80t^[[?1016;0$y^[[?1016;0$y")
	p.typeIn("\x1b[<35;13;3M")
	p.sees("^[[<35;13;3M")
	if out := p.out.all(); strings.Contains(out, "1016h") {
		t.Errorf("the viewer's terminal was told to report pixels: %q", out)
	}
	// With the holder's window they become known, and with it they are gone.
	other := r.askFor(r.dial("alice"), 800, 504, "\x00", "attach work")
	other.sees("ready")
	other.typeIn("K")
	other.sees("\x1b[?1016h")
	other.typeIn("\x1b[<0;123;45M")
	p.sees("K^[[<0;123;45M")
	p.typeIn("L\x1b[<0;13;3M")
	other.sees("\x1b[?1016l\x1b[?1006h")
	p.sees("L^[[<0;13;3M")
}
