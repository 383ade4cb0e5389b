package pagetest

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// menu chooses an entry of the menu of the only pane.
func (p *tab) menu(entry string) {
	p.t.Helper()
	p.run(chromedp.Click(chromedp.CSS(`.pane .menu summary`)))
	p.click("menuitem", entry)
}

// becomes waits until a screen in the page is want, as peek prints it.
func (p *tab) becomes(name, what, want string) {
	p.t.Helper()
	var got string
	defer func() {
		if p.t.Failed() {
			p.t.Logf("%s: the screen is\n%s\nand not\n%s", what, got, want)
		}
	}()
	hosttest.Eventually(p.t, what, func() bool {
		got = plainScreen(eval[string](p, fmt.Sprintf(
			`document.querySelector('[data-terminal=%q] [data-screen]')?.dataset.screen ?? ''`, name)))
		return got == plainScreen(want)
	})
}

// grow gives the page's window a size, and waits until the terminal that the page holds has
// followed it.
func (p *tab) grow(width, height int64) {
	p.t.Helper()
	const size = `document.querySelector('.pane.held .size').innerText`
	before := eval[string](p, size)
	p.window(width, height)
	p.until(fmt.Sprintf(`%s !== %q`, size, before))
}

// TestAReplayShowsWhatTheTerminalHasShown stops at every mark. What is there is what was there, as
// the host has shown it at the time, though the terminal has had other sizes since.
func TestAReplayShowsWhatTheTerminalHasShown(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "build")
	s.ssh("record", "build", "on")
	p := s.open(s.ticket("build") + "&debug=screen").ready()
	p.shows("build", "# ")
	p.click("button", "Commands") // which would open with the first command, and resize it
	p.takesIt()
	p.until(`document.querySelector('.pane.held')`)
	marks := []string{} // the screens when each command had begun
	for i, line := range []string{"seq 100", "printf '\\033[31m%0300d\\033[m 日本\\n' 7", "false", "vim -u NONE -c 'set nu'"} {
		p.grow(int64(920+80*i), int64(700-100*(i%2)))
		read := fmt.Sprintf("read wait%d", i) // it begins, and waits
		p.typeLine("build", read)
		p.command(read, "running")
		marks = append(marks, s.ssh("peek", "build"))
		p.typeLine("build", "")
		p.typeLine("build", line)
		if i == 3 {
			p.shows("build", "~")
			p.grow(960, 640)
			p.keys(":q\r")
		}
		p.command(line, map[bool]string{true: "failed 1", false: "ok 0"}[line == "false"])
	}
	var end string
	hosttest.Eventually(t, "the last prompt", func() bool {
		end = s.ssh("peek", "build")
		return strings.HasSuffix(end, "#\n")
	})
	s.ssh("record", "build", "off")

	const replay = "replay of build"
	p.menu("Replay")
	p.becomes(replay, "the end", end)

	// Whoever is quick with Play and Pause sees it at its own speed: one step is to come.
	steps := eval[int](p, `(() => {
		const { requestAnimationFrame, cancelAnimationFrame } = window, steps = new Set();
		window.requestAnimationFrame = (f) => {
			const id = requestAnimationFrame(f);
			steps.add(id);
			return id;
		};
		window.cancelAnimationFrame = (id) => { steps.delete(id); cancelAnimationFrame(id); };
		const play = document.querySelector('.replay [aria-label=Play]');
		for (let i = 0; i < 3; i++) play.click();
		Object.assign(window, { requestAnimationFrame, cancelAnimationFrame });
		return steps.size;
	})()`)
	if steps != 1 {
		t.Errorf("after Play, Pause and Play it takes %d steps at once", steps)
	}
	p.run(chromedp.Evaluate[chromedp.Void](`document.querySelector('.replay [aria-label=Pause]')?.click()`))
	atMarks := func(what string) {
		t.Helper()
		for i, want := range marks {
			p.run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(
				`document.querySelector('.replay .marks button[aria-label^="read wait%d"]').click()`, i)))
			p.becomes(replay, fmt.Sprintf("%s, mark %d", what, i), want)
			if i == 1 {
				p.shot("replay")
			}
		}
	}
	atMarks("the log")
	straight := func(what string) {
		t.Helper()
		p.run(chromedp.Evaluate[chromedp.Void](`(() => { const s = document.querySelector('.replay input[type=range]');
			s.value = 0; s.dispatchEvent(new Event('input')); })()`))
		for range 3 {
			p.click("button", "Speed")
		}
		p.click("button", "Play")
		p.until(`document.querySelector('.replay [aria-label=Play]') && document.querySelector('.replay input[type=range]').value ===
			document.querySelector('.replay input[type=range]').max`)
		p.becomes(replay, what+", played to its end", end)
	}
	straight("the log")

	// A recording is played like the log.
	p.run(chromedp.Evaluate[chromedp.Void](`(() => { const s = document.querySelector('.replay select');
		s.selectedIndex = 1; s.dispatchEvent(new Event('change')); })()`))
	p.becomes(replay, "the recording's end", end)
	atMarks("the recording")
	p.shot("replay-recording")
	p.click("button", "Live")
	p.until(`!document.querySelector('.replay')`)

	// What is saved is what the host has.
	for form, want := range map[string]string{"Save as text": s.ssh("log", "build"), "Save raw": s.ssh("log", "--raw", "build"),
		"Save as cast": s.ssh("cast", "build")} {
		if got := p.saves(form); got != want {
			t.Errorf("%s gives\n%q\nand not\n%q", form, got, want)
		}
	}
}

