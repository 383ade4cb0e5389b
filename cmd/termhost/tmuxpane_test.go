package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/cmd/termhost/bench"
	"termhost/ptypool/vt"
)

// tmuxWorld is a host, and a tmux server whose panes act as people's terminals.
type tmuxWorld struct {
	t         *testing.T
	dir       string
	sshConfig string
	socket    string
	panes     int
}

// tmuxConf makes a pane as large as its window, and keeps what it showed when its program has
// ended.
const tmuxConf = `set -g status off
set -g remain-on-exit on
set -g escape-time 0
set -g history-limit 20000
set -g default-terminal xterm-256color
`

func newTmuxWorld(t *testing.T) *tmuxWorld {
	t.Helper()
	slow(t)
	slowtest.Programs(t, "tmux", "ssh", "bash")
	w := &tmuxWorld{t: t, dir: hosttest.Dir(t)}
	w.sshConfig = filepath.Join(w.dir, "ssh_config")
	w.socket = filepath.Join(w.dir, "tmux")
	w.file("tmux.conf", tmuxConf)
	w.serve()
	t.Cleanup(func() {
		if w.panes > 0 {
			exec.Command("tmux", "-S", w.socket, "kill-server").Run()
		}
	})
	return w
}

// file writes a file and returns its path.
func (w *tmuxWorld) file(name, text string) string {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return path
}

// serve starts the host and writes the ssh_config in which it is called "host".
func (w *tmuxWorld) serve() {
	w.t.Helper()
	log := hosttest.LogFile(w.t)
	config := hosttest.OwnedConfig(w.t.Name(), bench.Config(w.dir))
	h, err := bench.StartHost("termhost", w.file("serve.toml", config), []string{"HOME=" + w.dir,
		"PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "SHELL=/bin/bash"}, log)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		if err := h.Stop(os.Interrupt); err != nil {
			w.t.Error(err)
		}
	})
	w.file("ssh_config", h.SSHConfig())
}

// ssh runs a command of the host and returns what it prints.
func (w *tmuxWorld) ssh(args ...string) string {
	w.t.Helper()
	cmd := exec.Command("ssh", append([]string{"-F", w.sshConfig, "host"}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		w.t.Fatalf("ssh host %q: %v\n%s", args, err, stderr.String())
	}
	return string(out)
}

// peeks waits until the host's screen of a terminal matches.
func (w *tmuxWorld) peeks(name, pattern string) string {
	w.t.Helper()
	return w.await("the host's screen of "+name, pattern,
		func() string { return w.ssh("peek", name) })
}

// await polls until what get returns matches.
func (w *tmuxWorld) await(what, pattern string, get func() string) string {
	w.t.Helper()
	re := regexp.MustCompile(pattern)
	for deadline := time.Now().Add(patience); ; {
		s := get()
		if re.MatchString(s) {
			return s
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("%s never matches %q:\n%s", what, pattern, s)
		}
	}
}

// pane is one terminal in tmux, of 80 by 24.
type pane struct {
	w  *tmuxWorld
	id string
}

// run runs a command line in a new pane.
func (w *tmuxWorld) run(line string) pane {
	w.t.Helper()
	id := fmt.Sprintf("p%d", w.panes)
	w.panes++
	w.tmux("-f", filepath.Join(w.dir, "tmux.conf"),
		"new-session", "-d", "-s", id, "-x", "80", "-y", "24", line)
	return pane{w, id}
}

// host runs ssh -t host ARGS in a new pane.
func (w *tmuxWorld) host(args string) pane {
	w.t.Helper()
	return w.run("exec ssh -F " + w.sshConfig + " -t host " + args)
}

func (w *tmuxWorld) tmux(args ...string) string {
	w.t.Helper()
	cmd := exec.Command("tmux", append([]string{"-S", w.socket}, args...)...)
	cmd.Env = []string{"HOME=" + w.dir, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8",
		"SHELL=/bin/sh", "TERM=xterm-256color"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return string(out)
}

func (p pane) keys(keys ...string) {
	p.w.t.Helper()
	p.w.tmux(append([]string{"send-keys", "-t", p.id}, keys...)...)
}

func (p pane) resize(cols, rows int) {
	p.w.t.Helper()
	p.w.tmux("resize-window", "-t", p.id, "-x", fmt.Sprint(cols), "-y", fmt.Sprint(rows))
}

// text returns what the pane shows, without colours.
func (p pane) text() string {
	p.w.t.Helper()
	return p.w.tmux("capture-pane", "-p", "-t", p.id)
}

// all returns the text of the scrollback and the screen.
func (p pane) all() string {
	p.w.t.Helper()
	return p.w.tmux("capture-pane", "-p", "-S", "-", "-t", p.id)
}

func (p pane) sees(pattern string) string {
	p.w.t.Helper()
	return p.w.await("the pane", pattern, p.text)
}

// paneState asks tmux for the state and the modes of a pane.
const paneState = "cursor #{cursor_x},#{cursor_y} shown=#{cursor_flag} alt=#{alternate_on} " +
	"size=#{pane_width}x#{pane_height} insert=#{insert_flag} appcursor=#{keypad_cursor_flag} " +
	"keypad=#{keypad_flag} wrap=#{wrap_flag} origin=#{origin_flag} " +
	"mouse=#{mouse_any_flag},#{mouse_standard_flag},#{mouse_button_flag},#{mouse_all_flag}," +
	"#{mouse_sgr_flag},#{mouse_utf8_flag} " +
	"region=#{scroll_region_upper}-#{scroll_region_lower}"

// look returns what the pane shows, with colours, and its state. tmux writes line drawing
// characters in the way they were printed; feeding them to a terminal makes equal looks equal text.
func (p pane) look() string {
	p.w.t.Helper()
	captured := p.w.tmux("capture-pane", "-e", "-p", "-t", p.id)
	v := vt.New(300, 100, vt.Options{})
	v.Feed([]byte("\x1b)0"+strings.ReplaceAll(captured, "\n", "\r\n")), nil)
	state := p.w.tmux("display-message", "-p", "-t", p.id, paneState)
	return string(v.AppendText(nil, true)) + state
}

// same waits until two panes look the same and match the pattern.
func (w *tmuxWorld) same(want, got pane, pattern string) {
	w.t.Helper()
	re := regexp.MustCompile(pattern)
	for deadline := time.Now().Add(patience); ; {
		a, b := want.look(), got.look()
		if a == b && re.MatchString(a) {
			return
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("never the same, with %q; run directly, by the host:\n%s",
				pattern, firstDifference(a, b))
		}
	}
}

// firstDifference returns the first lines that differ.
func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("line %d\n%q\n%q", i, x[i], y[i])
		}
	}
	return ""
}
