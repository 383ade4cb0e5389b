package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/creack/pty"
	"github.com/rogpeppe/go-internal/testscript"

	"termhost/ptypool/vt"
)

// person is somebody who runs a program in a terminal.
type person struct {
	cmd  *exec.Cmd
	tty  *os.File
	done chan struct{}
	err  error // of Wait; set before done is closed

	mu      sync.Mutex
	output  []byte // everything that was shown
	read    int    // how much of it, without escapes, has been matched
	changed chan struct{}
}

// cmdPerson lets people use programs, each in a terminal of their own.
//
//	person NAME runs PROGRAM ARGS...   in a terminal of 80x24
//	person NAME types TEXT             with Go's escapes: \r is Enter
//	person NAME sees REGEXP            in what is shown next, waiting for it
//	! person NAME sees REGEXP          it was not shown so far
//	person NAME reads REGEXP           in a notice of a first login, waiting for it
//	! person NAME reads REGEXP         there was none so far
//	person NAME resizes COLSxROWS
//	person NAME gets PATTERN           its terminal has been sent that, with escape sequences
//	person NAME leaves [STATUS...]     the program ends by itself, with one of the statuses
//	person NAME vanishes               the program is killed, and its connection with it
//	person NAME has a sane terminal    the output leaves a terminal as a shell expects it
func cmdPerson(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: person NAME VERB ...")
	}
	s, name, verb, rest := storyOf(ts), args[0], args[1], args[2:]
	if verb == "runs" {
		s.people[name] = startPerson(ts, rest)
		return
	}
	p := s.people[name]
	if p == nil {
		ts.Fatalf("%s runs nothing", name)
	}
	switch verb {
	case "types":
		quoted := strings.ReplaceAll(strings.Join(rest, " "), `"`, `\"`)
		text, err := strconv.Unquote(`"` + quoted + `"`)
		ts.Check(err)
		_, err = p.tty.WriteString(text)
		ts.Check(err)
	case "sees":
		p.sees(ts, neg, strings.Join(rest, " "))
	case "reads":
		p.reads(ts, neg, strings.Join(rest, " "))
	case "gets":
		p.gets(ts, strings.Join(rest, " "))
	case "resizes":
		cols, rows, _ := strings.Cut(rest[0], "x")
		c, err := strconv.ParseUint(cols, 10, 16)
		ts.Check(err)
		r, err := strconv.ParseUint(rows, 10, 16)
		ts.Check(err)
		ts.Check(pty.Setsize(p.tty, &pty.Winsize{Cols: uint16(c), Rows: uint16(r)}))
	case "leaves":
		p.leaves(ts, rest)
	case "vanishes":
		p.leave()
	case "has":
		p.sane(ts)
	default:
		ts.Fatalf("a person does not %q", verb)
	}
}

func startPerson(ts *testscript.TestScript, args []string) *person {
	if len(args) == 0 {
		ts.Fatalf("usage: person NAME runs PROGRAM ARGS...")
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Path = firstDir(ts.Getenv("PATH"), args[0])
	cmd.Err = nil
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = []string{"HOME=" + ts.Getenv("HOME"), "PATH=" + ts.Getenv("PATH"),
		"TERM=xterm-256color", "LANG=C.UTF-8"}
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 80, Rows: 24})
	ts.Check(err)
	p := &person{cmd: cmd, tty: tty, done: make(chan struct{}), changed: make(chan struct{}, 1)}
	go p.watch()
	return p
}

func (p *person) watch() {
	buf := make([]byte, 32<<10)
	for {
		n, err := p.tty.Read(buf)
		p.mu.Lock()
		p.output = append(p.output, buf[:n]...)
		p.mu.Unlock()
		p.notify()
		if err != nil {
			break
		}
	}
	p.err = p.cmd.Wait()
	close(p.done)
	p.notify()
}

