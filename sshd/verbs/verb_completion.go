package verbs

import (
	"flag"
	"regexp"
	"slices"
	"strings"

	"termhost/sshd/verbs/completion"
)

// aliasForm matches what may be a host's alias in the scripts.
var aliasForm = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.@:-]*$`)

func defineCompletion(*flag.FlagSet) func(*invocation) int { return (*invocation).complete }

// complete prints a completion for the host's aliases.
func (v *invocation) complete() int {
	shell, aliases := v.args[0], v.args[1:]
	if !slices.Contains(completion.Shells(), shell) {
		return v.misused("there is no completion for %q, only for %s", shell,
			strings.Join(completion.Shells(), ", "))
	}
	if len(aliases) == 0 {
		aliases = []string{"th"}
	}
	for _, a := range aliases {
		if !aliasForm.MatchString(a) {
			return v.misused("%q is not a host's name", a)
		}
	}
	var commands []completion.Command
	for _, c := range Verbs() {
		commands = append(commands, completion.Of(c))
	}
	var b strings.Builder
	if err := completion.Write(&b, shell, commands, aliases); err != nil {
		return v.failed(err)
	}
	return v.printed(v.stdout, nil, []byte(b.String()))
}
