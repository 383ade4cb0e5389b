package pagetest

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// TestAnEmptyPageSaysHowToBegin: what this is, New, the keys, and how an agent comes in, for those
// who may let one in.
func TestAnEmptyPageSaysHowToBegin(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	name, err := os.Hostname()
	hosttest.Check(t, err)
	watching := s.open(s.ticket("--role", "observer")).ready()
	watching.until(`document.querySelector('.welcome').innerText.includes('There is none yet.')`)
	if text := watching.text(); strings.Contains(text, "New terminal") || strings.Contains(text, "mcp") {
		t.Errorf("an observer is told\n%s", text)
	}
	p := s.open(s.ticket() + "&debug=screen").ready()
	p.until(fmt.Sprintf(`document.querySelector('.welcome h2')?.innerText === %q`, "Terminals on "+name))
	p.until(`document.querySelector('.welcome table').innerText.includes('all keys')`)
	p.shot("welcome")
	lines := eval[[]string](p, `[...document.querySelectorAll('.welcome .typed code')].map((e) => e.textContent)`)
	if want := fmt.Sprintf("[claude mcp add %[1]s -- ssh %[1]s mcp ssh %[1]s -s ahp]", name); fmt.Sprint(lines) != want {
		t.Errorf("agents come in with %q, want %s", lines, want)
	}
	p.click("button", "New terminal")
	p.inTerminal("web-1")
	p.shows("web-1", "# ")
	watching.until(`document.querySelector('.welcome').innerText.includes('Choose one in the list.')`)
	p.click("button", "Close this view")
	p.until(`document.querySelector('.welcome').innerText.includes('or choose one in the list')`)
}
