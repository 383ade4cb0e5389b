package pagetest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"termhost/ahp"
	"termhost/ahp/client"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/ahp/visible"
)

// answerable is true while a button of what an agent asks answers.
func answerable(name string) string {
	return fmt.Sprintf(`[...document.querySelectorAll('.asks:not([hidden]) .choice button')].some((b) =>
		b.innerText === %q && !b.disabled)`, name)
}

// asked is true while the text of an ask is shown, without its line numbers.
func asked(text string) string {
	return fmt.Sprintf(`[...document.querySelectorAll('.asks:not([hidden]) code')].map((c) => c.innerText).join('\n') === %q`, text)
}

const noAsk = `document.querySelector('.asks').hidden`

// decides presses a button of what an agent asks, once it answers.
func (p *tab) decides(name string) {
	p.t.Helper()
	p.until(answerable(name))
	p.run(chromedp.Click(fmt.Sprintf(`//section[@aria-label="Approvals"]//button[.=%q]`, name)))
}

// looked waits until the page has looked some times whether an ask is in view.
func (p *tab) looked() {
	p.t.Helper()
	eval[bool](p, `new Promise((done) => setTimeout(() => done(true), 1500))`)
}

// guarded is a terminal whose agent wants to type, with a page that shows it. The program writes
// what it reads into a file.
type guarded struct {
	*tab
	s     *site
	agent *client.Client
	out   string
}

func (s *site) guarded(name string) *guarded {
	s.t.Helper()
	g := &guarded{s: s, agent: s.agent("codex"), out: filepath.Join(s.dir, name+".out")}
	claim := ahp.ClientClaim(g.agent.ID())
	hosttest.Check(s.t, g.agent.CreateTerminal(s.t.Context(), ahp.CreateTerminalParams{
		Channel: ahp.TerminalURI(name), Claim: &claim,
		Meta: &ahp.CreateTerminalMeta{Termhost: &ahp.CreateTerminalExtras{Command: "/bin/sh",
			Args: []string{"-c", "stty raw -echo; printf ready; exec cat >" + g.out}}}}))
	s.ssh("wait", "--match", "ready", name)
	s.ssh("guard", name, "on")
	g.tab = s.open(s.ticket(name) + "&debug=screen").ready()
	g.shows(name, "ready")
	return g
}

// wants has the agent type, and returns a function that stops it and the outcome's channel.
func (g *guarded) wants(name, text string) (cancel func(), answer <-chan error) {
	g.t.Helper()
	ctx, stop := context.WithCancel(g.t.Context())
	g.t.Cleanup(stop)
	done := make(chan error, 1)
	go func() { done <- g.agent.Dispatch(ctx, ahp.TerminalURI(name), ahp.TerminalInput{Data: []byte(text)}) }()
	return stop, done
}

// got waits until the program has read exactly this.
func (g *guarded) got(want string) {
	g.t.Helper()
	var have []byte
	hosttest.Eventually(g.t, fmt.Sprintf("the program reads %.60q", want), func() bool {
		have, _ = os.ReadFile(g.out)
		return len(have) >= len(want)
	})
	if string(have) != want {
		g.t.Errorf("the program has read %.80q, and not %.80q", have, want)
	}
}

// shown is how an ask is drawn: its parts, and what of them is not seen whole.
type shown struct {
	Lines [][]ahp.AskPart
	Cut   []string // parts that are not drawn, or reach out of the box
	Does  string
	Seen  string // as a person reads it
}

func (p *tab) shown() (s shown) {
	p.t.Helper()
	hosttest.Check(p.t, json.Unmarshal([]byte(eval[string](p, `(() => {
		const box = document.querySelector('.asks .said'), room = box.getBoundingClientRect(), cut = [];
		const lines = [...box.querySelectorAll('code')].map((code) => [...code.children].map((span) => {
			const rects = [...span.getClientRects()], style = getComputedStyle(span);
			const drawn = rects.length && rects.every((r) => r.width > 0 && r.left >= room.left && r.right <= room.right);
			if (!drawn || style.visibility !== 'visible' || style.color === style.backgroundColor) cut.push(span.textContent);
			return span.className === 'sign' ? { sign: span.textContent } : { text: span.textContent };
		}));
		return JSON.stringify({ Lines: lines, Cut: cut, Does: document.querySelector('.asks .does').innerText,
			Seen: [...box.querySelectorAll('code')].map((c) => c.innerText).join('\n') });
	})()`)), &s))
	return s
}

