package pagetest

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"termhost/ahp/hosttest/slowtest"
)

// TestAPasteArrivesExactly pastes a megabyte into programs that tell its SHA-256: one that has
// asked to be told what is pasted, and one that has not, where the person is asked.
func TestAPasteArrivesExactly(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	var text strings.Builder
	for i := 0; text.Len() < 1<<20; i++ {
		fmt.Fprintf(&text, "%d: a line with äöü, 日本語, 👩‍👩‍👧 and a tab\t.\r\n", i)
	}
	sent := strings.ReplaceAll(text.String(), "\r\n", "\r") // as Enter does, with which a line is typed
	program := func(name, mode, sent string) {
		s.ssh("new", "-d", "-n", name, "--", fmt.Sprintf(
			`stty raw -echo; printf '%sready\r\n'; head -c %d | sha256sum; IFS= read -r -n 1 key; printf "then <$key>\r\n"; exec cat`,
			mode, len(sent)))
	}
	bracketed := "\x1b[200~" + sent + "\x1b[201~"
	program("bracketed", `\033[?2004h`, bracketed)
	program("plain", "", sent)
	p := s.open(s.ticket("bracketed", "plain") + "&debug=screen").ready()
	for _, c := range []struct{ name, want string }{{"bracketed", bracketed}, {"plain", sent}} {
		p.click("tab", c.name)
		p.shows(c.name, "ready")
		p.takes(c.name)
		p.pastes(c.name, text.String())
		if c.name == "plain" {
			p.until(`document.querySelector('dialog')?.innerText.includes('Paste ')`)
			p.shot("paste")
			p.run(chromedp.Click(`//dialog//button[.="Paste"]`))
		}
		p.shows(c.name, fmt.Sprintf("%x", sha256.Sum256([]byte(c.want))))
		p.run(chromedp.Focus(chromedp.CSS(fmt.Sprintf(`[data-terminal=%q] textarea`, c.name))))
		p.keys("x") // behind it comes what is typed behind it
		p.shows(c.name, "then <x>")
	}
}

// TestAPasteEndsWhereItEnds pastes what would leave the brackets early, so that the rest would
// count as typed, and what stands for the page's own prefix key.
func TestAPasteEndsWhereItEnds(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "work", "--", `stty raw -echo; printf '\033[?2004hready\r\n'; exec cat -v`)
	p := s.open(s.ticket("work") + "&debug=screen").ready()
	p.shows("work", "ready")
	p.takes("work")
	for _, c := range []struct{ text, shown string }{
		{"one\x1b[201~ two", "^[[200~one two^[[201~"},
		{"three\x1b[20\x1b[201~1~four", "^[[200~three[201~four^[[201~"},
		{"\x1c", `^[[200~^\^[[201~`},
		{"it ends", "^[[200~it ends^[[201~"},
	} {
		p.pastes("work", c.text)
		p.until(fmt.Sprintf(`document.querySelector('[data-screen]').dataset.screen.replaceAll('\n', '').includes(%q)`, c.shown))
	}
}

// echoing starts a program that shows what it is sent, with ~ for DEL and $ for CR, and takes its
// keyboard.
func (s *site) echoing(name string, o ...func(*tab)) *echo {
	s.t.Helper()
	s.ssh("new", "-d", "-n", name, "--", `stty raw -echo; printf '<0>'; exec stdbuf -o0 tr '\177\r' '~$'`)
	p := s.open("about:blank")
	for _, prepare := range o {
		prepare(p)
	}
	p.run(chromedp.Navigate(s.ticket(name) + "&debug=screen"))
	p.ready()
	p.shows(name, "<0>")
	p.takes(name)
	return &echo{tab: p, name: name}
}

// echo is a page that types into such a program.
type echo struct {
	*tab
	name  string
	marks int
}

// has waits until the program has been sent exactly this since the last time.
func (e *echo) has(want string) {
	e.t.Helper()
	e.run(chromedp.Focus(chromedp.CSS(fmt.Sprintf(`[data-terminal=%q] textarea`, e.name))))
	from, to := fmt.Sprintf("<%d>", e.marks), fmt.Sprintf("<%d>", e.marks+1)
	e.marks++
	e.keys(to)
	e.shows(e.name, to)
	screen := strings.ReplaceAll(e.screen(e.name), "\n", "")
	_, screen, _ = strings.Cut(screen, from)
	if got, _, _ := strings.Cut(screen, to); got != want {
		e.t.Errorf("the program has got %q, want %q", got, want)
	}
}