// saves returns what an entry of the menu has the browser save.
func (p *tab) saves(entry string) string {
	p.t.Helper()
	p.run(chromedp.Evaluate[chromedp.Void](`window.saved = undefined;
		URL.createObjectURL = (blob) => { blob.text().then((t) => { window.saved = t }); return '' };
		HTMLAnchorElement.prototype.click = () => {}`))
	p.menu(entry)
	p.until(`window.saved !== undefined`)
	return eval[string](p, `window.saved`)
}

// TestFindAndScrollingReachAllThatTheHostKeeps is of a terminal that has printed far more than the
// page has of it, and more than the host tells those who look at it.
func TestFindAndScrollingReachAllThatTheHostKeeps(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "build", "--", `echo the very first, the very one; seq 100000; printf '\033[35ma Needle\033[m in it\n'; `+
		`seq 100001 250000; echo the very last, the very end; read x`)
	s.ssh("wait", "--match", "the.very.last", "build")
	p := s.open(s.ticket("build") + "&debug=screen").ready()
	p.shows("build", "the very last")

	// Find goes over from the page's lines into the host's, and from match to match there.
	find := func(text, count string) {
		t.Helper()
		p.click("button", "Find")
		p.run(chromedp.SendKeys(chromedp.CSS(`.find input`), text))
		p.until(fmt.Sprintf(`document.querySelector('.find .count').innerText === %q`, count))
	}
	const current = `document.querySelector('.kept [aria-current]')`
	find("needle", "1 match")
	p.keys("\r")
	p.until(current + `?.innerText === 'a Needle in it'`)
	p.until(`CSS.highlights.get('found').size === 1`)
	if got := eval[string](p, current+`.previousElementSibling.innerText`+` + ' ' + `+current+`.nextElementSibling.innerText`); got != "100000 100001" {
		t.Errorf("around it there is %q", got)
	}
	p.until(inSight(current))
	p.shot("find-history")
	p.keys("\x1b")
	p.until(`document.querySelector('.lines').hidden && document.querySelector('.find').hidden`)
	find("the very", "4 of 4")
	p.keys("\r")
	p.until(`document.querySelector('.find .count').innerText === '3 of 4'`)
	p.keys("\r") // it is in the page, and there is no other above it
	p.until(current + `?.innerText === 'the very first, the very one'`)
	for _, want := range []string{"2 of 4 at 16", "1 of 4 at 0", "4 of 4 at 15"} {
		p.until(fmt.Sprintf(`document.querySelector('.find .count').innerText + ' at ' +
			[...CSS.highlights.get('gone-to')].map((r) => r.startOffset) === %q`, want))
		p.keys("\r")
	}
	p.until(current + `?.innerText === 'the very last, the very end'`)
	p.keys("\x1b")
	p.until(`document.querySelector('.lines').hidden`)

	// Scrolling goes over at the same line, and ends at the first one.
	wheel := func(selector string, delta, times int) {
		p.run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`for (let i = 0; i < %d; i++) document.querySelector(%q).dispatchEvent(
			new WheelEvent('wheel', { deltaY: %d, wheelDeltaY: %d, bubbles: true, cancelable: true }))`, times, selector, delta, -delta)))
	}
	hosttest.Eventually(t, "the lines that are kept", func() bool {
		wheel(".xterm-screen", -500, 50)
		return eval[bool](p, `!document.querySelector('.lines').hidden`)
	})
	hosttest.Eventually(t, "the page's first line among those that are kept", func() bool {
		top := strings.Split(p.screen("build"), "\n")[0]
		n, err := strconv.Atoi(top)
		return err == nil && n < 250_000 && eval[bool](p, inSight(fmt.Sprintf(
			`[...document.querySelectorAll('.kept > div > div')].find(e => e.innerText === %q)`, top)))
	})
	p.run(chromedp.Evaluate[chromedp.Void](`document.querySelector('.kept').scrollTop = 0`))
	const first = `document.querySelector('.kept > div > div')`
	p.until(first + `?.innerText === 'the very first, the very one'`)
	p.until(inSight(first))
	if n := eval[int](p, `document.querySelectorAll('.kept > div > div').length`); n > 5000 {
		t.Errorf("the page has %d lines at once", n)
	}
	p.shot("history-first")
	hosttest.Eventually(t, "the terminal again", func() bool {
		p.run(chromedp.Evaluate[chromedp.Void](`(() => { const k = document.querySelector('.kept'); k.scrollTop = k.scrollHeight; })()`))
		wheel(".kept", 100, 1)
		return eval[bool](p, `document.querySelector('.lines').hidden`)
	})
}

