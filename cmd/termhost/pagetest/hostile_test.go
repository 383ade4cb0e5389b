package pagetest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// file writes a file that a terminal's programs can read, and returns its path.
func (s *site) file(name, text string) string {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	hosttest.Check(s.t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// take takes the keyboard of the one terminal that is shown.
func (p *tab) take() {
	p.t.Helper()
	p.takesIt()
	p.until(`document.querySelector('.pane.held')`)
}

// queries are what programs ask terminals, and some answers.
const queries = "\x1b[H\x05\x1bZ\x1b[c\x1b[0c\x1b[>c\x1b[=c\x1b[5n\x1b[6n\x1b[?6n\x1b[?15n\x1b[?25n\x1b[?26n\x1b[?53n\x1b[?996n" +
	"\x1b[?1$p\x1b[?2004$p\x1b[?2026$p\x1b[4$p\x1b[>q\x1b[>0q\x1b[?u\x1b[x\x1b[1x\x1b[11t\x1b[13t\x1b[14t\x1b[15t\x1b[16t" +
	"\x1b[18t\x1b[19t\x1b[20t\x1b[21t\x1b[?1;1;0S\x1b[?2;1;0S\x1b[1*y\x1b[?1;1*y\x1b[1$w\x1b[2$w\x1b[&u\x1b[\"v" +
	"\x1bP$qm\x1b\\\x1bP$qr\x1b\\\x1bP$q q\x1b\\\x1bP$q\"p\x1b\\\x1bP+q544e\x1b\\\x1bP+q436f\x1b\\" +
	"\x1b]4;1;?\x07\x1b]4;1;?;2;?\x1b\\\x1b]5;0;?\x07\x1b]10;?\x07\x1b]11;?\x1b\\\x1b]12;?\x07\x1b]10;?;?;?\x07\x1b]13;?\x07" +
	"\x1b]14;?\x07\x1b]17;?\x07\x1b]19;?\x07\x1b]21;foreground=?\x1b\\\x1b]50;?\x07\x1b]52;c;?\x07\x1b]52;p;?\x1b\\\x1b]52;;?\x07" +
	"\x1b]1337;ReportCellSize\x07\x1b]1337;RequestAttention=yes\x07\x1b]5522;type=read\x1b\\\x1b]60\x07\x1b]61\x07\x1b]702;?\x07" +
	"\x1b_Gi=1,a=q;AAAA\x1b\\\x1b[?1;2c\x1b[1;2R\x1b[2;5$y"

// sizes are the answers that tell a size, which the page's pane decides, and pixels those in pixels,
// which are known while somebody draws pictures.
var (
	sizes  = regexp.MustCompile(`\x1b\[8;\d+;\d+t|\$r1;\d+r`)
	pixels = regexp.MustCompile(`\x1b\[[46];\d+;\d+t`)
)

// TestThePageAnswersNoQuery has a program ask a terminal everything, and compares what it is told
// with a page and without one.
func TestThePageAnswersNoQuery(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	asked := s.file("queries", queries)
	// The program asks, says so, and keeps what comes before an E, and before another one.
	script := s.file("ask", "stty raw -echo\ncat "+asked+"\nprintf 'all asked'\n"+
		"IFS= read -r -d E first; printf ' once'; IFS= read -r -d E second\n"+
		"printf '%s' \"$first\" >$1.1; printf '%s' \"$second\" >$1.2; printf ' told'; exec cat\n")
	told := func(name string) (first, second string) {
		t.Helper()
		a, err := os.ReadFile(filepath.Join(s.dir, name+".1"))
		hosttest.Check(t, err)
		b, err := os.ReadFile(filepath.Join(s.dir, name+".2"))
		hosttest.Check(t, err)
		return sizes.ReplaceAllString(string(a), "SIZE"), string(b)
	}
	start := func(name string) {
		t.Helper()
		s.ssh("new", "-d", "-n", name, "--", "bash", script, filepath.Join(s.dir, name))
	}
	start("alone")
	s.ssh("wait", "--match", "'all asked'", "alone")
	s.ssh("send", "alone", "E")
	s.ssh("wait", "--match", "once", "alone")
	s.ssh("send", "alone", "E")
	s.ssh("wait", "--match", "told", "alone")
	want, _ := told("alone")
	if !strings.Contains(want, "\x1b[0n") {
		t.Fatalf("the host does not answer: %q", want)
	}

	// The page shows the terminal from before the questions on, and after a reload draws them
	// again.
	s.ssh("new", "-d", "-n", "seen", "--", "bash", "-c", fmt.Sprintf("'read go; exec bash %s %s'", script, filepath.Join(s.dir, "seen")))
	p := s.open(s.ticket("seen") + "&debug=screen").ready()
	p.take()
	p.typeLine("seen", "go")
	p.shows("seen", "all asked")
	p.keys("E")
	p.shows("seen", "once")
	p.run(chromedp.Reload())
	p.ready().shows("seen", "once")
	p.until(`document.querySelector('.pane.held')`)
	p.run(chromedp.Focus(chromedp.CSS(`[data-terminal=seen] textarea`)))
	p.keys("E")
	p.shows("seen", "told")
	first, second := told("seen")
	// The host, too, says that pictures are drawn, which only a page does.
	drawn := strings.NewReplacer("\x1b[?62;4;", "\x1b[?62;", "\x1b_Gi=1;OK\x1b\\", "")
	if pixels.ReplaceAllString(drawn.Replace(first), "") != want {
		t.Errorf("with a page the program is told\n%q\nand without one\n%q", first, want)
	}
	if second != "" {
		t.Errorf("a reload tells the program %q", second)
	}
	// The host takes the questions out. Where it does not, the page itself has no answer.
	quoted, err := json.Marshal(queries)
	hosttest.Check(t, err)
	if said := eval[string](p, fmt.Sprintf(module("screen.js")+`.then(({newTerminal}) => new Promise((resolve) => {
		const term = newTerminal({ cols: 80, rows: 24 }); let said = '';
		term.onData((data) => { said += data });
		term.write(%s, () => resolve(said)) }))`, quoted)); said != "" {
		t.Errorf("the page answers %q", said)
	}
	p.sameAs(s, "seen")
}

// What a program copies gets into the clipboard of whoever has just typed into it, and nobody
// else's; and it never gets anything out.
func TestAProgramCopiesForTheHolderOnly(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	copies := func(text string) string {
		return fmt.Sprintf("\x1b]52;c;%s\x07", base64.StdEncoding.EncodeToString([]byte(text)))
	}
	s.file("a", copies("not held")+"shown a\n")
	s.file("b", copies("held, and typed")+"\x1b]52;c;?\x07shown b\n")
	s.file("c", copies("typed long ago")+"shown c\n")
	s.ssh("new", "-d", "-n", "build", "-C", s.dir)
	p := s.open(s.ticket("build") + "&debug=screen").ready()
	eval[bool](p, `window.copied = [], window.readings = 0, navigator.clipboard.writeText = async (t) => { copied.push(t) },
		navigator.clipboard.readText = navigator.clipboard.read = async () => { readings++; return 'secret' }, true`)
	is := func(want string) {
		t.Helper()
		if got := eval[string](p, `copied.join('|')`); got != want {
			t.Errorf("copied is %q, want %q", got, want)
		}
	}
	s.ssh("send", "--enter", "build", "cat a")
	p.shows("build", "shown a")
	is("")
	p.take()
	is("")
	// The host answers the question with what this terminal has copied, and the shell reads that.
	p.typeLine("build", "cat b; read -rsd $'\\a' x")
	p.shows("build", "shown b")
	p.until(`copied.length`)
	is("held, and typed")
	p.until(`document.querySelector('.notices')?.innerText.includes('The program has copied')`)

	eval[bool](p, `(() => { const now = Date.now; Date.now = () => now() + 5001; return true })()`)
	s.ssh("send", "--enter", "build", "cat c")
	p.shows("build", "shown c")
	is("held, and typed")
	if eval[int](p, "readings") != 0 {
		t.Error("the program has read the clipboard")
	}

	// Nor does what was copied come again with the text.
	p.run(chromedp.Reload())
	p.ready()
	eval[bool](p, `window.copied = [], navigator.clipboard.writeText = async (t) => { copied.push(t) }, true`)
	p.shows("build", "shown c")
	p.run(chromedp.Focus(chromedp.CSS(`[data-terminal=build] textarea`)))
	p.keys("echo $((50+5))\r")
	p.shows("build", "\n55")
	is("")
}

// A link of a program goes to the web only, says where to, and is followed only with Ctrl.
func TestAProgramsLinksAreFollowedWithCtrl(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	visits, openers := make(chan *http.Request, 100), make(chan string, 100)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if opener, ok := strings.CutPrefix(r.URL.Path, "/opener-"); ok {
			openers <- opener
		} else if r.URL.Path != "/favicon.ico" {
			visits <- r
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, "<!doctype html><script>fetch('/opener-' + window.opener)</script>")
		}
	}))
	defer web.Close()
	link := func(uri, text string) string { return "\x1b]8;;" + uri + "\x1b\\" + text + "\x1b]8;;\x1b\\" }
	links := s.file("links", link(web.URL+"/one", "https://bank.example/")+"\r\n"+
		link("javascript:window.pwned=1", "java")+"\r\n"+link("file:///etc/passwd", "file")+"\r\n"+
		link("data:text/html,<script>1</script>", "data")+"\r\n"+web.URL+"/two\r\nend of links\r\n")
	s.ssh("new", "-d", "-n", "build", "--", "cat", links, "-")
	p := s.open(s.ticket("build") + "&debug=screen").ready()
	p.shows("build", "end of links")

	// mouse does something in the third column of a row.
	mouse := func(row int, event input.DispatchMouseEventType, ctrl bool) {
		t.Helper()
		at := eval[[]float64](p, `(() => { const b = document.querySelector('.xterm-screen').getBoundingClientRect(), t = document.querySelector('[data-screen]').dataset.screen;
			return [b.left, b.top, b.height / t.split('\n').length] })()`)
		e := input.DispatchMouseEventParams{Type: event, X: at[0] + 20, Y: at[1] + at[2]*(float64(row)+0.5), Button: input.MouseButtonLeft, ClickCount: 1}
		if event == input.DispatchMouseEventTypeMouseMoved {
			e.Button, e.ClickCount = input.MouseButtonNone, 0
		}
		if ctrl {
			e.Modifiers = 2
		}
		p.run(devtools(input.DispatchMouseEvent, e))
	}
	click := func(row int, ctrl bool) {
		t.Helper()
		mouse(row, input.DispatchMouseEventTypeMouseMoved, ctrl)
		mouse(row, input.DispatchMouseEventTypeMousePressed, ctrl)
		mouse(row, input.DispatchMouseEventTypeMouseReleased, ctrl)
	}
	mouse(0, input.DispatchMouseEventTypeMouseMoved, false)
	p.until(fmt.Sprintf(`document.querySelector('[data-terminal=build]').title === %q`, "Ctrl-click: "+web.URL+"/one"))
	click(0, false)
	for row := 1; row <= 3; row++ {
		click(row, true)
	}
	// What comes next is the first visit: none of the others was one.
	mouse(0, input.DispatchMouseEventTypeMouseMoved, true)
	p.until(`document.querySelector('[data-terminal=build]').title`)
	click(0, true)
	for _, want := range []string{"/one", "/two"} {
		var r *http.Request
		select {
		case r = <-visits:
		case <-time.After(hosttest.Patience):
			t.Fatalf("nobody asks for %s", want)
		}
		if r.URL.Path != want || r.Header.Get("Referer") != "" {
			t.Errorf("the web is asked for %s, not %s, with the Referer %q", r.URL, want, r.Header.Get("Referer"))
		}
		select {
		case opener := <-openers:
			if opener != "null" {
				t.Errorf("%s knows who has opened it: %s", want, opener)
			}
		case <-time.After(hosttest.Patience):
			t.Fatalf("%s does not say who has opened it", want)
		}
		if want == "/one" {
			mouse(4, input.DispatchMouseEventTypeMouseMoved, true)
			p.until(`document.querySelector('.xterm-cursor-pointer')`)
			click(4, true)
		}
	}
	if eval[bool](p, `'pwned' in window`) {
		t.Error("a link has run a script")
	}
	p.ready()
}