// TestAnAskIsShownAsWhatWillArrive has an agent want to type what would show less than it does. All
// of it is drawn, and exactly that arrives.
func TestAnAskIsShownAsWhatWillArrive(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	g := s.guarded("work")
	var all strings.Builder
	for _, text := range []string{
		"ls -l\r", "ls -l",
		"echo harmless" + strings.Repeat(" ", 300) + "; touch F\r",
		"#ls\x01\x0btouch F\r",
		"ls \U000e0041\u3164\u2800\u00a0x\u200b",
		"echo <U+3164>^M \u3164\r",
		"ls \u202eexe.txt\u2066 \u05d0\u05d1 1 2 \u05d2\r",
		"one\ttwo\r\nthree\n\n  four \r",
		"e\u0301\u0301\u0301\u0301 \u0301 \ufb01 -> != <script>&amp;\r",
		"echo " + strings.Repeat("x", 400) + "; touch F\r",
	} {
		_, answer := g.wants("work", text)
		lines, hidden := visible.Lines(text)
		var seen []string
		for _, line := range lines {
			seen = append(seen, visible.Plain(line))
		}
		g.until(`!document.querySelector('.asks').hidden`)
		got := g.shown()
		want, _ := json.Marshal(lines)
		if have, _ := json.Marshal(got.Lines); string(have) != string(want) {
			t.Errorf("%.40q is drawn as\n%s and not as\n%s", text, have, want)
		}
		if len(got.Cut) > 0 {
			t.Errorf("%.40q: not all is seen: %q", text, got.Cut)
		}
		does := visible.Does(text)
		if does == ahp.AskTypes {
			does = ahp.AskActs // the program reads keys
		}
		if got.Does != does {
			t.Errorf("%.40q %s, and is said to be what %q", text, does, got.Does)
		}
		if want := strings.Join(seen, "\n"); got.Seen != want {
			t.Errorf("%.40q reads %q, and not %q", text, got.Seen, want)
		}
		if said := eval[bool](g.tab, `document.querySelector('.asks').innerText.includes('would not be seen')`); said != (hidden > 0) {
			t.Errorf("%.40q has %d signs, and the page says so: %t", text, hidden, said)
		}
		g.shot("ask")
		g.decides("Approve")
		if err := <-answer; err != nil {
			t.Errorf("%.40q was approved: %v", text, err)
		}
		g.until(noAsk)
		all.WriteString(text)
		g.got(all.String())
	}
}

// TestALongAskIsReadBeforeYes has an agent want to type more than there is room for: many lines, and
// one that is long.
func TestALongAskIsReadBeforeYes(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	g := s.guarded("work")
	var many strings.Builder
	for i := range 120 {
		fmt.Fprintf(&many, "echo line %d\r", i+1)
	}
	var all string
	for _, text := range []string{many.String(), strings.Repeat("echo harmless; ", 700) + "touch F\r"} {
		_, answer := g.wants("work", text)
		g.until(answerable("Refuse"))
		on := `[...document.querySelectorAll('.asks button')].find((b) => /^\d+ more lines?, read on$/.test(b.innerText) && b.offsetParent)`
		g.until(on)
		g.shot("ask-long")
		// Its end alone is not all of it.
		g.run(chromedp.Evaluate[chromedp.Void](`(() => { const t = document.querySelector('.asks .said'); t.scrollTop = t.scrollHeight })()`))
		g.looked()
		for _, name := range []string{"Approve", "Edit"} {
			if eval[bool](g.tab, answerable(name)) {
				t.Errorf("%s answers before all has been read", name)
			}
		}
		for clicks := 0; eval[bool](g.tab, `!!`+on); clicks++ {
			if clicks > 60 {
				t.Fatalf("reading on does not come to an end: %s", g.text())
			}
			label := eval[string](g.tab, `((`+on+`)?.click(), (`+on+`)?.innerText ?? '')`)
			g.until(fmt.Sprintf(`(%s)?.innerText !== %q`, on, label))
		}
		g.decides("Approve")
		if err := <-answer; err != nil {
			t.Error(err)
		}
		g.until(noAsk)
		all += text
		g.got(all)
	}
}

