package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"termhost/ahp/hosttest"
	"termhost/cmd/termhost/bench"
)

// typingPause is how long the user must type nothing after the host is lost, as the notice says.
const typingPause = time.Second

// homeShell is an interactive bash of a person's, on a terminal of its own.
type homeShell struct {
	t    *testing.T
	dir  string
	tty  *os.File
	said hosttest.Log
	read int // how much of it has been looked at
}

func newHomeShell(t *testing.T, env []string) *homeShell {
	t.Helper()
	cmd := exec.Command("bash", "--norc", "--noprofile", "-i")
	s := &homeShell{t: t, dir: t.TempDir()}
	cmd.Dir = s.dir
	cmd.Env = append(env, "PS1=home> ", "TERM=xterm-256color", "HISTFILE=", "HISTCONTROL=", "PROMPT_COMMAND=")
	var err error
	if s.tty, err = pty.StartWithSize(cmd, &pty.Winsize{Cols: 1000, Rows: 24}); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(&s.said, s.tty) // it ends with EIO when the shell has gone
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		s.tty.Close()
		<-ended
	})
	s.sees(`home> $`)
	return s
}

// sees waits until what is shown next matches.
func (s *homeShell) sees(pattern string) (match []string) {
	s.t.Helper()
	re := regexp.MustCompile(pattern)
	hosttest.Eventually(s.t, "the terminal shows "+pattern, func() bool {
		shown := string(escapes.ReplaceAll([]byte(s.said.String()), nil))
		at := re.FindStringSubmatchIndex(shown[s.read:])
		if at == nil {
			return false
		}
		match = re.FindStringSubmatch(shown[s.read:])
		s.read += at[1]
		return true
	})
	return match
}

func (s *homeShell) types(text string) {
	s.t.Helper()
	if _, err := s.tty.WriteString(text); err != nil {
		s.t.Fatal(err)
	}
}

// ranNothing checks that the shell has run these commands and no others.
func (s *homeShell) ranNothing(but ...string) {
	s.t.Helper()
	if made, err := filepath.Glob(filepath.Join(s.dir, "*")); err != nil || len(made) > 0 {
		s.t.Errorf("the user's own shell has made %q, %v", made, err)
	}
	s.types("history; echo 'that is'' all'\r")
	list := s.sees(`(?s)all'\n(.*)that is all\n.*home> $`)[1]
	var ran []string
	for _, line := range regexp.MustCompile(`(?m)^ +[0-9]+  (.*)$`).FindAllStringSubmatch(list, -1) {
		ran = append(ran, line[1])
	}
	if got, want := strings.Join(ran[:len(ran)-1], "\n"), strings.Join(but, "\n"); got != want {
		s.t.Errorf("the user's own shell has run\n%s\nand not\n%s", got, want)
	}
}

// touching is a line that makes files, wherever it is cut.
var touching = func() string {
	var b strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&b, "touch F%d;", i)
	}
	return b.String()
}()

// typingAway is a person at the keyboard of a kept terminal. The program there writes its input
// into a file.
type typingAway struct {
	*homeShell
	start  func() *bench.Host
	host   *bench.Host
	do     verbRunner
	out    string
	attach string
}

func newTypingAway(t *testing.T) *typingAway {
	t.Helper()
	return newTypingAt(t, "stty raw -echo; printf ready; exec cat >out", "ready")
}

// newTypingAt is newTypingAway with another program, which prints ready.
func newTypingAt(t *testing.T, program, ready string) *typingAway {
	t.Helper()
	start, _, do := keptHost(t, "")
	dir := t.TempDir()
	a := &typingAway{start: start, host: start(), do: do, out: filepath.Join(dir, "out")}
	do("new", "-d", "-n", "work", "-C", dir, "--", "sh", "-c", program)
	do("wait", "--match", ready, "work")
	a.homeShell = newHomeShell(t, a.host.Cmd.Env)
	a.attach = "termhost attach --retry 0 -c " + a.host.File + " work"
	return a
}

// attaches attaches, and types what has the program read this much.
func (a *typingAway) attaches(text, want string) {
	a.t.Helper()
	a.types(a.attach + "\r")
	a.sees("ready")
	a.types(text)
	a.has(want)
}

// has waits until the program has read this.
func (a *typingAway) has(want string) {
	a.t.Helper()
	var got string
	hosttest.Eventually(a.t, "the program reads it", func() bool {
		got = a.got()
		return len(got) >= len(want)
	})
	if got != want {
		a.t.Errorf("the program has read %q, and not %q", got, want)
	}
}

func (a *typingAway) got() string {
	text, _ := os.ReadFile(a.out)
	return string(text)
}

func (a *typingAway) signals(sig syscall.Signal) {
	a.t.Helper()
	if err := a.host.Cmd.Process.Signal(sig); err != nil {
		a.t.Fatal(err)
	}
}

// stop stops the host's process, and returns when it has stopped.
func (a *typingAway) stop() {
	a.t.Helper()
	a.signals(syscall.SIGSTOP)
	stat := fmt.Sprintf("/proc/%d/stat", a.host.Cmd.Process.Pid)
	hosttest.Eventually(a.t, "the host has stopped", func() bool {
		text, _ := os.ReadFile(stat)
		return strings.Contains(string(text), ") T ")
	})
}

