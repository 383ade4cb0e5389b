package pagetest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// transfers dispatches an event at a terminal of the page that brings files, or a text. It returns
// whether the page has kept the browser from acting on it.
func (p *tab) transfers(event, where, data string) bool {
	p.t.Helper()
	return eval[bool](p, fmt.Sprintf(`(() => {
		const data = new DataTransfer(), file = (name, size, type) => data.items.add(new File([new Uint8Array(size).fill(65)], name, { type }));
		%s;
		const e = %q === 'paste' ? new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }) :
			new DragEvent(%[2]q, { dataTransfer: data, bubbles: true, cancelable: true });
		document.querySelector(%q).dispatchEvent(e);
		return e.defaultPrevented })()`, data, event, where))
}

// A picture that is pasted, and files that are dropped or chosen, come to the host; the program gets
// their paths, and no Enter.
func TestFilesArePastedAsPaths(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "build", "--", "stty -echo; exec cat -v")
	p := s.open(s.ticket("build") + "&debug=screen").ready()
	p.keepNotices()
	const terminal = `[data-terminal=build] textarea`
	dir := filepath.Join(s.dir, "state", "drops", "build")

	// Who has no keyboard has no files to give.
	agent := s.agent("codex")
	claim := ahp.ClientClaim(agent.ID())
	hosttest.Check(t, agent.CreateTerminal(t.Context(), ahp.CreateTerminalParams{
		Channel: ahp.TerminalURI("theirs"), Claim: &claim}))
	p.clickNow(`.entry[aria-label^="theirs,"]`)
	p.shows("theirs", "# ")
	p.transfers("paste", `[data-terminal=theirs] textarea`, `file('a.png', 3, 'image/png')`)
	p.noticed("The keyboard is with")
	p.clickNow(`.entry[aria-label^="build,"]`)
	p.takes("build")
	if _, err := os.Stat(filepath.Dir(dir)); !os.IsNotExist(err) {
		t.Errorf("a file has come of somebody who does not hold the keyboard: %v", err)
	}

	size := func(name string) int64 {
		t.Helper()
		info, err := os.Stat(filepath.Join(dir, name))
		hosttest.Check(t, err)
		return info.Size()
	}
	pastes := func(what string, names ...string) {
		t.Helper()
		if text := s.ssh("log", "build"); strings.Contains(text, names[0]) {
			t.Errorf("%s, with an Enter: %q", what, text)
		}
		p.typeLine("build", "")
		var line strings.Builder
		for _, name := range names {
			fmt.Fprintf(&line, "'%s' ", filepath.Join(dir, name))
		}
		hosttest.Eventually(t, what, func() bool {
			return strings.Contains(s.ssh("log", "build"), strings.TrimSpace(line.String())+"\n")
		})
	}
	uploaded := func() { p.until(`document.querySelector('.upload').hidden`) }
	if !p.transfers("paste", terminal, `file('image.png', 100, 'image/png')`) {
		t.Error("the browser pastes a picture, too")
	}
	hosttest.Eventually(t, "the picture has come", func() bool {
		_, err := os.Stat(filepath.Join(dir, "image.png"))
		return err == nil
	})
	uploaded()
	pastes("its path is pasted", "image.png")
	if n := size("image.png"); n != 100 {
		t.Errorf("of the picture %d bytes have come", n)
	}

	// Several, one of which comes in pieces, with names that mean something to a shell.
	p.transfers("dragover", ".pane", `file('x', 1, '')`)
	p.until(`document.querySelector('.pane').dataset.drop === 'file'`)
	p.transfers("drop", ".pane", `file('$(rm -rf ~).txt', 3, ''); file('large', 3000000, '')`)
	hosttest.Eventually(t, "the large one has come", func() bool {
		info, err := os.Stat(filepath.Join(dir, "large"))
		return err == nil && info.Size() == 3000000
	})
	uploaded()
	p.until(`!('drop' in document.querySelector('.pane').dataset)`)
	pastes("both paths are pasted", "rm--rf---.txt", "large")

	// Too large; a text is a text, whatever comes with it; elsewhere nothing is opened.
	p.transfers("drop", ".pane", fmt.Sprintf(`file('huge.iso', %d, '')`, host.MaxDropBytes+1))
	p.noticed("huge.iso has more than 10 MiB")
	p.transfers("paste", terminal, `file('cells.png', 9, 'image/png'); data.setData('text/plain', 'just text')`)
	p.typeLine("build", "")
	p.shows("build", "just text")
	if !p.transfers("drop", ".sidebar", `file('page.html', 9, 'text/html')`) {
		t.Error("a file that is dropped beside a terminal takes the page's place")
	}
	entries, err := os.ReadDir(dir)
	hosttest.Check(t, err)
	if len(entries) != 3 {
		t.Errorf("there are %v", entries)
	}

	s.ssh("rm", "build")
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the terminal is gone, its files are not: %v", err)
	}
}

// What is on its way can be cancelled, and then nothing is pasted or left.
func TestAnUploadCanBeCancelled(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "build", "--", "cat")
	p := s.open(s.ticket("build") + "&debug=screen").ready()
	p.keepNotices()
	p.takes("build")
	p.run(chromedp.Evaluate[chromedp.Void](`(() => { // the person is quicker than the line
		const b = document.querySelector('.upload button');
		new MutationObserver(() => b.click()).observe(b.parentElement, { attributes: true });
	})()`))
	p.transfers("drop", ".pane", `file('large', 3000000, '')`)
	p.noticed("large was not sent")
	p.until(`document.querySelector('.upload').hidden`)
	s.ssh("send", "--enter", "build", "after")
	p.shows("build", "after")
	if text := p.screen("build"); strings.Contains(text, "large") {
		t.Errorf("it is pasted: %q", text)
	}
}
