package pagetest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// The package that has VS Code's workbench, and what it must be. Another version may need other
// places in testdata/vscode/client.mjs.
const (
	codePackage   = "code-server@4.139.1"
	codeIntegrity = "sha512-fUYvJVdz4ZoVJfakGiGWXFMpF8K1ObsrpGvX17ZxNpKOzdNHs7lANT670JTr4ZhA8DnWqyvvmFG/d3HV9Yy6ew=="
)

// codeFiles are the files that are needed of the package, by their names in it.
var codeFiles = map[string]string{
	"package/lib/vscode/out/nls.messages.js":                        "nls.messages.js",
	"package/lib/vscode/out/vs/code/browser/workbench/workbench.js": "workbench.js",
}

// installCode returns a folder with codeFiles.
func installCode(t *testing.T) string {
	t.Helper()
	return npmFiles(t, codePackage, codeIntegrity, codeFiles)
}

// openCode opens a page with VS Code's client, which is connected to a host.
func openCode(t *testing.T, s *site) *tab {
	t.Helper()
	files := http.NewServeMux()
	files.Handle("/", http.FileServer(http.Dir(installCode(t))))
	files.Handle("/client.mjs", http.FileServer(http.Dir("testdata/vscode")))
	files.HandleFunc("/page", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<!doctype html><script src="nls.messages.js"></script>`+
			`<script type="module" src="client.mjs"></script>`)
	})
	server := httptest.NewServer(files)
	t.Cleanup(server.Close)
	s.set("http.allowed_origins", fmt.Sprintf("[%q]", server.URL))
	token := strings.TrimSpace(s.ssh("token", "--name", "code"))
	p := s.open(server.URL + "/page")
	p.until(`globalThis.code`)
	eval[any](p, fmt.Sprintf(`code.connect(%q, %q)`, "ws://"+s.address()+"/ahp", token))
	return p
}

// ownMark is what VS Code's client itself puts into a terminal's text, where a command begins or ends.
var ownMark = regexp.MustCompile(`\x1b\]633;SetMark;Id=ahp-[^;]*;Hidden\x07`)

// TestVSCodeGoesOnAtTheNextHost: VS Code's own client has every byte and every command of its
// terminals once, however often the host is killed or stopped meanwhile. What is typed while there
// is none is typed at the next.
func TestVSCodeGoesOnAtTheNextHost(t *testing.T) {
	slowtest.Skip(t)
	onPage(t)
	s := newSite(t)
	p := openCode(t, s)
	s.ssh("new", "-d", "-n", "idle")
	s.ssh("send", "--enter", "idle", "echo quiet")
	const made, idle = "agenthost-terminal:/made", "ahp-terminal:/idle"
	has := func(uri, text string) {
		t.Helper()
		p.until(fmt.Sprintf(`code.text(%q).includes(%q)`, uri, text))
	}
	enter := func(line string) {
		t.Helper()
		eval[any](p, fmt.Sprintf(`code.input(%q, %q)`, made, line+"\r"))
	}
	eval[any](p, fmt.Sprintf(`code.open(%q, {name: "made"})`, made))
	eval[any](p, fmt.Sprintf(`code.open(%q, {attachOnly: true})`, idle))
	has(idle, "quiet\r\n")

	var want []string
	for round, how := range []syscall.Signal{
		syscall.SIGKILL, syscall.SIGTERM, syscall.SIGTERM, syscall.SIGKILL,
	} {
		sent := fmt.Sprintf("echo sent $((%d+100))", round)
		s.ssh("send", "--enter", "made", sent) // by a person, to whom the keyboard is lent
		has(made, fmt.Sprintf("sent %d\r\n", round+100))
		stop := filepath.Join(s.dir, fmt.Sprint("stop", round))
		loop := fmt.Sprintf("i=0; until [ -e %s ]; do echo line %d.$((++i)); sleep 0.005; done", stop, round)
		away := fmt.Sprintf("echo typed $((%d+100))", round)
		want = append(want, sent, loop, away)
		enter(loop)
		has(made, fmt.Sprintf("line %d.50\r\n", round))
		_ = s.host.Stop(how)
		p.until(`code.state() === "reconnecting"`)
		enter(away)
		s.start()
		p.until(`code.state() === "connected"`)
		lines := fmt.Sprintf(`code.text(%q).split("\n").length`, made)
		p.until(fmt.Sprintf("%s > %d", lines, eval[int](p, lines)+50))
		hosttest.Check(t, os.WriteFile(stop, nil, 0o600))
		has(made, fmt.Sprintf("typed %d\r\n", round+100))
	}
	enter("exit 3")
	want = append(want, "exit 3")
	p.until(fmt.Sprintf(`code.told[%q].at(-1)[0] === "exit"`, made))

	for uri, commands := range map[string][]string{made: want, idle: {"echo quiet"}} {
		name := path.Base(uri)
		got := ownMark.ReplaceAllString(eval[string](p, fmt.Sprintf(`code.text(%q)`, uri)), "")
		if raw := s.ssh("log", "--raw", name); got != raw {
			t.Errorf("%s: the client has written\n%q\nand the log is\n%q", name, got, raw)
		}
		var executed, finished, ids []string
		for _, e := range eval[[][]string](p, fmt.Sprintf(`code.told[%q]`, uri)) {
			switch e[0] {
			case "executed":
				ids, executed = append(ids, e[1]), append(executed, e[2])
			case "finished":
				finished = append(finished, e[1])
			}
		}
		if !slices.Equal(executed, commands) {
			t.Errorf("%s: the client was told of the commands\n%q, want\n%q", name, executed, commands)
		}
		if !slices.Equal(finished, ids) {
			t.Errorf("%s: the commands %q began and %q have ended", name, ids, finished)
		}
	}
	if seen := eval[[]string](p, `code.seen`); slices.Contains(seen, "terminal/cleared") {
		t.Error("the client was resynchronised")
	}
	if t.Failed() {
		t.Log(eval[[]string](p, `code.log`))
	}
}
