package pagetest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"termhost/ahp"
	"termhost/ahp/client"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// fill makes terminals that wait for nothing after a command, called t-1 and so on, and returns
// their names.
func (s *site) fill(c *client.Client, n int, command string) (names []string) {
	s.t.Helper()
	claim := ahp.ClientClaim(c.ID())
	for i := range n {
		name := fmt.Sprintf("t-%d", i+1)
		hosttest.Check(s.t, c.CreateTerminal(s.t.Context(), ahp.CreateTerminalParams{
			Channel: "ahp-terminal:/" + name, Claim: &claim,
			Meta: &ahp.CreateTerminalMeta{Termhost: &ahp.CreateTerminalExtras{
				Command: "sh", Args: []string{"-c", command + "; exec sleep 1000000"}}}}))
		names = append(names, name)
	}
	return names
}

// alive counts the terminals of xterm.js that the page has not let go.
func (p *tab) alive() int {
	p.t.Helper()
	var n int
	p.run(devtools(heapprofiler.CollectGarbage, cdp.Empty{}), // QueryObjects alone may leave some of it
		chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			of, err := cdp.Call(ctx, t, runtime.Evaluate, runtime.EvaluateParams{AwaitPromise: new(true),
				Expression: module("library.js") + `.then((m) => m.library().Terminal.prototype)`})
			if err != nil {
				return err
			}
			all, err := cdp.Call(ctx, t, runtime.QueryObjects,
				runtime.QueryObjectsParams{PrototypeObjectID: of.Result.ObjectID})
			if err != nil {
				return err
			}
			count, err := cdp.Call(ctx, t, runtime.CallFunctionOn, runtime.CallFunctionOnParams{
				ObjectID: all.Objects.ObjectID, ReturnByValue: new(true),
				FunctionDeclaration: `function() { return this.length }`})
			if err != nil {
				return err
			}
			if err = json.Unmarshal(count.Result.Value, &n); err != nil {
				return err
			}
			_, err = cdp.Call(ctx, t, runtime.ReleaseObject, runtime.ReleaseObjectParams{ObjectID: all.Objects.ObjectID})
			return err // or they would live for as long as this list of them
		}))
	return n
}

// viewed returns which terminals somebody subscribes to.
func (s *site) viewed() (names []string) {
	s.t.Helper()
	for _, info := range s.list() {
		if info.Viewers > 0 {
			names = append(names, info.Name)
		}
	}
	slices.Sort(names)
	return names
}

func TestAHiddenPaneIsNotFollowed(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	names := s.fill(s.agent("fill"), 9, "true")
	p := s.open(s.ticket(names...) + "&debug=screen").ready()
	for _, name := range names {
		p.click("tab", name)
		p.until(fmt.Sprintf(`document.querySelector('[data-terminal=%q] [data-screen]')`, name))
		hosttest.Eventually(t, "only "+name+" is followed", func() bool {
			return slices.Equal(s.viewed(), []string{name})
		})
	}
}

// The page lets go of the terminals of xterm.js that it does not show: of those in hidden panes, and
// of those beyond the eight that a tab has.
func TestMeasuresTerminalsInThePagesMemory(t *testing.T) {
	slowtest.Measures(t)
	browser(t) // and not onPage, which makes a test parallel
	s := newSite(t)
	names := s.fill(s.agent("fill"), 10, "true")
	p := s.open(s.ticket(names[:9]...) + "&debug=screen").ready()
	for _, name := range names[:9] {
		p.click("tab", name)
		p.until(fmt.Sprintf(`document.querySelector('[data-terminal=%q] [data-screen]')`, name))
	}
	hosttest.Eventually(t, "one terminal is alive", func() bool { return p.alive() == 1 })
	p = s.open(strings.ReplaceAll(s.ticket(names...), "%2C", "+") + "&debug=screen").ready() // side by side
	p.until(`document.querySelectorAll('[data-screen]').length === 8`)
	hosttest.Eventually(t, "eight are alive", func() bool { return p.alive() == 8 })
}