// Whatever a program, a command line or a name says is shown as text.
func TestMarkupIsText(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	const bad = `<img src=x onerror=window.pwned=1><script>window.pwned=1</script><b>"'&amp;`
	s.ssh("new", "-d", "-n", "build")
	p := s.open(s.ticket("--role", "admin", "build") + "&debug=screen").ready()
	p.take()
	title := s.file("title", "\x1b]2;"+bad+"\u202etfel\x07\x1b]0;"+bad+"\u202etfel\x07"+bad+"\r\n")
	p.typeLine("build", "cat "+title+" # "+bad)
	p.shows("build", bad)
	p.until(fmt.Sprintf(`document.querySelector('.entry .title')?.innerText.startsWith('title: ' + %q)`, bad))
	p.until(fmt.Sprintf(`[...document.querySelectorAll('[aria-label=Commands] code')].some(c => c.innerText.includes(%q))`, bad))
	folder := filepath.Join(s.dir, "<img src=x onerror=window.pwned=1>")
	hosttest.Check(t, os.Mkdir(folder, 0o700))
	p.typeLine("build", "cd '"+folder+"'; true")
	p.until(`[...document.querySelectorAll('[aria-label=Commands] li')].some(li => li.innerText.includes('true'))`)
	p.typeLine("build", "pwd")
	p.command("pwd", "ok 0") // the list does not move any more
	p.until(`[...document.querySelectorAll('[aria-label=Commands] li')].some(li => li.innerText.includes('<img src=x'))`)
	p.run(chromedp.Click(`//button[.//code[contains(., 'cat ')]]`))
	p.until(fmt.Sprintf(`document.querySelector('.output .text')?.innerText.includes(%q)`, bad))
	p.shot("markup")
	if over := eval[float64](p, `document.querySelector('.output header button:last-child').getBoundingClientRect().right -
		document.querySelector('.pane .view').getBoundingClientRect().right`); over > 0 {
		t.Errorf("a long command line moves what closes its output %g pixels away", over)
	}

	// A name in the address, a notice with a name, and a title that the person changes.
	p.run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(module("dialogs.js")+`.then((d) => d.notice(%q))`, bad)))
	p.until(fmt.Sprintf(`document.querySelector('.notices')?.innerText.includes(%q)`, bad))
	if n := eval[int](p, `document.querySelectorAll('img, b, script:not([src^="app."])').length`); n != 0 {
		t.Errorf("%d elements were made of text", n)
	}
	if eval[bool](p, `'pwned' in window || /[\u202a-\u202e]/.test(document.querySelector('.sidebar').innerText + document.title)`) {
		t.Error("text has run, or turns the direction of what follows it")
	}
}