// TestAFingerScrollsToTheFirstLine scrolls as one does on a phone: through the page's lines into
// those that only the host has, and back again. A program that has the whole screen is told of it.
func TestAFingerScrollsToTheFirstLine(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "build", "--", `seq 20000; read x; seq 1000 2000 >list; exec less list`)
	s.ssh("wait", "--match", "^20000$", "build")
	p := s.open(s.ticket("build") + "&debug=screen")
	p.phone()
	p.ready().shows("build", "20000")

	// swipe moves a finger up or down, and leaves it where it is before it lifts it.
	swipe := func(selector string, by float64) {
		box := eval[struct{ X, Y, Height float64 }](p, fmt.Sprintf(`(() => { const b = document.querySelector(%q).getBoundingClientRect();
			return { X: b.x + b.width / 2, Y: b.y, Height: b.height } })()`, selector))
		y := box.Y + box.Height/2 - by/2
		touch := func(kind input.DispatchTouchEventType, points ...*input.TouchPoint) {
			p.run(devtools(input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: points}))
		}
		touch(input.DispatchTouchEventTypeTouchStart, &input.TouchPoint{X: box.X, Y: y})
		for i := range 5 {
			touch(input.DispatchTouchEventTypeTouchMove, &input.TouchPoint{X: box.X, Y: y + by*float64(i+1)/5})
		}
		touch(input.DispatchTouchEventTypeTouchEnd)
	}
	swipe(".view", 200)
	hosttest.Eventually(t, "lines before those of the screen", func() bool { return !strings.Contains(p.screen("build"), "20000") })
	hosttest.Eventually(t, "the lines that only the host has", func() bool {
		p.run(chromedp.Evaluate[chromedp.Void](`document.querySelector('.xterm-screen').dispatchEvent(
			new WheelEvent('wheel', { deltaY: -5000, wheelDeltaY: 5000, bubbles: true, cancelable: true }))`))
		top, _, _ := strings.Cut(p.screen("build"), "\n")
		n, err := strconv.Atoi(top)
		// A page that is slow is further already, and draws the screen no more.
		return err == nil && n < 15_100 || eval[bool](p, `!document.querySelector('.lines').hidden`)
	})
	p.run(chromedp.Evaluate[chromedp.Void](`document.querySelector('.lines').hidden || document.querySelector('.lines button').click()`))
	hosttest.Eventually(t, "the lines that are kept", func() bool {
		swipe(".view", 200)
		return eval[bool](p, `!document.querySelector('.lines').hidden`)
	})
	p.shot("phone-history")
	hosttest.Eventually(t, "the terminal again", func() bool {
		p.run(chromedp.Evaluate[chromedp.Void](`(() => { const k = document.querySelector('.kept'); k && (k.scrollTop = k.scrollHeight); })()`))
		if eval[bool](p, `document.querySelector('.lines').hidden`) {
			return true
		}
		swipe(".kept", -200)
		return eval[bool](p, `document.querySelector('.lines').hidden`)
	})

	s.ssh("send", "--enter", "build", "")
	p.shows("build", "1010")
	p.takesIt()
	p.until(`document.querySelector('.pane.held')`)
	swipe(".view", -150)
	hosttest.Eventually(t, "less has scrolled", func() bool { return !strings.HasPrefix(p.screen("build"), "1000\n") })
}

