package pagetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"termhost/ahp/hosttest/slowtest"
	"termhost/ptypool/keyboard"
)

// keyPress is a key of a browser, and the key that a program is to read.
type keyPress struct {
	key, code string
	vk        int64
	read      keyboard.Key
}

// pressKey presses a key so many times, as one that is held repeats, and lets it go.
func (p *tab) pressKey(k keyPress, times int) {
	p.t.Helper()
	e := input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeRawKeyDown, Key: k.key, Code: k.code,
		WindowsVirtualKeyCode: k.vk, Modifiers: modifiersOf(k.read.Mods)}
	if plain := k.read.Mods&^keyboard.Shift == 0; plain && len([]rune(k.key)) == 1 {
		e.Type, e.Text, e.UnmodifiedText = input.DispatchKeyEventTypeKeyDown, k.key, k.key
	} else if plain && k.key == "Enter" {
		e.Type, e.Text, e.UnmodifiedText = input.DispatchKeyEventTypeKeyDown, "\r", "\r"
	}
	for range times {
		p.run(devtools(input.DispatchKeyEvent, e))
		e.AutoRepeat = new(true)
	}
	e.Type, e.Text, e.UnmodifiedText, e.AutoRepeat = input.DispatchKeyEventTypeKeyUp, "", "", nil
	p.run(devtools(input.DispatchKeyEvent, e))
}

// modifiersOf returns modifiers as the browser's protocol has them.
func modifiersOf(m keyboard.Mods) (is int64) {
	for mod, bit := range map[keyboard.Mods]int64{keyboard.Alt: 1, keyboard.Ctrl: 2, keyboard.Shift: 8} {
		if m&mod != 0 {
			is |= bit
		}
	}
	return is
}

