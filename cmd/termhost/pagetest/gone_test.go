package pagetest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// TestWhatIsKeptOfATerminalThatIsGone reads, finds, replays and saves what there was: of a program
// that has ended the log, and of a terminal that has been removed its recording.
func TestWhatIsKeptOfATerminalThatIsGone(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "build")
	s.ssh("record", "build", "on")
	p := s.open(s.ticket("build") + "&debug=screen").ready()
	p.shows("build", "# ")
	line := ". " + s.file("seq", "seq 2000; printf '\\033[35ma Needle\\033[m in it\\n'; seq 2001 4000; read x\n")
	s.ssh("send", "--enter", "build", line)
	p.command(line, "running")
	p.shows("build", "\n4000")
	s.ssh("send", "--enter", "build", "exit 7")
	s.ssh("send", "--enter", "build", "exit 7")
	p.until(`document.querySelector('.pane .who').innerText.includes('exited, failed 7')`)
	end := s.ssh("peek", "build")

	reads := func(what string) {
		t.Helper()
		p.menu("History")
		p.until(`document.querySelector('.lines .what')?.innerText.includes('lines, from the first one on')`)
		p.until(`(() => { document.querySelector('.kept').scrollTop = 0;
			return [...document.querySelectorAll('.kept > div > div')].some((e, i, all) => e.innerText === '1' && all[i + 1]?.innerText === '2') })()`)
		p.click("button", "Find")
		p.run(chromedp.SendKeys(chromedp.CSS(`.find input`), "needle"))
		p.until(`document.querySelector('.find .count').innerText === '1 match'`)
		p.keys("\r")
		const current = `document.querySelector('.kept [aria-current]')`
		p.until(current + `?.innerText === 'a Needle in it'`)
		if got := eval[string](p, current+`.previousElementSibling.innerText + ' ' + `+current+`.nextElementSibling.innerText`); got != "2000 2001" {
			t.Errorf("%s: around what is found there is %q", what, got)
		}
		p.keys("\x1b")
		p.until(`document.querySelector('.lines').hidden && document.querySelector('.find').hidden`)

		p.menu("Replay")
		p.becomes("replay of build", what+": the replay's end", end)
		p.clickNow(fmt.Sprintf(`.replay .marks button[aria-label^=%q]`, line))
		p.until(`!document.querySelector('.replay [data-screen]').dataset.screen.includes('4000')`)
		p.click("button", "Live")
		p.until(`!document.querySelector('.replay')`)
	}
	reads("the program has ended")
	if got, want := p.saves("Save as text"), s.ssh("log", "build"); got != want {
		t.Errorf("saved is %q, and not %q", got, want)
	}

	var recordings []struct{ Recording string }
	hosttest.Check(t, json.Unmarshal([]byte(s.ssh("recordings", "--json")), &recordings))
	if len(recordings) != 1 {
		t.Fatalf("there are %d recordings", len(recordings))
	}
	cast := s.ssh("cast", recordings[0].Recording)
	s.ssh("rm", "build")
	gone := func(text string) {
		t.Helper()
		p.until(fmt.Sprintf(`document.querySelector('.overlay').innerText === %q`, text))
	}
	gone("There is no terminal build any more.")
	reads("it is gone")
	p.shot("gone")
	p.run(chromedp.Reload())
	p.ready()
	gone("There is no terminal build. Choose one in the list, or make it: New terminal.")
	reads("it was gone before")
	if got := p.saves("Save as cast"); got != cast {
		t.Errorf("saved is %q, and not %q", got, cast)
	}
	p.keepNotices()
	p.menu("Save as text")
	p.noticed("cast")
	s.ssh("rm", "--recording", recordings[0].Recording)
	for i, entry := range []string{"History", "Replay", "Save as cast"} {
		p.menu(entry)
		p.until(fmt.Sprintf(`noticed.filter((n) => n === 'Nothing is kept of build.').length === %d`, i+1))
	}
}