// TestTheHistoryLooksAsTheSettingsSay changes the letters and the theme while the lines that are
// kept are looked at: the same line stays in sight, and the program's own colours can be read in
// each.
func TestTheHistoryLooksAsTheSettingsSay(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "build", "--", `seq 1000; printf '\033[38;5;226myellow\033[m \033[38;5;17mblue\033[m \033[31mred\033[m\n'; `+
		`seq 1001 2000; read x`)
	s.ssh("wait", "--match", "^2000$", "build")
	p := s.open(s.ticket("build") + "&debug=screen&find=yellow")
	p.prefers("light")
	p.ready().shows("build", "2000")
	p.until(`document.querySelector('.find .count').innerText === '1 of 1'`)
	p.menu("History")
	p.until(`document.querySelector('.kept')?.checkVisibility()`)
	p.run(chromedp.Focus(chromedp.CSS(`.find input`)))
	p.keys("\r")
	const line = `document.querySelector('.kept [aria-current]')`
	p.until(line + `?.innerText === 'yellow blue red'`)
	p.until(inSight(line))

	// The first line in sight stays the first one.
	const top = `[...document.querySelectorAll('.kept > div > div')].find(e => e.getBoundingClientRect().bottom > ` +
		`document.querySelector('.kept').getBoundingClientRect().top + 1)?.innerText`
	first := eval[string](p, top)
	p.click("button", "Settings")
	p.run(chromedp.SendKeys(chromedp.CSS(`[aria-label=Font]`), "Fira Code"))
	for range 5 {
		p.click("button", "Larger")
	}
	p.until(`getComputedStyle(document.querySelector('.kept')).fontFamily.startsWith('"Fira Code"')`)
	p.until(`getComputedStyle(` + line + `).fontSize === '19px'`)
	p.until(fmt.Sprintf(`%s === %q`, top, first))

	// As much contrast as a terminal's letters have.
	const least = `(() => {
		const light = (c) => c.match(/[0-9.]+/g).slice(0, 3).map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
			.reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
		const back = light(getComputedStyle(document.querySelector('.lines')).backgroundColor);
		return Math.min(...[...` + line + `.children].map((e) => light(getComputedStyle(e).color))
			.map((l) => (Math.max(l, back) + 0.05) / (Math.min(l, back) + 0.05))); })()`
	for theme, want := range map[string]float64{"light": 4.5, "dark": 4.5, "contrast": 7} {
		p.run(chromedp.Click(chromedp.CSS(fmt.Sprintf(`.card:has([value=%s])`, theme))))
		p.until(fmt.Sprintf(`document.documentElement.dataset.theme === %q`, theme))
		if got := eval[float64](p, least); got < want-0.05 {
			t.Errorf("the contrast is %.1f in the theme %s", got, theme)
		}
	}
	p.click("button", "Done")
	p.shot("history-contrast")
	p.until(inSight(line))
}

// inSight says in JavaScript that an element of the lines that are kept is in sight.
func inSight(element string) string {
	return fmt.Sprintf(`(() => { const e = %s?.getBoundingClientRect(), k = document.querySelector('.kept').getBoundingClientRect();
		return !!e && e.top >= k.top - 1 && e.bottom <= k.bottom + 1; })()`, element)
}
