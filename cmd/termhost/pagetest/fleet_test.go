package pagetest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// fleet runs termhost fleet on a site.
func (s *site) fleet(args ...string) string {
	s.t.Helper()
	cmd := exec.Command(program(s.t), append([]string{"fleet", args[0], "-c", s.config}, args[1:]...)...)
	cmd.Env = append(os.Environ(), "HOME="+s.dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("termhost fleet %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// newFleet runs two hosts of a fleet: home and box.
func newFleet(t testing.TB) (home, box *site) {
	t.Helper()
	home, box = newSite(t), newSite(t)
	fleetOf(t, home, box)
	return home, box
}

// fleetOf makes a fleet of two hosts.
func fleetOf(t testing.TB, home, box *site) {
	t.Helper()
	free, err := net.Listen("tcp4", "127.0.0.1:0")
	hosttest.Check(t, err)
	address := free.Addr().String()
	hosttest.Check(t, free.Close())
	made := home.fleet("init", "--name", "home", "--listen", address, "--at", address)
	_, line, _ := strings.Cut(made, "fleet join ")
	hosttest.Eventually(t, "home is in the fleet", func() bool {
		out, err := home.try("hosts")
		return err == nil && strings.Contains(out, "home")
	})
	box.fleet(append([]string{"join", "--name", "box"}, strings.Fields(line)...)...)
	hosttest.Eventually(t, "box is in the fleet", func() bool {
		out, err := home.try("hosts")
		return err == nil && strings.Contains(out, "box   reachable")
	})
}

// A page that is open when its host comes into its first fleet has the other hosts at once.
func TestAPageIsOpenWhenItsHostJoinsAFleet(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	home, box := newSite(t), newSite(t)
	home.ssh("new", "-d", "-n", "build")
	p := home.open(home.ticket("build") + "&debug=screen").ready()
	p.shows("build", "# ")
	fleetOf(t, home, box)
	p.until(`!!document.querySelector('[aria-label="New terminal on\u2026"], [title="New terminal on\u2026"]')`)
	home.ssh("new", "--on", "box", "-d", "-n", "talk")
	home.ssh("status", "box/talk", "waiting", "look")
	p.until(`document.title.startsWith('(1) ')`)
}

// entryOf is the list's entry of a terminal.
func entryOf(called string) string {
	return fmt.Sprintf(`[...document.querySelectorAll('.entry')].find((e) => e.querySelector('.name').innerText === %q)`,
		called)
}

// TestThePageHasTheTerminalsOfAllHosts works in a terminal of another host, which is killed and
// comes back.
func TestThePageHasTheTerminalsOfAllHosts(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	home, box := newFleet(t)
	home.ssh("new", "-d", "-n", "build")
	home.ssh("new", "--on", "box", "-d", "-n", "build")
	p := home.open(home.ticket("build") + "&debug=screen").ready()
	p.shows("build", "# ")
	p.until(entryOf("box/build") + ` !== undefined`)
	p.clickNow(`.entry[aria-label^="box/build,"]`)
	p.shows("box/build", "# ")
	p.takesIt()
	p.typeLine("box/build", "echo there $((6*7))")
	p.shows("box/build", "there 42")

	// A new one is made beside it, on its host, and gets the size of its pane.
	p.click("button", "Split")
	p.shows("box/web-1", "# ")
	hosttest.Eventually(t, "it is on box", func() bool {
		return strings.Contains(box.ssh("ls"), "web-1")
	})
	hosttest.Eventually(t, "the size of its pane", func() bool {
		return !strings.Contains(box.ssh("ls", "--json"), `"cols": 80`)
	})
	p.typeLine("box/web-1", "echo new")
	p.shows("box/web-1", "\nnew")

	// Find in all is on all hosts.
	const found = `document.querySelector('[aria-label="Found in all terminals"]:not([hidden])')`
	home.ssh("send", "--enter", "home/build", "echo here $((6*7))")
	home.ssh("wait", "--match", "here.42", "home/build")
	p.press("KeyF", 70, 2|shift)
	p.run(chromedp.SendKeys(chromedp.CSS(`.find:not([hidden]) input`), "ere 42"))
	p.clickNow(`.find:not([hidden]) [aria-label="Search all terminals"]`)
	p.until(found + `.querySelector('.what').innerText === '2 lines with “ere 42” in 2 terminals'`)
	p.shot("fleet-find")
	p.run(chromedp.Click(`//section[@aria-label='box/build']/button[contains(., 'there 42')]`))
	p.shows("box/build", "there 42")
	p.until(`!` + found)

	// While its host is silent a terminal that is shown says so, is grey and refuses keys; one that is
	// opened meanwhile comes by itself.
	p.clickNow(`.entry[aria-label^="box/web-1,"]`)
	p.listens()
	box.crash()
	const pane = `document.querySelector('[data-terminal="box/web-1"]').closest('.pane')`
	p.until(pane + `.matches('.stale') && ` + pane + `.querySelector('.who').innerText.startsWith('box is unreachable since ')`)
	p.until(entryOf("box/build") + `?.innerText.includes('unreachable')`)
	p.typeLine("box/web-1", "lost")
	p.until(told("what you type is not sent"))
	p.shot("fleet-unreachable")
	late := home.open(home.ticket() + "&debug=screen").ready()
	late.clickNow(`.entry[aria-label^="box/web-1,"]`)
	late.until(`document.querySelector('.overlay').innerText.startsWith('box is unreachable since')`)
	p.clickNow(`.entry[aria-label^="build,"]`)
	p.click("button", "Find")
	p.run(chromedp.SendKeys(chromedp.CSS(`.find:not([hidden]) input`), "ere 42"))
	p.clickNow(`.find:not([hidden]) [aria-label="Search all terminals"]`)
	p.until(found + `.innerText.startsWith('1 line with “ere 42” in 1 terminal; box was not searched')`)
	p.until(found + `.innerText.includes('box was not searched: unreachable since ')`)
	p.shot("fleet-find-unreachable")
	p.clickNow(`.entry[aria-label^="box/web-1,"]`)
	box.start()
	for _, shown := range []*tab{late, p} {
		shown.shows("box/web-1", "\nnew")
		shown.until(`!` + entryOf("box/build") + `.innerText.includes('unreachable')`)
		shown.until(`!` + pane + `.matches('.stale')`)
	}
	p.typeLine("box/web-1", "echo back $((6*7))")
	late.shows("box/web-1", "back 42")
	late.until(entryOf("box/web-1") + `.querySelector('.state').innerText.startsWith('root/page@home')`)
	if !eval[bool](late, `(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)(`+entryOf("box/web-1")+`.querySelector('.name'))`) {
		t.Error("the list cuts a NAME for its holder's")
	}
	p.shows("box/web-1", "back 42")
	if strings.Contains(p.screen("box/web-1"), "lost") {
		t.Error("what was typed while the host was silent has come to it")
	}

	// One that was only stopped goes on where it was.
	hosttest.Check(t, box.host.Cmd.Process.Signal(syscall.SIGSTOP))
	p.until(pane + `.matches('.stale')`)
	p.typeLine("box/web-1", "lost")
	hosttest.Check(t, box.host.Cmd.Process.Signal(syscall.SIGCONT))
	p.until(`!` + pane + `.matches('.stale')`)
	p.typeLine("box/web-1", "echo again $((6*7))")
	p.shows("box/web-1", "again 42")
	p.sameAs(home, "box/web-1")
	if strings.Contains(p.screen("box/web-1"), "lost") {
		t.Error("what was typed while the host was stopped has come to it")
	}
}

// TestAnotherHostsTerminalIsWorkedWith: one is made on a host that is chosen; it is renamed, gets a
// file, is saved, has its keyboard asked of a person who is logged in there, is fitted by a phone,
// and is ended.
func TestAnotherHostsTerminalIsWorkedWith(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	home, box := newFleet(t)
	home.ssh("new", "-d", "-n", "build")
	p := home.open(home.ticket("build") + "&debug=screen").ready().listens()
	p.shows("build", "# ")
	p.run(chromedp.Click(chromedp.CSS(`.places summary`)))
	p.shot("fleet-places")
	p.run(chromedp.Click(`//*[@class='places']//button[@role='menuitem'][starts-with(., 'box')]`))
	p.shows("box/web-1", "# ")
	p.until(held("box/web-1"))
	p.typeLine("box/web-1", "seq 3; echo on $((6*7))")
	p.shows("box/web-1", "on 42")
	p.sameAs(home, "box/web-1")

	box.ssh("rename", "web-1", "api")
	p.until(entryOf("box/api") + ` !== undefined`)
	p.menu("Rename")
	p.run(chromedp.SetValue(chromedp.CSS(`dialog input`), "The API"))
	p.click("button", "Rename")
	p.until(entryOf("box/api") + `.ariaLabel.includes('title: The API')`)
	p.until(`document.title.startsWith('✓ box/api – ')`)
	if text := p.saves("Save as text"); !strings.Contains(text, "on 42") {
		t.Errorf("it is saved as %q", text)
	}
	p.transfers("paste", `[data-terminal="box/api"] textarea`, `file('a.png', 3, 'image/png')`)
	p.shows("box/api", filepath.Join(box.dir, "state", "drops"))
	p.keys("\x15")

	// A person who is logged in to box takes it, and gives it when asked.
	person := box.attaches("api")
	person.shows(t, "on 42")
	person.types(t, "\x1cc")
	p.until(`document.querySelector('.pane:not(.held) .who')?.innerText.startsWith('keyboard: ')`)
	p.shot("fleet-person")
	p.typeLine("box/api", "refused")
	p.until(told("take it with"))
	p.menu("Ask for the keyboard")
	person.shows(t, "asks for the keyboard")
	person.types(t, "\x1cr")
	p.until(held("box/api"))

	phone := home.open(home.ticket() + "&debug=screen")
	phone.phone()
	phone.ready()
	phone.clickNow(`.entry[aria-label^="box/api,"]`)
	phone.shows("box/api", "on 42")
	phone.takes("box/api")
	phone.click("button", "Fit to this screen")
	phone.until(`!document.querySelector('.cut:not([hidden])')`)
	phone.becomes("box/api", "what box has", box.ssh("peek", "api"))
	phone.shot("fleet-phone-fit")
	p.until(`document.querySelector('.pane:not(.held)')`)

	phone.menu("End it")
	phone.run(chromedp.Click(`//dialog//button[.='End it']`))
	p.until(entryOf("box/api") + ` === undefined`)
	hosttest.Eventually(t, "it is gone", func() bool { return !strings.Contains(box.ssh("ls"), "api") })
}