func (p *person) notify() {
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

// escapes matches what a person does not see: control sequences and the like.
var escapes = regexp.MustCompile(`\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|` +
	`\x1b[()][A-Z0-9]|\x1b[=>78MDEHc]|\r`)

// inside is the notice of a first login, which nearly every story begins with. It comes a moment
// after the prompt, or does not, on a busy machine; so people look at it only if they are asked to.
var inside = regexp.MustCompile(`(?:\x1b\[\d+;1H )?\x1b\[\d+;1H\x1b\[0;7m\x1b\[2K` +
	`termhost: you are inside a termhost terminal[^\x1b]*`)

// sees waits until the output since the last match matches.
func (p *person) sees(ts *testscript.TestScript, neg bool, pattern string) {
	p.looks(ts, neg, pattern, func(re *regexp.Regexp) (at []int, shown []byte) {
		shown = escapes.ReplaceAll(inside.ReplaceAll(p.output, nil), nil)
		at = re.FindIndex(shown[min(p.read, len(shown)):])
		if at != nil {
			p.read += at[1]
		}
		return at, shown
	})
}

// reads waits until a notice of a first login matches.
func (p *person) reads(ts *testscript.TestScript, neg bool, pattern string) {
	p.looks(ts, neg, pattern, func(re *regexp.Regexp) (at []int, shown []byte) {
		notice := escapes.ReplaceAll(bytes.Join(inside.FindAll(p.output, -1), nil), nil)
		return re.FindIndex(notice), p.output
	})
}

// looks waits until a pattern is found in what is shown.
func (p *person) looks(ts *testscript.TestScript, neg bool, pattern string,
	in func(*regexp.Regexp) (at []int, shown []byte)) {
	re, err := regexp.Compile(pattern)
	ts.Check(err)
	deadline := time.After(patience)
	for {
		p.mu.Lock()
		at, shown := in(re)
		p.mu.Unlock()
		switch {
		case neg && at != nil:
			ts.Fatalf("it has been shown: %q in\n%s", pattern, shown)
		case neg || at != nil:
			return
		}
		select {
		case <-p.changed:
		case <-deadline:
			ts.Fatalf("never shown: %q; but this:\n%s", pattern, shown)
		}
	}
}

// gets waits until what the person's terminal is sent matches, from the first byte on.
func (p *person) gets(ts *testscript.TestScript, pattern string) {
	p.looks(ts, false, pattern, func(re *regexp.Regexp) (at []int, shown []byte) {
		return re.FindIndex(p.output), p.output
	})
}

func (p *person) leaves(ts *testscript.TestScript, args []string) {
	if len(args) == 0 {
		args = []string{"0"}
	}
	select {
	case <-p.done:
	case <-time.After(patience):
		p.mu.Lock()
		defer p.mu.Unlock()
		ts.Fatalf("the program does not end; shown:\n%s", p.output)
	}
	if got := p.cmd.ProcessState.ExitCode(); !slices.Contains(args, strconv.Itoa(got)) {
		ts.Fatalf("the program ended with %d, want %v; shown:\n%s", got, args, p.output)
	}
}

// sane feeds everything that was shown to a terminal and asks it for its modes.
func (p *person) sane(ts *testscript.TestScript) {
	p.mu.Lock()
	defer p.mu.Unlock()
	v, answers := vt.New(80, 24, vt.Options{}), &vtAnswers{}
	v.SetPixels(640, 384) // without them there is no mode 1016
	v.Feed(p.output, answers)
	answers.text = ""
	for _, mode := range []int{1, 5, 6, 9, 12, 45, 47, 66, 67, 1000, 1002, 1003, 1004, 1005, 1006,
		1015, 1016, 1049, 2004, 2026, 2031} {
		v.Feed(fmt.Appendf(nil, "\x1b[?%d$p", mode), answers)
		if want := fmt.Sprintf("\x1b[?%d;2$y", mode); answers.text != want {
			ts.Fatalf("mode %d is not off: %q, want %q", mode, answers.text, want)
		}
		answers.text = ""
	}
	v.Feed([]byte("\x1b[?u\x1b[?4m"), answers)
	if want := "\x1b[?0u\x1b[>4;0m"; answers.text != want {
		ts.Fatalf("the keyboard: %q, want %q", answers.text, want)
	}
	if _, _, visible := v.Cursor(); !visible {
		ts.Fatalf("the cursor is hidden")
	}
}

// vtAnswers records what a terminal answers.
type vtAnswers struct {
	vt.Sink
	text string
}

func (a *vtAnswers) Reply(p []byte)            { a.text += string(p) }
func (*vtAnswers) Data([]byte)                 {}
func (*vtAnswers) Title(string)                {}
func (*vtAnswers) Bell()                       {}
func (*vtAnswers) DrawsPictures() bool         { return false }
func (*vtAnswers) Cwd(string)                  {}
func (*vtAnswers) Clipboard([]byte)            {}
func (*vtAnswers) Notification([]byte, string) {}
func (*vtAnswers) Mark([]byte)                 {}

// leave kills the program and waits for its end.
func (p *person) leave() {
	p.cmd.Process.Kill()
	p.tty.Close()
	<-p.done
}
