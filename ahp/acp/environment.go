package acp

import (
	"strings"

	"termhost/ahp"
	"termhost/ahp/acp/wire"
)

// unattended returns the variables that keep programs from waiting for a person, where none is
// looking: cat takes the place of pagers, and git asks for no password.
func unattended() []string {
	return []string{
		"PAGER=cat", "MANPAGER=cat", "GIT_PAGER=cat", "GH_PAGER=cat", "SYSTEMD_PAGER=cat",
		"AWS_PAGER=cat", "PSQL_PAGER=cat", "GIT_TERMINAL_PROMPT=0",
	}
}

// environment returns the variables that an agent asked for, each "NAME=value".
func environment(env []wire.EnvVariable) ([]string, *ahp.Error) {
	list := make([]string, 0, len(env))
	for _, v := range env {
		if v.Value == nil {
			return nil, ahp.FieldProblem("env", "has a variable without a value")
		}
		bad := v.Name == "" || strings.ContainsAny(v.Name, "=\x00")
		if bad || strings.IndexByte(*v.Value, 0) >= 0 {
			const why = "has a name that no environment variable can have, or a value with a NUL"
			return nil, ahp.FieldProblem("env", why)
		}
		list = append(list, v.Name+"="+*v.Value)
	}
	return list, nil
}
