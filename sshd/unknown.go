package sshd

import (
	"fmt"
	"path"
	"strings"

	"termhost/ahp/host"
)

// unknown refuses a command that termhost does not have. Many clients send
// commands of their own making; they get a hint of their own.
func (v *invocation) unknown(name, text string) int {
	shown := host.Printable(name)
	fmt.Fprintf(v.stderr, "termhost: error: unknown command %q\n", clipText(shown))
	fmt.Fprintf(v.stderr, "hint: %s\n", hintForUnknown(name, text))
	return statusUnknown
}

// hintForUnknown says what to do instead.
func hintForUnknown(name, text string) string {
	switch base := path.Base(name); {
	case base == "scp", base == "rsync", base == "sftp-server", base == "sftp":
		return "termhost moves no files; use an ordinary sshd for " + base + ", or `ssh HOST run -- cat FILE`"
	case strings.HasPrefix(base, "git-"), base == "git":
		return "termhost serves no git repositories; use an ordinary sshd, or run git inside: `ssh HOST run -- git ...`"
	case base == "tmux", base == "screen":
		return "terminals live on without " + base + "; `ssh -t HOST attach` comes back to one"
	case strings.HasSuffix(base, "sh"):
		return "`ssh HOST` alone runs your shell; for a command: `ssh HOST run -- " + clipText(host.Printable(text)) + "`"
	}
	for _, c := range commands() {
		if near(c.name, name) {
			return "did you mean " + c.name + "? " + seeHelp
		}
	}
	return "to run a command: `ssh HOST run -- " + clipText(host.Printable(text)) + "`; " + seeHelp
}

// clipText shortens what a peer sent for a message of one line.
func clipText(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "..."
	}
	return s
}

// near reports whether word is name with one letter wrong, missing, added, or
// two swapped.
func near(name, word string) bool {
	a, b := name, word
	for a != "" && b != "" && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for a != "" && b != "" && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	swapped := len(a) == 2 && len(b) == 2 && a[0] == b[1] && a[1] == b[0]
	return len(name) > 2 && (len(a) <= 1 && len(b) <= 1 || swapped)
}
