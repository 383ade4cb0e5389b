package client_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"termhost/ahp"
	"termhost/ahp/client"
	"termhost/ahp/host"
	"termhost/ahp/hosttest/slowtest"
	"termhost/ptypool/nonce"
	"termhost/ptypool/shellinit"
)

// BenchmarkCommand is the time that an agent needs for a command in a shell of its own: it creates a
// terminal, types true at the prompt and is told of the command's end. By turns with it the same
// bash is started on a pty that nobody else reads, with the same integration; ratio is that of the
// medians.
func BenchmarkCommand(b *testing.B) {
	bash := slowtest.Program(b, "bash")
	w := newWorld(b, func(c *host.Config) { c.Shell, c.ShellIntegration = bash, true })
	c := w.connect("alice")
	in := shellinit.Scripts{Dir: filepath.Join(b.TempDir(), "shell")}
	check(b, in.Install())
	w.command(c, "first")
	bare(b, in, bash)
	var ours, own []time.Duration
	for b.Loop() {
		start := time.Now()
		dispose := w.command(c, fmt.Sprintf("c%d", len(ours)))
		ours = append(ours, time.Since(start))
		dispose()
		own = append(own, bare(b, in, bash))
	}
	slices.Sort(ours)
	slices.Sort(own)
	mine, its := ours[len(ours)/2], own[len(own)/2]
	b.ReportMetric(float64(mine.Microseconds()), "µs-p50")
	b.ReportMetric(float64(its.Microseconds()), "µs-bash")
	b.ReportMetric(float64(mine)/float64(its), "ratio")
}

// command runs true in a shell in a new terminal. dispose ends the terminal.
func (w *world) command(c *client.Client, name string) (dispose func()) {
	uri := ahp.TerminalURI(name)
	check(w.t, c.CreateTerminal(w.ctx, ahp.CreateTerminalParams{Channel: uri}))
	m := w.follow(c, uri)
	w.waits(m, func(s *ahp.TerminalState) bool { return s.Detection })
	check(w.t, c.Dispatch(w.ctx, uri, ahp.TerminalInput{Data: []byte("true\r")}))
	w.waits(m, func(s *ahp.TerminalState) bool {
		return slices.ContainsFunc(s.Content, func(p ahp.Part) bool {
			return p.Command != nil && p.Command.Complete
		})
	})
	return func() { check(w.t, c.DisposeTerminal(w.ctx, uri)) }
}

// bare runs true in a bash on a pty, and returns how long that took.
func bare(b *testing.B, in shellinit.Scripts, bash string) time.Duration {
	b.Helper()
	start := time.Now()
	env := append(os.Environ(), "TERM=xterm-256color")
	argv, env, grant, ok := in.Apply(bash, false, env)
	if !ok {
		b.Fatal("no integration")
	}
	master, tty, err := pty.Open()
	if err != nil {
		b.Fatal(err)
	}
	defer master.Close()
	check(b, pty.Setsize(master, &pty.Winsize{Cols: host.DefaultCols, Rows: host.DefaultRows}))
	fd, err := grant.Open()
	if err != nil || fd < 0 {
		b.Fatal(fd, err)
	}
	secret := os.NewFile(uintptr(fd), "nonce")
	files := []*os.File{tty, tty, tty, nonce.FD: secret}
	proc, err := os.StartProcess(bash, argv, &os.ProcAttr{Env: env, Files: files,
		Sys: &syscall.SysProcAttr{Setsid: true, Setctty: true}})
	if err != nil {
		b.Fatal(err)
	}
	grant.Give(proc.Pid)
	secret.Close()
	tty.Close()
	var out []byte
	until := func(mark string) {
		piece := make([]byte, 4<<10)
		for !bytes.Contains(out, []byte(mark)) {
			n, err := master.Read(piece)
			if err != nil {
				b.Fatalf("%v after %q", err, out)
			}
			out = append(out, piece[:n]...)
		}
	}
	until("\x1b]633;A")
	_, err = master.WriteString("true\r")
	check(b, err)
	until("\x1b]633;D;0")
	took := time.Since(start)
	check(b, proc.Kill())
	_, err = proc.Wait()
	check(b, err)
	return took
}
