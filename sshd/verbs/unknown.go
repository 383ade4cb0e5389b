package verbs

import (
	"fmt"
	"path"
	"strings"

	"termhost/ahp/commandline"
	"termhost/ahp/host"
	"termhost/ahp/spelling"
)

// unknown refuses a command that termhost does not have. Clients that send commands of their own,
// as `mosh HOST` sends "mosh-server new ...", get a special hint. text is the whole command line;
// "": it was marked as a verb.
func (v *invocation) unknown(name, text string) int {
	shown := clipped(host.Printable(name))
	if v.Carried != "" {
		fmt.Fprintf(v.stderr, "termhost: error: %s, which does not know `%s` over the fleet\n"+
			"hint: update termhost on %s\n", v.runs(), shown, v.Carried)
		return StatusUnknown
	}
	fmt.Fprintf(v.stderr, "termhost: error: unknown command %q\n", shown)
	fmt.Fprintf(v.stderr, "hint: %s\n", v.told(hintForUnknown(name, text)))
	return StatusUnknown
}

// runs tells a peer that was carried here by a door of another version what this host runs.
func (v *invocation) runs() string {
	return v.Carried + " runs termhost " + host.Printable(v.Version)
}

// hintForUnknown says what to do instead.
func hintForUnknown(name, text string) string {
	run := "`ssh HOST run -- " + forShell(clipped(host.Printable(text))) + "`"
	switch base := path.Base(name); {
	case text == "":
	case base == "scp", base == "sftp-server", base == "sftp":
		return "use scp without -O, or sftp"
	case base == "rsync", strings.HasPrefix(base, "git-"), base == "git":
		return base + ` needs [ssh] exec = "shell" in the host's configuration`
	case base == "mosh-server":
		return "mosh needs a server of its own, and is not needed: terminals live on when the" +
			" connection is lost; `ssh -t HOST attach` comes back to one"
	case base == "tmux", base == "screen":
		return "terminals live on without " + base + "; `ssh -t HOST attach` comes back to one"
	case strings.HasSuffix(base, "sh"):
		return "`ssh HOST` alone runs your shell; for a command: " + run
	}
	if meant := meantBy(name); meant != "" {
		return "did you mean " + meant + "? " + seeHelp
	}
	if text == "" {
		return seeHelp
	}
	return "to run a command: " + run + "; " + seeHelp
}

// forShell returns a command line as a person types it behind `ssh HOST`: quoted if their own shell
// would cut it, or fill something in.
func forShell(text string) string {
	if strings.ContainsAny(text, ";&|$`<>()") {
		return commandline.Quote(text)
	}
	return text
}

// misspelt reports whether a line begins with a word that is nearly a verb, and that no shell can
// run.
func (v *invocation) misspelt(l line) bool {
	name := l.words[0]
	switch name {
	case "case", "exec", "history", "kill", "type": // of the shells' own, those that are like verbs
		return false
	}
	plain := strings.Trim(name, "abcdefghijklmnopqrstuvwxyz-") == ""
	return plain && meantBy(name) != "" && !v.Conn.HasProgram(name, v.createOptions())
}

// meantBy guesses which verb was meant by a word: one that is spelt nearly the same, one that
// begins with it, or the one that programs such as tmux call so; "": there is no guess.
func meantBy(word string) string {
	begins := ""
	for _, c := range table() {
		switch {
		case spelling.Near(c.name, word):
			return c.name
		case begins == "" && len(word) > 1 && strings.HasPrefix(c.name, word):
			begins = c.name
		}
	}
	if begins != "" {
		return begins
	}
	switch word {
	case "list", "list-sessions", "ps", "sessions":
		return "ls"
	case "a", "at", "connect", "attach-session", "open":
		return "attach"
	case "create", "start", "new-session":
		return "new"
	case "exec":
		return "run"
	case "kill", "stop", "delete", "remove", "kill-session":
		return "rm"
	case "logs", "history":
		return "log"
	case "screenshot", "capture-pane", "show":
		return "peek"
	case "type", "keys", "send-keys":
		return "send"
	}
	return ""
}

// clipped shortens a peer's text for a message of one line.
func clipped(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "..."
	}
	return s
}
