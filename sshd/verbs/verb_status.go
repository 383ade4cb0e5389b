package verbs

import (
	"flag"
	"fmt"
	"strings"

	"termhost/ahp/host"
)

// defineStatus says how a terminal's program stands, or prints what it has said.
func defineStatus(fs *flag.FlagSet) func(*invocation) int {
	about := fs.String("about", "", "for an agent's hook: what the question is about, such as the"+
		" use of a tool; only what goes on with the same thing answers it")
	program := fs.Bool("program", false, "it counts only until the command that the terminal's"+
		" shell runs has ended")
	return func(v *invocation) int { return v.status(*about, *program) }
}

// statusHead is how many words of `status` stand before the text: NAME and the state.
const statusHead = 2

// parseStatus reads flags, NAME, the state, and the text, in which nothing is a flag.
func (v *invocation) parseStatus() (status int, done bool) {
	var args []string
	words := v.words
	for quoted := false; len(words) > 0 && len(args) < statusHead && !quoted; {
		rest, status, done := v.flagsAtHead(words)
		if done {
			return status, true
		}
		n := len(words) - len(rest)
		quoted = n > 0 && words[n-1] == "--"
		if words = rest; len(words) > 0 && !quoted {
			args, words = append(args, words[0]), words[1:]
		}
	}
	args = append(args, words...)
	inText := v.tail && len(args) > statusHead
	if inText {
		args = append(args, "--")
	}
	if inText && !v.Local {
		return v.counted(append(args, v.rest), v.verb.least, v.verb.most)
	}
	behind, err := splitWords(v.rest)
	if err != nil {
		return v.misused("%v", err), true
	}
	return v.counted(append(args, behind...), v.verb.least, v.verb.most)
}

func (v *invocation) status(about string, program bool) int {
	t, err := v.find(v.args[0])
	if err != nil {
		return v.failed(err)
	}
	if len(v.args) == 1 {
		if s := t.Info(v.principal()).Status; s.State != host.StatusNone {
			fmt.Fprintln(v.stdout, strings.TrimSpace(string(s.State)+" "+s.Text))
		}
		return StatusOK
	}
	said := host.Said{State: host.State(v.args[1]), Text: strings.Join(v.args[statusHead:], " "),
		About: about, Program: program}
	if err := v.Conn.SetStatus(t, said); err != nil {
		return v.failed(err)
	}
	return StatusOK
}