// TestTheHeadOfALogIsCutWhileItIsRead has a terminal print so much that the host lets go of the
// first lines, while the page shows them. Those are said to be gone, and all others are what they
// were.
func TestTheHeadOfALogIsCutWhileItIsRead(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.set("terminal.log_bytes", `"128KiB"`)
	// The host lets go of output as it has read it, so it is to come in pieces.
	s.ssh("new", "-d", "-n", "build", "--", "n=0; while seq -f 'line %.0f' $((n+1)) $((n+200)); do n=$((n+200)); "+
		"if [ $((n % 4000)) -ne 0 ] || [ $n -eq 4000 ]; then sleep 0.02; else echo all $n; read x; fi; done")
	s.ssh("wait", "--match", "all.8000", "build")
	p := s.open(s.ticket("build") + "&debug=screen").ready()
	p.shows("build", "all 8000")
	p.menu("History")
	const about = `document.querySelector('.lines .what')?.innerText`
	p.until(about + `.includes('lines, from the first one on')`)
	total := eval[int](p, `Number(`+about+`.replace(/\D+/g, ''))`)
	// The beginning is not near, so that it has to be asked for again.
	p.until(`(() => { const k = document.querySelector('.kept'); k.scrollTop = k.scrollHeight; return !k.firstChild.firstChild })()`)
	for n := 12000; strings.HasPrefix(s.ssh("log", "build"), "line 1\n"); n += 4000 {
		s.ssh("send", "--enter", "build", "")
		s.ssh("wait", "--match", fmt.Sprintf("all.%d", n), "build")
	}
	// All lines on the way up: none is another one than it was.
	const lines = `(() => { const told = { gone: 0, right: 0, wrong: [] };
		[...document.querySelectorAll('.kept > div')].forEach((piece, i) => [...piece.children].forEach((e, j) => {
			const want = 'line ' + (i * 200 + j + 1), got = e.innerText;
			if (got === '(gone since)') told.gone++;
			else if (got === want) told.right++;
			else if (i * 200 + j < 8000) told.wrong.push(got + ' for ' + want);
		})); return told })()`
	type told struct {
		Gone, Right int
		Wrong       []string
	}
	right := 0
	for at := 100; at >= 0; at -= 10 {
		p.run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`{ const k = document.querySelector('.kept'); k.scrollTop = k.scrollHeight * %d / 100 }`, at)))
		p.until(`(() => { const k = document.querySelector('.kept').getBoundingClientRect(); return [...document.querySelectorAll('.kept > div')].every((e) => {
			const b = e.getBoundingClientRect(); return b.bottom <= k.top || b.top >= k.bottom || e.firstChild }) })()`)
		got := eval[told](p, lines)
		right = max(right, got.Right)
		if len(got.Wrong) > 0 {
			t.Fatalf("at %d %%: %d wrong lines: %q", at, len(got.Wrong), got.Wrong[:min(5, len(got.Wrong))])
		}
	}
	p.until(`document.querySelector('.kept').innerText.startsWith('(gone since)')`)
	p.until(about + `.includes('those before are gone')`)
	p.shot("history-cut")
	kept := eval[int](p, `Number(`+about+`.replace(/\D+/g, ''))`)
	if right == 0 || kept >= total {
		t.Errorf("of %d lines %d are said to be kept; %d of them were seen", total, kept, right)
	}
	if kept == 0 {
		return // all of what had been read was one piece
	}
	first := eval[string](p, `(async () => { const k = document.querySelector('.kept');
		for (;;) {
			const all = [...k.querySelectorAll(':scope > div > div')], i = all.findIndex((e) => e.innerText !== '(gone since)');
			if (i > 0) return all[i].innerText;
			k.scrollBy(0, 500);
			await new Promise(requestAnimationFrame);
		} })()`)
	if want := fmt.Sprintf("line %d", total-kept+1); first != want {
		t.Errorf("the first line that is kept is %q, and said to be %q", first, want)
	}
}

// A terminal that never was is told of in words for people, and can be made.
func TestATerminalThatNeverWas(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	const text = "There is no terminal nosuch. Choose one in the list"
	says := func(p *tab, want string) {
		t.Helper()
		p.until(fmt.Sprintf(`document.querySelector('.overlay').innerText === %q`, want))
	}
	says(s.open(s.ticket("--role", "observer", "nosuch")).ready(), text+".")
	p := s.open(s.ticket("nosuch") + "&debug=screen").ready()
	says(p, text+", or make it: New terminal.")
	p.keepNotices()
	p.menu("Guard")
	p.until(`noticed.includes('There is no terminal nosuch.')`)
	p.typeLine("nosuch", "x")
	p.until(fmt.Sprintf(`noticed.some((n) => n.startsWith(%q))`, text))
	if said := eval[string](p, `noticed.join('\n')`); strings.Contains(said, "channel") || strings.Contains(said, "The keyboard is with") {
		t.Errorf("the page says\n%s", said)
	}
	p.click("button", "New terminal")
	p.shows("nosuch", "# ")
	p.until(held("nosuch"))
	s.ssh("rm", "nosuch")
	says(p, "There is no terminal nosuch any more.")
}