// catV returns what cat -v makes of bytes.
func catV(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		switch {
		case c == 0x7f:
			b.WriteString("^?")
		case c < ' ':
			b.WriteString("^" + string(rune(c+'@')))
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// asking opens a page on a program that has asked for flags of kitty's protocol, and shows its keys.
func (s *site) asking(flags int) (p *tab, name string) {
	s.t.Helper()
	name = fmt.Sprintf("flags-%d", flags)
	s.ssh("new", "-d", "-n", name, "--", fmt.Sprintf(`stty raw -echo; printf '\033[>%du<0>'; exec cat -v`, flags))
	p = s.open(s.ticket(name) + "&debug=screen").ready()
	p.shows(name, "<0>")
	p.takes(name)
	p.run(chromedp.Focus(chromedp.CSS(fmt.Sprintf(`[data-terminal=%q] textarea`, name))))
	return p, name
}

// reads waits until a program has shown exactly this behind its first word.
func (p *tab) reads(name, want string) {
	p.t.Helper()
	p.until(fmt.Sprintf(`document.querySelector('[data-screen]').dataset.screen.replaceAll('\n', '').trimEnd().endsWith(%q)`,
		"<0>"+want))
}

// Programs that ask for kitty's keyboard protocol get from the page what they get from a terminal
// that has it: Shift+Enter is none that sends a prompt.
func TestThePageHasKittysKeyboardProtocol(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	const shift, alt, ctrl = keyboard.Shift, keyboard.Alt, keyboard.Ctrl
	keys := []keyPress{
		{"Enter", "Enter", 13, keyboard.Key{Code: keyboard.Enter}},
		{"Enter", "Enter", 13, keyboard.Key{Code: keyboard.Enter, Mods: shift}},
		{"Enter", "Enter", 13, keyboard.Key{Code: keyboard.Enter, Mods: ctrl}},
		{"Tab", "Tab", 9, keyboard.Key{Code: keyboard.Tab, Mods: shift}},
		{"Backspace", "Backspace", 8, keyboard.Key{Code: keyboard.Backspace, Mods: alt}},
		{"Escape", "Escape", 27, keyboard.Key{Code: keyboard.Escape}},
		{"a", "KeyA", 65, keyboard.Key{Code: 'a'}},
		{"A", "KeyA", 65, keyboard.Key{Code: 'a', Mods: shift}},
		{"c", "KeyC", 67, keyboard.Key{Code: 'c', Mods: ctrl}},
		{"i", "KeyI", 73, keyboard.Key{Code: 'i', Mods: ctrl}},
		{"M", "KeyM", 77, keyboard.Key{Code: 'm', Mods: ctrl | shift}},
		{"x", "KeyX", 88, keyboard.Key{Code: 'x', Mods: alt}},
		{" ", "Space", 32, keyboard.Key{Code: ' ', Mods: ctrl}},
		{"ArrowUp", "ArrowUp", 38, keyboard.Key{Code: keyboard.Up}},
		{"ArrowLeft", "ArrowLeft", 37, keyboard.Key{Code: keyboard.Left, Mods: ctrl}},
		{"Delete", "Delete", 46, keyboard.Key{Code: keyboard.Delete, Mods: shift}},
		{"F3", "F3", 114, keyboard.Key{Code: keyboard.F1 + 2}},
		{"F4", "F4", 115, keyboard.Key{Code: keyboard.F1 + 3, Mods: alt}},
	}
	const disambiguate, alternates, all, text = 1, 4, 8, 16
	for _, flags := range []int{disambiguate, disambiguate | alternates, disambiguate | alternates | all | text} {
		p, name := s.asking(flags)
		want := ""
		for _, k := range keys {
			p.pressKey(k, 1)
			want += string(k.read.Append(nil, keyboard.Modes{Kitty: uint8(flags)}))
		}
		p.reads(name, catV(want))
	}
}

// A program that wants to be told when keys are let go is, and of none that the page keeps.
func TestThePageTellsWhenAKeyIsLetGo(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	p, name := s.asking(1 | 2)
	prefix := keyPress{"\\", "Backslash", 220, keyboard.Key{Code: '\\', Mods: keyboard.Ctrl}}
	p.pressKey(keyPress{"Escape", "Escape", 27, keyboard.Key{}}, 2)
	p.pressKey(keyPress{"a", "KeyA", 65, keyboard.Key{}}, 1)
	p.pressKey(keyPress{"Enter", "Enter", 13, keyboard.Key{}}, 1)
	p.pressKey(keyPress{"ArrowUp", "ArrowUp", 38, keyboard.Key{}}, 1)
	p.pressKey(prefix, 1)
	p.pressKey(keyPress{"Escape", "Escape", 27, keyboard.Key{}}, 1)
	p.pressKey(prefix, 1)
	p.pressKey(prefix, 1)
	p.pressKey(keyPress{"z", "KeyZ", 90, keyboard.Key{}}, 1)
	p.reads(name, catV("\x1b[27u\x1b[27;1:2u\x1b[27;1:3u"+"a\x1b[97;1:3u"+"\r"+"\x1b[A\x1b[1;1:3A"+
		"\x1b[92;5u"+"z\x1b[122;1:3u"))
}

// The alternate screen has flags of its own, and a terminal that is reset has none.
func TestThePageHasTheFlagsOfTheScreenThatIsShown(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "two", "--", `stty raw -echo; printf '\033[>1u'; `+
		`printf '\033[?1049h<1>'; dd bs=1 count=1 2>/dev/null | cat -v; printf '\033[?1049l<2>'; `+
		`dd bs=1 count=5 2>/dev/null | cat -v; printf '\033c<3>'; exec cat -v`)
	p := s.open(s.ticket("two") + "&debug=screen").ready()
	escape := keyPress{"Escape", "Escape", 27, keyboard.Key{}}
	p.shows("two", "<1>")
	p.takes("two")
	p.run(chromedp.Focus(chromedp.CSS(`[data-terminal=two] textarea`)))
	p.pressKey(escape, 1)
	p.shows("two", "<2>")
	p.pressKey(escape, 1)
	p.shows("two", "<3>")
	p.pressKey(escape, 1)
	p.keys("x")
	p.shows("two", "<3>^[x")

	// Who looks later has the flags as well.
	s.ssh("new", "-d", "-n", "later", "--", `stty raw -echo; printf '\033[>1uready'; exec cat -v`)
	p = s.open(s.ticket("later") + "&debug=screen").ready()
	p.shows("later", "ready")
	p.takes("later")
	p.run(chromedp.Focus(chromedp.CSS(`[data-terminal=later] textarea`)))
	p.pressKey(escape, 1)
	p.shows("later", "ready^[[27u")
}
