package pagetest

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/creack/pty"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// window is a terminal of 80x24 in which a person uses ssh.
type window struct {
	tty   *os.File
	shown hosttest.Log
	read  int // how much of it, without escapes, has been waited for
}

// attaches shows a terminal to a person with ssh.
func (s *site) attaches(name string) *window {
	s.t.Helper()
	return s.attachedBy([]string{"-tt", "-F", filepath.Join(s.dir, "ssh_config"), "host", "attach", name})
}

// attachedBy is attaches with other arguments of ssh.
func (s *site) attachedBy(args []string) *window {
	s.t.Helper()
	cmd := exec.Command("ssh", args...)
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 80, Rows: 24})
	hosttest.Check(s.t, err)
	w, ended := &window{tty: tty}, make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(&w.shown, tty) // up to ssh's end, which is an error
		_ = cmd.Wait()
	}()
	s.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
		_ = tty.Close()
	})
	return w
}

// sequences matches what a person does not see: control sequences and the like.
var sequences = regexp.MustCompile(`\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][A-Z0-9]|\x1b[=>78MDEHc]|\r`)

// shows waits until the person has been shown a text since the last one.
func (w *window) shows(t testing.TB, text string) {
	t.Helper()
	hosttest.Eventually(t, "the person sees "+text, func() bool {
		shown := sequences.ReplaceAllString(w.shown.String(), "")
		at := strings.Index(shown[min(w.read, len(shown)):], text)
		if at >= 0 {
			w.read += at + len(text)
		}
		return at >= 0
	})
}

// types types with ssh.
func (w *window) types(t testing.TB, text string) {
	t.Helper()
	_, err := w.tty.WriteString(text)
	hosttest.Check(t, err)
}

// TestAPageAndSSHAskEachOtherForTheKeyboard has each side ask and be asked, and the page turn the
// terminal's guard on and off.
func TestAPageAndSSHAskEachOtherForTheKeyboard(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "build")
	person := s.attaches("build")
	person.shows(t, "#")
	p := s.open(s.ticket("build") + "&debug=screen").ready()
	p.shows("build", "# ")
	p.listens()
	prefixed := func(key string) {
		t.Helper()
		p.run(chromedp.Focus(chromedp.CSS(`[data-terminal=build] textarea`)))
		p.prefix()
		p.keys(key)
	}
	free := `document.querySelector('.pane:not(.held) .who').innerText === 'keyboard: you (ssh)'`
	width, size := int64(1280), ""

	for _, round := range []struct{ ask, hand func() }{
		{func() { prefixed("a") }, func() { p.click("button", "Hand it over") }},
		{func() { p.menu("Ask for the keyboard") }, func() { prefixed("r") }},
	} {
		p.until(free)
		round.ask()
		p.until(told("you asked root for the keyboard"))
		person.shows(t, `root/page asks for the keyboard: Ctrl-\ r gives it`)
		person.types(t, "\x1cr")
		person.shows(t, "you gave root/page the keyboard")
		p.until(held("build"))
		p.until(told("root gave you the keyboard"))
		p.listens()
		size = eval[string](p, `document.querySelector('.size').textContent`)

		person.types(t, "\x1ca")
		person.shows(t, "you asked root/page for the keyboard")
		p.until(told(`root asks for the keyboard: Ctrl-\ r gives it`))
		// The screen is drawn anew for another size, and the question stays.
		width -= 200
		p.run(chromedp.EmulateViewport(width, 800))
		p.until(fmt.Sprintf(`document.querySelector('.size').textContent !== %q`, size))
		p.shot("asked")
		round.hand()
		person.shows(t, "root/page gave you the keyboard")
		p.until(told("you gave root the keyboard"))
		p.listens()
	}
	p.until(free)

	// Who asks and leaves gets nothing: the offer goes.
	offer := `[...document.querySelectorAll('.pane button')].some(b => b.innerText === 'Hand it over')`
	p.takes("build")
	person.types(t, "\x1ca")
	p.until(offer)
	person.types(t, "\x1cd")
	p.until("!" + offer)
	p.until(told("root does not ask for the keyboard any more"))
	p.until(held("build"))

	prefixed("g")
	p.until(told("build is guarded: what agents type waits for your yes"))
	if !s.listed("build").Guarded {
		t.Error("the page has turned the guard on, and the host has not")
	}
	p.menu("Guard")
	p.until(told("build is not guarded: agents type without asking"))
	if s.listed("build").Guarded {
		t.Error("the page has turned the guard off, and the host has not")
	}
}