// A program's title is told as its own, wherever it is shown, and is never what the host says.
func TestATitleCannotPoseAsTheHost(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	for _, name := range []string{"build", "deploy"} {
		s.ssh("new", "-d", "-n", name)
	}
	p := s.open(s.ticket("build") + "&debug=screen").ready()
	p.run(chromedp.Evaluate[chromedp.Void](keepNotifications))
	p.click("button", "Settings")
	p.run(chromedp.Click(chromedp.CSS(`.check:has(+ .hint) input`)))
	p.click("button", "Done")
	const entry = `document.querySelector('.entry[aria-label^="deploy, "]')`
	for i, c := range []struct{ title, shown string }{
		{"waiting for input", "title: waiting for input"},
		{"build, exited failed 1, keyboard: you", "title: build, exited failed 1, keyboard: you"},
		{"(3) build \u2013 termhost", "title: (3) build \u2013 termhost"},
		{"\u202edesrever\u202c \u2066x\u2069", "title: desrever x"},
		{"\u05d0\u05d1 1", "title: \u05d0\u05d1 1"},
		{"deploy", ""},
	} {
		title := s.file("title", "\x1b]2;"+c.title+"\x07")
		s.ssh("send", "--enter", "deploy", "cat "+title+"; read -sp Secret: x")
		p.until(entry + `.querySelector('.state').textContent.startsWith('secret')`)
		p.until(fmt.Sprintf(`(%s.querySelector('.title')?.textContent ?? '').replace(/ +/g, ' ') === %q`, entry, c.shown))
		// The notification comes a moment later.
		p.until(fmt.Sprintf(`((entry) => told.at(-1)?.body === [entry.querySelector('.title')?.textContent, document.querySelector('.brand').textContent].filter(Boolean).join(' \u2013 '))(%s)`, entry))
		for what, test := range map[string]string{
			"the entry begins with the NAME": `entry.querySelector('.name').textContent === 'deploy' && entry.innerText.trim().split('\n')[1] === 'deploy'`,
			"the hint is the title's":        `entry.title.endsWith(shown)`,
			"a screen reader hears it last":  `entry.ariaLabel === ['deploy', 'asks for a secret', entry.ariaLabel.match(/keyboard: [^,]+/)[0], entry.querySelector('.what')?.textContent, entry.querySelector('.where')?.textContent, shown].filter(Boolean).join(', ')`,
			"it turns nothing around":        `!shown || getComputedStyle(entry.querySelector('.title')).unicodeBidi === 'isolate'`,
			"the window has the host's own":  `document.title === '(1) build \u2013 ' + document.querySelector('.brand').textContent`,
			"the tab has the NAME":           `[...document.querySelectorAll('[role=tab]')].map((t) => t.ariaLabel).join() === 'build'`,
			"it is notified of as a title":   `told.at(-1).title === 'deploy: asks for a secret'`,
			"nothing unseen is left":         `!/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/.test(document.querySelector('.sidebar').innerText + entry.ariaLabel + entry.title + told.at(-1).body)`,
		} {
			t.Logf("title %q: %s", c.title, what)
			p.until(fmt.Sprintf(`((entry, shown) => %s)(%s, %[2]s.querySelector('.title')?.textContent ?? '')`, test, entry))
		}
		p.shot("title")
		s.ssh("send", "--enter", "deploy", "x")
		// Until the shell is back it may still ask.
		s.ssh("send", "--enter", "deploy", fmt.Sprintf("echo over-$((%d+1))", i))
		s.ssh("wait", "--match", fmt.Sprintf("over-%d", i+1), "deploy")
		p.until(entry + `.ariaLabel.startsWith('deploy, running')`)
	}
	// The host leaves most of such characters out. Where it does not, the page does.
	if got := eval[string](p, module("format.js")+`.then(({ programTitle }) =>
		programTitle('\u202e\u2066\u200b\ufeff\u061c\x1b over\u2028line\u2029\u200eend\u00ad\n', 'x'))`); got != "title: over line end" {
		t.Errorf("the page shows a title as %q", got)
	}
}