// composed sends what the browser's input method does with a key: the key itself is none of a
// character's, and the text that is being composed changes.
func (p *tab) composed(key, text string) {
	p.t.Helper()
	at := int64(len(utf16.Encode([]rune(text))))
	p.run(devtools(input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeRawKeyDown,
		Key: key, WindowsVirtualKeyCode: 229}),
		devtools(input.ImeSetComposition, input.ImeSetCompositionParams{Text: text, SelectionStart: at, SelectionEnd: at}),
		devtools(input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyUp, Key: key, WindowsVirtualKeyCode: 229}))
	eval[bool](p, `new Promise((done) => setTimeout(() => done(true)))`) // nobody types faster than that
}

// inserted ends the composition with a text, or inserts one.
func (p *tab) inserted(key, text string) {
	p.t.Helper()
	p.run(devtools(input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeRawKeyDown,
		Key: key, WindowsVirtualKeyCode: 229}),
		devtools(input.InsertText, input.InsertTextParams{Text: text}),
		devtools(input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyUp, Key: key, WindowsVirtualKeyCode: 229}))
}

func TestComposedTextArrivesOnce(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	e := s.echoing("work")
	e.keys("a")
	e.has("a")
	for _, text := range []string{"n", "に", "にh", "にほ", "にほn", "にほん", "日本"} {
		e.composed("Process", text)
	}
	e.shot("composing")
	e.inserted("Process", "日本")
	e.has("日本")
	for _, text := range []string{"g", "ご"} {
		e.composed("Process", text)
	}
	e.inserted("Process", "語")
	e.keys("b")
	e.has("語b")
	// One that is given up.
	e.composed("Process", "x")
	e.composed("Process", "")
	e.has("")
	// A picker of emoji inserts without a composition.
	e.run(devtools(input.InsertText, input.InsertTextParams{Text: "👩‍👩‍👧"}))
	e.has("👩‍👩‍👧")
}

// recomposed takes up again what was inserted, from one UTF-16 unit to another, and composes text
// there.
func (e *echo) recomposed(key string, from, to int64, text string) {
	e.t.Helper()
	at := int64(len(utf16.Encode([]rune(text))))
	e.run(devtools(input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeRawKeyDown,
		Key: key, WindowsVirtualKeyCode: 229}),
		devtools(input.ImeSetComposition, input.ImeSetCompositionParams{Text: text, SelectionStart: at, SelectionEnd: at,
			ReplacementStart: &from, ReplacementEnd: &to}),
		devtools(input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyUp, Key: key, WindowsVirtualKeyCode: 229}))
}

// TestGboardTextArrivesOnce goes through what Gboard does: it composes each word, corrects it when
// the space comes, and takes it up again when something before the cursor is deleted or chosen from
// its suggestions. No character is lost or doubled (xterm.js#3600).
func TestGboardTextArrivesOnce(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	e := s.echoing("work")
	const key = "Unidentified"
	for _, text := range []string{"h", "he", "hel", "hell", "hello"} {
		e.composed(key, text)
	}
	e.inserted(key, "hello")
	e.inserted(key, " ")
	for _, text := range []string{"t", "te", "teh"} {
		e.composed(key, text)
	}
	e.inserted(key, "the") // corrected
	e.inserted(key, " ")
	e.has("hello teh~~he ")

	// A word that was there is taken up again: only what changes is sent.
	for _, text := range []string{"l", "ls"} {
		e.composed(key, text)
	}
	e.inserted(key, "ls")
	e.inserted(key, " ")
	e.recomposed(key, 2, 3, "")
	e.recomposed(key, 0, 2, "ls")
	e.composed(key, "l")
	e.composed(key, "lsof")
	e.inserted(key, "lsof")
	e.keys("\r")
	e.has("ls ~~sof$")
}

