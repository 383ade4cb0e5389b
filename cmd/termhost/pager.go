package main

import (
	"cmp"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"

	"golang.org/x/term"

	"termhost/cmd/termhost/man"
)

// maxPageColumns is how wide a text to read is in a wide window: longer lines are hard to follow.
const maxPageColumns = 100

// showPage shows a text on a terminal: in the pager that $PAGER names, else in less, else in more,
// else as it is. It returns the exit code.
func showPage(out *os.File, text func(style man.Style, cols int) string) int {
	cols, _, err := term.GetSize(int(out.Fd()))
	if err != nil || cols <= 0 || cols > maxPageColumns {
		cols = maxPageColumns
	}
	if t := os.Getenv("TERM"); t == "" || t == "dumb" { // no pager can use that
		return written(out, text(man.Plain, cols))
	}
	// The pager handles ^C. Unlike an ignored signal, one that is caught is not inherited.
	keys := make(chan os.Signal, 1)
	signal.Notify(keys, syscall.SIGINT, syscall.SIGQUIT)
	defer signal.Stop(keys)
	for _, pager := range pagers() {
		if paged(pager, out, text(man.Overstrike, cols)) {
			return exitOK
		}
	}
	return written(out, text(man.SGR, cols))
}

// pagers returns the command lines of the pagers that may be there, the best first.
func pagers() (list []string) {
	if own := os.Getenv("PAGER"); own != "" {
		list = append(list, own)
	}
	for _, name := range []string{"less", "more"} {
		if _, err := exec.LookPath(name); err == nil {
			list = append(list, name)
		}
	}
	return list
}

// paged shows a text in a pager, which is a command line for the shell as with man(1), and returns
// when the user leaves it. It returns false if the pager cannot be run, which the shell has said.
func paged(pager string, out *os.File, text string) bool {
	cmd := exec.Command("/bin/sh", "-c", pager)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(text), out, os.Stderr
	// The text is UTF-8, also where less would not expect it.
	cmd.Env = append(os.Environ(), "LESSCHARSET="+cmp.Or(os.Getenv("LESSCHARSET"), "utf-8"))
	_ = cmd.Run()
	state := cmd.ProcessState
	return state != nil && state.ExitCode() != statusNotFound &&
		state.ExitCode() != statusNotExecutable
}

// The statuses with which a shell says that it cannot run a command (XCU 2.8.2).
const (
	statusNotExecutable = 126
	statusNotFound      = 127
)

// written writes a text, and returns the exit code.
func written(out io.Writer, text string) int {
	if _, err := io.WriteString(out, text); err != nil {
		return exitFailure
	}
	return exitOK
}