// TestAnAskAnswersOnlyWhatWasMeantForIt clicks twice, holds a key and a button of the mouse, and
// covers the ask. What was meant for one ask decides nothing about the next.
func TestAnAskAnswersOnlyWhatWasMeantForIt(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	g := s.guarded("work")
	at := func(name string) (x, y float64) {
		t.Helper()
		p := eval[[]float64](g.tab, fmt.Sprintf(`(() => { const b = [...document.querySelectorAll('.asks .choice button')].find((b) =>
			b.innerText === %q).getBoundingClientRect(); return [b.left + b.width / 2, b.top + b.height / 2] })()`, name))
		return p[0], p[1]
	}
	mouse := func(kind input.DispatchMouseEventType, x, y float64, clicks int64) {
		t.Helper()
		g.run(devtools(input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: kind, X: x, Y: y,
			Button: input.MouseButtonLeft, ClickCount: clicks}))
	}
	stays := func(text string) {
		t.Helper()
		g.until(answerable("Refuse")) // it has stood there, and is not being decided
		g.until(asked(text))
	}

	// A double click is meant for the first one only.
	_, first := g.wants("work", "first\r")
	g.until(asked("first^M"))
	_, second := g.wants("work", "second\r")
	g.until(`document.querySelector('.asks').innerText.includes('1 more behind it')`)
	g.until(answerable("Approve"))
	x, y := at("Approve")
	for clicks := range int64(2) {
		mouse(input.DispatchMouseEventTypeMousePressed, x, y, clicks+1)
		mouse(input.DispatchMouseEventTypeMouseReleased, x, y, clicks+1)
		if clicks == 0 {
			hosttest.Check(t, <-first)
			g.until(asked("second^M"))
		}
	}
	stays("second^M")
	g.got("first\r")

	// So is a key that is held, and a button of the mouse that is let go over another one.
	_, third := g.wants("work", "third\r")
	g.until(answerable("Approve"))
	g.run(chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll('.asks button')].find((b) => b.innerText === 'Approve').focus()`))
	g.enter(6)
	hosttest.Check(t, <-second)
	g.until(asked("third^M"))
	g.enter(3)
	stays("third^M")
	g.got("first\rsecond\r")
	_, fourth := g.wants("work", "fourth\r")
	g.until(`document.querySelector('.asks').innerText.includes('1 more behind it')`)
	g.until(answerable("Approve"))
	x, y = at("Approve")
	mouse(input.DispatchMouseEventTypeMousePressed, x, y, 1)
	s.ssh("asks")
	s.ssh("refuse", "work")
	if err := <-third; err == nil {
		t.Error("what was refused was typed")
	}
	g.until(asked("fourth^M"))
	g.until(answerable("Approve"))
	mouse(input.DispatchMouseEventTypeMouseReleased, x, y, 1)
	stays("fourth^M")
	g.got("first\rsecond\r")

	// What lies over it has it answer anew.
	for _, cover := range []string{"left: 0; top: 0; width: 100%; height: 100%", "left: 40%; bottom: 60px; width: 60px; height: 30px"} {
		g.until(answerable("Approve"))
		g.run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`(() => { const c = document.createElement('div'); c.id = 'cover';
			c.style.cssText = 'position: fixed; z-index: 99; background: red; %s'; document.body.append(c) })()`, cover)))
		g.until("!" + answerable("Approve"))
		g.until(`document.querySelector('.asks').innerText.includes('nothing over it')`)
		g.looked()
		if eval[bool](g.tab, answerable("Refuse")) {
			t.Errorf("what is covered answers: %s", cover)
		}
		g.run(chromedp.Evaluate[chromedp.Void](`document.querySelector('#cover').remove()`))
	}
	// Notices do not, in any window.
	for _, width := range []int64{1200, 600} {
		g.window(width, 700)
		g.run(chromedp.Focus(chromedp.CSS(`[data-terminal=work] textarea`)))
		g.keys("x") // held by the agent
		g.until(`document.querySelector('.notices p')`)
		if eval[bool](g.tab, `[...document.querySelectorAll('.notices p')].some((n) => { const a = n.getBoundingClientRect(),
			b = document.querySelector('.asks').getBoundingClientRect();
			return a.left < b.right && a.right > b.left && a.top < b.bottom && a.bottom > b.top })`) {
			t.Errorf("a notice lies over the ask in a window %d wide", width)
		}
		g.shot(fmt.Sprint("ask-notice-", width))
	}
	// Where it does not fit nothing is answered.
	g.window(600, 110)
	g.until("!" + answerable("Approve"))
	g.looked()
	g.shot("ask-small")
	if eval[bool](g.tab, answerable("Approve")) {
		t.Error("an ask answers that is not in view")
	}
	g.window(1200, 700)

	// What is pressed before it answers, or again after it was answered, reaches no program.
	g.run(chromedp.Focus(chromedp.CSS(`.asks .said`)))
	for range 2 {
		g.until(answerable("Approve"))
		g.window(1200, 710) // which has it answer anew
		g.keys("yn ea")
		g.enter(0)
		g.window(1200, 700)
	}
	g.until(answerable("Approve"))
	g.run(chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll('.asks button')].find((b) => b.innerText === 'Approve').focus()`))
	g.enter(0)
	g.enter(2)
	hosttest.Check(t, <-fourth)
	g.until(noAsk)
	g.enter(0)
	g.keys("yn ea")
	g.got("first\rsecond\rfourth\r")
	s.ssh("send", "work", "last")
	g.got("first\rsecond\rfourth\rlast")
}