// A password that is typed into the page is nowhere afterwards.
func TestAPasswordStaysNowhere(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	s.ssh("new", "-d", "-n", "build")
	p := s.open(s.ticket("build") + "&debug=screen").ready()
	p.take()
	for i, enter := range []func(secret string){
		p.keys,
		func(secret string) { p.run(devtools(input.InsertText, input.InsertTextParams{Text: secret})) },
		func(secret string) {
			p.run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`(() => { const data = new DataTransfer(); data.setData('text/plain', %q);
				document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })) })()`, secret)))
		},
	} {
		p.typeLine("build", fmt.Sprintf("read -rs -p 'Password %d: ' secret; echo; echo ${#secret} letters", i))
		p.shows("build", fmt.Sprintf("\nPassword %d: ", i))
		secret := fmt.Sprintf("xyzzy-%d-plugh", i)
		enter(secret)
		if i == 0 {
			p.shot("secret")
		}
		p.keys("\r")
		p.command(fmt.Sprintf("read -rs -p 'Password %d: ' secret; echo; echo ${#secret} letters", i), "ok 0")
		p.shows("build", fmt.Sprintf("Password %d: \n13 letters", i))
	}
	for where, text := range eval[map[string]string](p, `(async () => {
		const found = { markup: document.documentElement.outerHTML, title: document.title, address: location.href,
			fields: [...document.querySelectorAll('input, textarea')].map((f) => f.value).join('|'),
			session: JSON.stringify({...sessionStorage}), local: JSON.stringify({...localStorage}),
			caches: JSON.stringify(await caches.keys()), indexed: '' };
		for (const { name, version } of await indexedDB.databases()) {
			const db = await new Promise((resolve) => { indexedDB.open(name, version).onsuccess = (e) => resolve(e.target.result) });
			for (const store of db.objectStoreNames) {
				const all = db.transaction(store).objectStore(store);
				for (const of of ['getAll', 'getAllKeys']) found.indexed += name + JSON.stringify(await new Promise((resolve) => {
					all[of]().onsuccess = (e) => resolve(e.target.result) }));
			}
			db.close();
		}
		return found })()`) {
		if strings.Contains(text, "xyzzy") || strings.Contains(text, "plugh") {
			t.Errorf("a password is in the page's %s: %s", where, text)
		}
		if text == "" && (where == "indexed" || where == "markup" || where == "session") {
			t.Errorf("nothing was found of the page's %s", where)
		}
	}
	if text := s.log.String() + s.ssh("log", "build") + s.ssh("log", "--commands", "build"); strings.Contains(text, "xyzzy") {
		t.Error("a password was logged")
	}
}

// Every other test of the page relies on this: what the policy refuses fails it.
func TestViolationsOfThePolicyAreHeard(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	p := s.open(s.ticket()).ready()
	for name, attempt := range map[string]string{
		"style-src":  `document.body.setAttributeNS(null, 'style', 'color: red')`,
		"script-src": `document.head.append(Object.assign(document.createElement('script'), { text: 'window.pwned = 1' }))`,
		"img-src":    `document.body.append(Object.assign(new Image(), { src: 'http://127.0.0.1:9/x.png' }))`,
		"trusted":    `document.body.innerHTML = '<b>x</b>'`,
		"connect":    `fetch('http://127.0.0.1:9/')`,
	} {
		p.run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`try { (%s)?.catch?.(() => {}) } catch {}`, attempt)))
		hosttest.Eventually(t, "a violation of "+name+" is heard", func() bool {
			p.mu.Lock()
			defer p.mu.Unlock()
			heard := len(p.troubles) > 0
			p.troubles = nil
			return heard
		})
	}
	if eval[bool](p, `'pwned' in window || !!document.querySelector('b')`) {
		t.Error("the policy refuses nothing")
	}
}
