package acp

import (
	"strings"

	"termhost/ahp"
)

// unattended returns the variables that keep programs from waiting for a person
// who is not looking: pagers, which all understand cat as their name, and git's
// question for a password.
func unattended() []string {
	return []string{
		"PAGER=cat", "MANPAGER=cat", "GIT_PAGER=cat", "GH_PAGER=cat", "SYSTEMD_PAGER=cat", "AWS_PAGER=cat", "PSQL_PAGER=cat",
		"GIT_TERMINAL_PROMPT=0",
	}
}

// environment returns what the agent asked for, "NAME=value" each, on top of the
// defaults for commands that nobody attends.
func environment(env []envVariable) ([]string, *ahp.Error) {
	list := unattended()
	for _, v := range env {
		if v.Value == nil {
			return nil, ahp.FieldProblem("env", "has a variable without a value")
		}
		if v.Name == "" || strings.ContainsAny(v.Name, "=\x00") || strings.IndexByte(*v.Value, 0) >= 0 {
			return nil, ahp.FieldProblem("env", "has a name that is no environment variable's, or a value with a NUL")
		}
		list = append(list, v.Name+"="+*v.Value) // the last one counts
	}
	return list, nil
}