// A tab has at most eight panes; what is meant to be in it beyond these gets a tab of its own.
func TestAtMostEightTerminalsAreShown(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	names := s.fill(s.agent("fill"), 11, "true")
	p := s.open(strings.ReplaceAll(s.ticket(names[:10]...), "%2C", "+") + "&debug=screen").ready() // side by side
	eight := func() {
		t.Helper()
		p.until(`document.querySelectorAll('.pane').length === 8 && document.querySelectorAll('[data-screen]').length === 8`)
		hosttest.Eventually(t, "eight are followed", func() bool { return len(s.viewed()) == 8 })
	}
	eight()
	eval[bool](p, `[...document.querySelectorAll('button.entry')].find(b => b.querySelector('.name').innerText === 't-11').
		dispatchEvent(new MouseEvent('click', {altKey: true, bubbles: true}))`) // beside what is shown
	p.until(`document.querySelector('[role=tab][aria-selected=true]').ariaLabel === 't-11'`)
	p.until(`document.querySelector('.notices').innerText.includes('8 terminals')`)
	p.run(chromedp.Evaluate[chromedp.Void](`document.querySelector('[role=tab]').click()`))
	eight()
}

// What the host has sent is acknowledged, also if its pane is hidden before it is drawn: the host
// would wait for it, and the other terminals with it.
func TestAllOutputIsAcknowledged(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "flood", "--", "yes 'a line of much output, of which nobody sees all'")
	s.ssh("new", "-d", "-n", "quiet")
	p := s.open(s.ticket("quiet", "flood") + "&debug=screen").ready()
	p.shows("quiet", "# ")
	p.run(chromedp.Evaluate[chromedp.Void](`(() => {
		window.got = window.acked = 0;
		const { parse } = JSON, { send } = WebSocket.prototype;
		JSON.parse = (text) => {
			const m = parse(text);
			if (m.params?.action?.type === 'terminal/data') window.got += new TextEncoder().encode(m.params.action.data).length;
			return m;
		};
		WebSocket.prototype.send = function (text) {
			const m = parse(text);
			if (m.method === 'termhost/ack') window.acked += m.params.bytes;
			return send.call(this, text);
		};
	})()`))
	for range 5 {
		before := eval[float64](p, `window.got`)
		p.click("tab", "flood")
		p.until(fmt.Sprintf(`window.got > %f`, before))
		p.click("tab", "quiet")
		p.shows("quiet", "# ")
	}
	p.until(`window.got - window.acked < 64 * 1024`) // which it says all at once
}

// The list of many terminals has a row for each, and only that of the one which changes is touched.
func TestAChangeTouchesOneRowOf500(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	agent := s.agent("fill")
	names := s.fill(agent, 500, "true")
	p := s.open(s.ticket() + "&debug=screen").ready()
	p.until(`document.querySelectorAll('[aria-label=Terminals] [role=listitem]').length === 500`)
	p.run(chromedp.Evaluate[chromedp.Void](`(() => {
		const list = document.querySelector('[aria-label=Terminals]');
		const rowOf = (n) => (n.nodeType === 1 ? n : n.parentElement)?.closest('li');
		window.touched = new Set();
		new MutationObserver((records) => {
			for (const r of records) for (const n of [r.target, ...r.addedNodes, ...r.removedNodes]) {
				const name = rowOf(n)?.querySelector('.name')?.textContent;
				if (name) window.touched.add(name);
			}
		}).observe(list, { subtree: true, childList: true, attributes: true, characterData: true });
	})()`))
	at := func(title, name string) string {
		return fmt.Sprintf(`[...document.querySelectorAll('[aria-label=Terminals] section')].some(
			s => s.querySelector('h2').textContent.startsWith(%q) &&
			[...s.querySelectorAll('li .name')].some(n => n.textContent === %q))`, title, name)
	}
	touched := func(name string) {
		t.Helper()
		if got := eval[[]string](p, `[...window.touched]`); !slices.Equal(got, []string{name}) {
			t.Errorf("a change of %s touches %q", name, got)
		}
		p.run(chromedp.Evaluate[chromedp.Void](`window.touched.clear()`))
	}
	hosttest.Check(t, agent.Dispatch(t.Context(), "ahp-terminal:/"+names[250], ahp.TerminalTitleChanged{Title: "another"}))
	p.until(`document.querySelector('[aria-label=Terminals]').innerText.includes('another')`)
	touched(names[250])
	hosttest.Check(t, agent.Dispatch(t.Context(), "ahp-terminal:/"+names[20], ahp.TerminalInput{Data: []byte("\x03")}))
	p.until(at("Exited", names[20])) // out of the middle of one group into another
	touched(names[20])
}