// TestAPageHandsBackWhatItHasTakenEarlier hides the tab of a terminal whose keyboard was taken,
// loads the page anew, and hands the keyboard back then.
func TestAPageHandsBackWhatItHasTakenEarlier(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "build")
	s.ssh("new", "-d", "-n", "other")
	person := s.attaches("build")
	person.shows(t, "#")
	p := s.open(s.ticket("build", "other") + "&debug=screen").ready()
	p.shows("build", "# ")
	lent := `document.querySelector('.pane.held .keyboard')?.innerText === 'Hand back'`
	p.takes("build")
	p.until(lent)
	p.click("tab", "other")
	p.shows("other", "# ")
	p.click("tab", "build")
	p.until(lent)
	p.run(chromedp.Reload())
	p.ready()
	p.until(lent)
	p.listens()
	p.click("button", "Hand back")
	p.until(told("handed back to root"))
	p.until(`document.querySelector('.pane:not(.held) .who').innerText === 'keyboard: you (ssh)'`)
	person.types(t, "echo mine $((1+1))\r")
	person.shows(t, "mine 2")

	p.takes("build")
	person.types(t, "\x1cc")
	p.until(told("root has the keyboard"))
	person.types(t, "\x1cr")
	p.until(told("you have the keyboard, from root"))
	p.until(held("build"))
}

// TestTwoWindowsOfOnePersonAreToldApart takes the keyboard in each of two pages of one key. One
// asks the other for it, which shows another terminal, and its view is ended then.
func TestTwoWindowsOfOnePersonAreToldApart(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "build")
	s.ssh("new", "-d", "-n", "other")
	person := s.attaches("build")
	person.shows(t, "#")
	pages := [2]*tab{}
	for i := range pages {
		pages[i] = s.open(s.ticket("build", "other") + "&debug=screen").ready()
		pages[i].shows("build", "# ")
	}
	names := [2]string{"root/page", "root/page#2"}
	who := func(text string) string {
		return fmt.Sprintf(`document.querySelector('.pane .who').innerText === %q`, text)
	}
	for i, p := range pages {
		p.takes("build")
		person.shows(t, names[i]+" has the keyboard")
		pages[1-i].until(who("keyboard: " + names[i]))
		list := s.ssh("who", "build")
		for line := range strings.Lines(list) {
			name, _, _ := strings.Cut(line, " ")
			if strings.Contains(line, "holds it") != (name == names[i]) {
				t.Errorf("%s has the keyboard, and who lists\n%s", names[i], list)
			}
		}
	}
	pages[1].until(who("you have the keyboard, as root/page#2"))
	pages[1].shot("second")

	pages[1].listens().click("tab", "other")
	pages[1].shows("other", "# ")
	pages[0].listens().menu("Ask for the keyboard")
	pages[0].until(told("you asked root/page#2 for the keyboard"))
	pages[1].until(told("root/page asks for the keyboard of build"))
	person.types(t, "\x1cc")
	pages[1].until(told("root has the keyboard of build"))
	person.types(t, "\x1cr")
	person.shows(t, "handed back to root/page#2")
	pages[0].menu("Ask for the keyboard")
	pages[1].click("tab", "build")
	pages[1].click("button", "Hand it over")
	pages[0].until(told("root/page#2 gave you the keyboard"))
	pages[0].until(held("build"))

	s.ssh("kick", "build", "root/page")
	pages[0].until(`document.querySelector('.pane.stale .overlay').innerText.startsWith('root has ended your view of build')`)
	pages[0].shot("kicked")
	pages[1].until(told("you have the keyboard, from root/page")) // for it was lent
	pages[1].until(held("build"))
	pages[0].typeLine("build", "echo never")
	pages[0].until(told("root has ended your view of build"))
	pages[0].click("tab", "other")
	pages[0].click("tab", "build")
	pages[0].shows("build", "# ")
	pages[0].until(who("keyboard: root/page#2"))
}

// TestAGuardIsShownWhileItIsSet has somebody set and lift a terminal's guard with ssh.
func TestAGuardIsShownWhileItIsSet(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	const name = "a-name-that-is-long"
	s.ssh("new", "-d", "-n", name)
	p := s.open(s.ticket(name) + "&debug=screen").ready()
	p.shows(name, "# ")
	for _, where := range []string{".entry", ".pane"} {
		if eval[bool](p, fmt.Sprintf(`[...document.querySelectorAll('%s .guarded')].some(e => e.offsetParent)`, where)) {
			t.Errorf("%s shows a guard that is not set", where)
		}
	}
	marked := func(where string) string {
		return fmt.Sprintf(`[...document.querySelectorAll('%s .guarded')].some(e =>
			e.offsetParent && e.innerText === 'guarded' && e.querySelector('svg'))`, where)
	}
	said := `document.querySelector('.entry').ariaLabel.includes(', guarded')`
	for range 2 {
		s.ssh("guard", name, "on")
		p.until(marked(".entry"))
		p.until(marked(".pane"))
		p.until(said)
		p.shot("guarded")
		s.ssh("guard", name, "off")
		p.until("!" + marked(".entry"))
		p.until("!" + marked(".pane"))
		p.until("!" + said)
	}

	// On a phone it is the drawing alone, and leaves the bar room for its menu.
	s.ssh("guard", name, "on")
	p.until(marked(".pane"))
	p.window(360, 640)
	p.until(`document.querySelector('.pane .guarded svg').getBoundingClientRect().width > 8 &&
		document.querySelector('.pane .bar').lastElementChild.getBoundingClientRect().right <= innerWidth`)
}