// TestDeadKeysAndAltGrTypeOneCharacter types what takes more than one key on many keyboards, as
// Chromium tells of it on Linux and on Windows, where AltGr counts as Ctrl with Alt.
func TestDeadKeysAndAltGrTypeOneCharacter(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	const ctrlAlt = 2 | 1
	for _, c := range []struct {
		platform string
		altGr    int64 // the modifiers while it is down
	}{{"Linux x86_64", 0}, {"Win32", ctrlAlt}} {
		e := s.echoing(strings.ToLower(c.platform[:3]), func(p *tab) {
			p.run(devtools(emulation.SetUserAgentOverride, emulation.SetUserAgentOverrideParams{
				UserAgent: "Mozilla/5.0 (" + c.platform + ") Chrome/140", Platform: c.platform}))
		})
		press := func(key, code, text string, vk, modifiers int64) {
			kind := input.DispatchKeyEventTypeKeyDown
			if text == "" {
				kind = input.DispatchKeyEventTypeRawKeyDown
			}
			e.run(devtools(input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: kind, Key: key, Code: code, Text: text,
				UnmodifiedText: text, WindowsVirtualKeyCode: vk, Modifiers: modifiers}),
				devtools(input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyUp, Key: key, Code: code,
					WindowsVirtualKeyCode: vk, Modifiers: modifiers}))
		}
		press("Dead", "Equal", "", 220, 0)
		press("é", "KeyE", "é", 69, 0)
		e.has("é")
		press("Dead", "Backquote", "", 192, 0)
		press("^", "Space", "^", 32, 0)
		e.has("^")
		press("AltGraph", "AltRight", "", 18, c.altGr)
		press("@", "KeyQ", "@", 81, c.altGr)
		press("\\", "Minus", "\\", 189, c.altGr)
		press("€", "KeyE", "€", 69, c.altGr)
		e.has("@\\€")
		press("ß", "Minus", "ß", 189, 0)
		press("Ä", "Quote", "Ä", 222, 8)
		e.has("ßÄ")
	}
}

// onMac has a page take its computer for a Mac.
func onMac(p *tab) {
	p.t.Helper()
	p.run(devtools(emulation.SetUserAgentOverride, emulation.SetUserAgentOverrideParams{
		UserAgent: "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
		Platform:  "MacIntel"}))
	answer(p, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
		Source: `addEventListener('keydown', (e) => { window.lastKey = e }, true)`})
}

// optionKey presses a key with a Mac's Option key, which makes it a character. Chromium on Linux
// sends no keypress for a character with Alt, so that it comes without.
func (p *tab) optionKey(code, character string, windowsKey int64) {
	p.t.Helper()
	const alt = 1
	e := input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeRawKeyDown, Code: code, Key: character,
		Modifiers: alt, WindowsVirtualKeyCode: windowsKey}
	char, up := e, e
	char.Type, char.Text, char.UnmodifiedText, char.Modifiers = input.DispatchKeyEventTypeChar, character, character, 0
	up.Type = input.DispatchKeyEventTypeKeyUp
	p.run(devtools(input.DispatchKeyEvent, e))
	if !eval[bool](p, "lastKey.defaultPrevented") {
		p.run(devtools(input.DispatchKeyEvent, char))
	}
	p.run(devtools(input.DispatchKeyEvent, up))
}

// On a Mac the Option key composes characters, without which no German types an @, unless the
// person has it be Meta.
func TestAMacsOptionKey(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	const setting = `[...document.querySelectorAll('dialog label.check')].find((l) => l.innerText.includes('Option key'))`
	e := s.echoing("work", onMac)
	e.optionKey("KeyL", "@", 'L')
	e.optionKey("Digit5", "[", '5')
	e.composed("Dead", "˜")
	e.inserted("n", "ñ")
	e.keys("b")
	e.has("@[ñb")

	s.ssh("new", "-d", "-n", "meta", "--", `stty raw -echo; printf ready; exec cat -v`)
	p := s.open("about:blank")
	onMac(p)
	p.run(chromedp.Navigate(s.ticket("meta") + "&debug=screen"))
	p.ready()
	p.takes("meta")
	p.click("button", "Settings")
	p.run(chromedp.Evaluate[chromedp.Void](setting + `.querySelector('input').click()`))
	p.click("button", "Done")
	p.run(chromedp.Focus(chromedp.CSS(`[data-terminal=meta] textarea`)))
	p.optionKey("KeyB", "∫", 'B')
	p.optionKey("KeyF", "ƒ", 'F')
	p.keys("x")
	p.shows("meta", "ready^[b^[fx")

	other := s.open(s.ticket()).ready() // no Mac
	other.click("button", "Settings")
	other.until(`document.querySelector('dialog label.check')`)
	if eval[bool](other, "!!"+setting) {
		t.Error("a computer without an Option key has a setting for it")
	}
}