// TestALineThatIsTypedWhileTheHostGoesDoesNotRunInTheUsersShell has the host go at random moments
// of a line. The program gets the line up to some key, and the user is shown it from there, or from
// before.
func TestALineThatIsTypedWhileTheHostGoesDoesNotRunInTheUsersShell(t *testing.T) {
	t.Parallel()
	kill := func(a *typingAway) { a.signals(syscall.SIGKILL) }
	for name, steps := range map[string][]func(*typingAway){
		"killed":             {kill},
		"ended":              {func(a *typingAway) { a.signals(syscall.SIGTERM) }},
		"stopped and killed": {(*typingAway).stop, kill},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newTypingAway(t)
			before := "first\r"
			a.attaches(before, before)
			for range 10 { // a machine that is too slow to type gets another try
				typed, fast := a.typesWhile(steps)
				<-a.host.Ended
				if fast {
					a.lostFrom(before, typed)
					a.ranNothing(a.attach)
				} else {
					a.types("\x03")
					a.sees(`home> $`)
				}
				// The next host has the terminal. Nothing more of the line ever comes.
				got := a.got()
				a.host = a.start()
				a.attaches("again\r", got+"again\r")
				if fast {
					return
				}
				before = got + "again\r"
			}
			t.Skip("this machine is too slow to type a line without a pause")
		})
	}
}

// typesWhile types a line, takes steps meanwhile, and goes on until the user has been told that
// keys are dropped, and a little longer. fast: no key came so late that the line was over.
func (a *typingAway) typesWhile(steps []func(*typingAway)) (typed string, fast bool) {
	a.t.Helper()
	const keysBetween = 20
	at, told, from := rand.IntN(5*keysBetween), -1, len(a.said.String())
	last := time.Now()
	fast = true
	for i := 0; told < 0 || i < told+keysBetween; i++ {
		if i == at && len(steps) > 0 {
			steps[0](a)
			at, steps = i+keysBetween, steps[1:]
		}
		if told < 0 && strings.Contains(a.said.String()[from:], "keys are dropped until") {
			told = i
		}
		if i == len(touching) {
			a.t.Fatal("the user is not told that keys are dropped")
		}
		typed += touching[i : i+1]
		a.types(typed[i:])
		fast = fast && time.Since(last) < typingPause/2
		last = time.Now()
		time.Sleep(2 * time.Millisecond) // a person does not type all at once
	}
	a.types("\r")
	return typed + "\r", fast && time.Since(last) < typingPause/2
}

// lostFrom compares the part of a line that the program has read with the notice to the user.
func (a *typingAway) lostFrom(before, typed string) {
	a.t.Helper()
	shown := a.sees(`termhost: (?:perhaps )?not typed: ([^\n]*)\n(?s:.*)home> $`)[1]
	read, whole := strings.CutPrefix(a.got(), before)
	if !whole || !strings.HasPrefix(typed, read) {
		a.t.Errorf("the program has read %q", a.got())
	}
	for lost := typed; len(lost) >= len(typed)-len(read); lost = lost[1:] {
		cut, long := strings.CutSuffix(shown, fmt.Sprintf("… (%d bytes)", len(lost)))
		if quoted := strconv.Quote(lost); shown == quoted || long && strings.HasPrefix(quoted, cut) {
			return
		}
	}
	a.t.Errorf("of %q the program has read %q, and the user is shown %s", typed, read, shown)
}

// TestASecretThatIsLostIsNotShown: the echo is turned off behind the question.
func TestASecretThatIsLostIsNotShown(t *testing.T) {
	t.Parallel()
	a := newTypingAt(t, "printf 'Password: '; stty -echo; read x", "Password")
	a.types(a.attach + "\r")
	a.sees("Password:")
	hosttest.Eventually(t, "the program asks for a secret", func() bool {
		return strings.Contains(a.do("ls", "--json"), `"waiting": "secret"`)
	})
	a.types("\x1c?")
	a.sees("Any key closes this")
	a.types("x")
	a.sees("Password:") // so the host has said what it had to say before
	a.stop()
	a.types("geheim\r")
	a.signals(syscall.SIGKILL)
	a.sees(`termhost: what you typed last is dropped; type it again\n`)
	a.sees(`home> $`)
	if strings.Contains(a.said.String(), "geheim") {
		t.Error("it is shown")
	}
	a.ranNothing(a.attach)
}

func TestALineThatIsTypedWhileTheHostIsStoppedArrivesWhole(t *testing.T) {
	t.Parallel()
	a := newTypingAway(t)
	a.attaches("first\r", "first\r")
	line := touching[:300] + "\r"
	a.types(line[:100])
	a.stop()
	a.types(line[100:])
	a.signals(syscall.SIGCONT)
	a.has("first\r" + line)
	a.types("\x1cd")
	a.sees(`home> $`)
	a.ranNothing(a.attach)
}

// TestALineThatIsTypedAtASharedTerminalWhileTheHostGoesArrivesWhole: its program runs beside the
// user, and needs no host.
func TestALineThatIsTypedAtASharedTerminalWhileTheHostGoesArrivesWhole(t *testing.T) {
	t.Parallel()
	start, _, _ := keptHost(t, "")
	a := &typingAway{host: start(), out: filepath.Join(t.TempDir(), "out")}
	a.homeShell = newHomeShell(t, a.host.Cmd.Env)
	line := touching[:400] + "\r"
	share := fmt.Sprintf("termhost share --local -c %s -n work -- sh -c 'stty raw -echo; printf ready; head -c %d >%s'",
		a.host.File, len(line), a.out)
	a.types(share + "\r")
	a.sees(`ready$`)
	for i, step := range []func(){
		a.stop, func() { a.signals(syscall.SIGCONT) }, a.stop, func() { a.signals(syscall.SIGKILL) },
		func() { <-a.host.Ended; a.host = start() }, func() { a.signals(syscall.SIGTERM) }, func() { <-a.host.Ended },
	} {
		a.types(line[50*i : 50*(i+1)])
		step()
	}
	a.types(line[350:])
	a.sees(`home> $`)
	a.has(line)
	a.ranNothing(share)
}
