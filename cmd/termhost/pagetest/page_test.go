package pagetest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/ptypool/vt"
)

// TestThePageShowsATerminal is the one test of the page that a plain go test runs.
func TestThePageShowsATerminal(t *testing.T) {
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "build")
	p := s.open(s.ticket("build") + "&debug=screen").ready()
	s.ssh("send", "--enter", "build", "echo $((40+2)) is the answer")
	p.shows("build", "42 is the answer")
	p.sameAs(s, "build")
	p.takesIt()
	p.until(`document.querySelector('.pane.held')`)
	p.typeLine("build", "echo typed $((1+1)) here")
	p.shows("build", "typed 2 here")
	p.sameAs(s, "build")
}

// TestThePageGoesOnAfterACrash ends the host as a crash does. The page keeps what it shows, says
// so, and is back with the host.
func TestThePageGoesOnAfterACrash(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "build")
	p := s.open(s.ticket("build") + "&debug=screen").ready()
	p.shows("build", "# ")
	s.crash()
	p.until(`document.documentElement.dataset.termhost === "lost"`)
	p.until(`document.querySelector('.strip').innerText.includes('trying again')`)
	s.start()
	p.ready()
	if _, err := s.try("new", "-d", "-n", "again"); err != nil {
		t.Fatal(err)
	}
	p.until(`[...document.querySelectorAll('.entry')].some(e => e.innerText.includes('again'))`)
	if list := s.ssh("ls"); strings.Contains(list, "build ") {
		p.sameAs(s, "build")
	} else {
		p.until(`document.querySelector('.overlay').innerText.includes('no terminal build')`)
	}
}

func TestThePageDrawsCharactersAsWideAsTheHost(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	hosttest.Check(t, os.WriteFile(filepath.Join(s.dir, "corpus"), []byte(widthCorpus), 0o600))
	s.ssh("new", "-d", "-n", "wide", "--", "cat", filepath.Join(s.dir, "corpus"), "-")
	p := s.open(s.ticket("wide") + "&debug=screen").ready()
	p.shows("wide", "end")
	p.sameAs(s, "wide")
	// The columns behind each line are the same, too: the host says where its cursor is.
	for _, text := range strings.Split(strings.TrimSpace(widthCorpus), "\n") {
		quoted, err := json.Marshal(strings.TrimSuffix(text, "|"))
		hosttest.Check(t, err)
		for mode, clusters := range map[string]bool{"\x1b[?2027l": false, "\x1b[?2027h": true} {
			got := eval[int](p, fmt.Sprintf(module("widths.js")+`.then(({Widths}) => { const w = new Widths(); let total = 0, state = 0;
				w.clusters = %v;
				for (const c of %s) { const next = w.charProperties(c.codePointAt(0), state);
					total += (next >> 1 & 3) - (next & 1 ? state >> 1 & 3 : 0); state = next } return total })`, clusters, quoted))
			screen := vt.New(200, 1, vt.Options{})
			screen.Feed([]byte(mode+strings.TrimSuffix(text, "|")), nil)
			if want, _, _ := screen.Cursor(); got != want {
				t.Errorf("%q takes %d cells in the page and %d on the host; clusters: %v", text, got, want, clusters)
			}
		}
	}
}

// widthCorpus has a character, or cluster, of each kind in which terminals differ.
const widthCorpus = "ascii|\n日本語|\nＦＵＬＬ|\né e\u0301|\n👍👍🏽|\n👩‍👩‍👧‍👦|\n🏳️‍🌈|\n🇩🇪🇫🇷|\n❤❤️|\n☺︎☺️|\n1️⃣|\n한국어|\n각|\n" +
	"ก็|\nनमस्ते|\nक्षि|\nالعربية|\n①②|\n─│┼|\n▁▂▃|\n\u200bzero|\na\u200db|\n…—|\n🤷🏼‍♂️|\n⌚⏰|\n™️©|\nend|\n"

func TestPageLooks(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "build")
	s.ssh("new", "-d", "-n", "agent-7")
	s.ssh("new", "-d", "-n", "lint", "--", "sh", "-c", "exit 3")
	s.ssh("new", "-d", "-n", "docs", "--", "true")
	p := s.open(s.ticket("build") + "&debug=screen")
	p.prefers("dark")
	p.ready()
	for i, line := range []string{"ls --color=always /", "false", "sleep 0.4; (exit 0)", "(kill -9 $BASHPID)", "git --version"} {
		s.ssh("send", "--enter", "build", fmt.Sprintf("%s; echo line $((%d+1))", line, i))
		p.shows("build", fmt.Sprintf("line %d", i+1))
	}
	p.shot("dark")
	p.takesIt()
	p.until(`document.querySelector('.pane.held')`)
	p.typeLine("build", "vim -c 'set nu' /etc/passwd")
	p.shows("build", "root")
	p.shot("dark-held")
	p.prefers("light")
	p.shot("light-held")
	p.keys(":q\r")
	p.until(`!document.querySelector('dialog')`)
	p.beside("agent-7")
	p.shot("light-split")
}

// prefers sets the browser's colour scheme.
func (p *tab) prefers(scheme string) {
	p.t.Helper()
	p.run(devtools(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}))
}

// beside shows a terminal beside what is shown.
func (p *tab) beside(name string) {
	p.t.Helper()
	eval[bool](p, fmt.Sprintf(`[...document.querySelectorAll('button.entry')].find(b =>
		b.getAttribute('aria-label').startsWith(%q)).dispatchEvent(new MouseEvent('click', {altKey: true, bubbles: true}))`, name))
	p.until(fmt.Sprintf(`document.querySelector('[data-terminal=%q] [data-screen]')?.dataset.screen`, name))
}