// TestAnAskIsEditedRefusedAndTrusted goes through what else a person can say.
func TestAnAskIsEditedRefusedAndTrusted(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	g := s.guarded("work")
	_, refused := g.wants("work", "rm -rf /\r")
	g.until(answerable("Refuse"))
	g.run(chromedp.Focus(chromedp.CSS(`[aria-label=Reason]`)))
	g.keys("not today")
	g.enter(2)
	if err := <-refused; err == nil || !strings.Contains(err.Error(), "refused by root/page: not today") {
		t.Errorf("the agent is told %v", err)
	}
	g.until(noAsk)

	_, edited := g.wants("work", "make deploy\r")
	g.decides("Edit")
	if err := <-edited; err == nil || !strings.Contains(err.Error(), "edits it") {
		t.Errorf("the agent is told %v", err)
	}
	g.until(held("work"))
	g.until(`document.activeElement.closest('[data-terminal=work]')`)
	g.keys(" --dry-run\r")
	g.got("make deploy --dry-run\r")
}

// TestTheEndOfAYesToAllIsShown has a command end for which an agent is trusted.
func TestTheEndOfAYesToAllIsShown(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "--guard", "-n", "work", "--",
		`sh -mc 'stty raw -echo; printf ready; head -c 10; printf over; exec sleep 1234'`)
	p := s.open(s.ticket("work") + "&debug=screen").ready()
	p.shows("work", "ready")
	agent := s.agent("codex")
	types := func(text string) {
		ctx, cancel := context.WithTimeout(t.Context(), hosttest.Patience)
		t.Cleanup(cancel)
		go func() {
			_ = agent.Dispatch(ctx, ahp.TerminalURI("work"), ahp.TerminalClaimed{Claim: ahp.ClientClaim("codex")})
			_ = agent.Dispatch(ctx, ahp.TerminalURI("work"), ahp.TerminalInput{Data: []byte(text)})
		}()
	}
	types("first")
	p.decides("Yes to all")
	p.until(noAsk)
	types("-last")
	p.shows("work", "over")
	p.until(`[...document.querySelectorAll('.notices p')].some((n) =>
		n.innerText === 'The yes to all of root/codex is over: another program is in the foreground')`)
}

// TestAnAskGoesWhenTheConnectionIsBack has an ask withdrawn, and another one come, while the page has
// no connection: it shows that nothing can be answered, and then what there is.
func TestAnAskGoesWhenTheConnectionIsBack(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "--guard", "-n", "work", "--", "sh -c 'stty -icanon -echo; echo ready; exec cat'")
	c := newCable(t, s.address())
	p := s.open(s.ticket("--url", "http://"+c.Addr().String(), "work") + "&debug=screen").ready()
	p.shows("work", "ready")
	ask := func(word string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), hosttest.Patience)
		agent := s.agent(word)
		t.Cleanup(cancel)
		go func() {
			_ = agent.Dispatch(ctx, ahp.TerminalURI("work"), ahp.TerminalClaimed{Claim: ahp.ClientClaim(word)})
			_ = agent.Dispatch(ctx, ahp.TerminalURI("work"), ahp.TerminalInput{Data: []byte(word)})
		}()
	}
	ask("first")
	p.until(asked("first"))
	p.until(answerable("Approve"))
	c.hold(true)
	c.reset()
	p.until(`document.documentElement.dataset.termhost === "lost"`)
	p.until(`document.querySelector('.asks').innerText.includes('Not connected')`)
	if eval[bool](p, answerable("Approve")) {
		t.Error("an ask answers without a connection")
	}
	s.ssh("asks")
	s.ssh("refuse", "work")
	ask("second")
	hosttest.Eventually(t, "the second is asked", func() bool { return strings.Contains(s.ssh("asks"), "second") })
	c.hold(false)
	p.ready()
	p.until(asked("second"))
	p.decides("Refuse")
	p.until(noAsk)
}
