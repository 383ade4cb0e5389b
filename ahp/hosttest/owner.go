package hosttest

import (
	"fmt"
	"maps"
	"regexp"
	"strings"
	"testing"

	"termhost/ahp/hosttest/slowtest"
)

// Owned returns the environment of a host's terminals with the variable that names the test: see
// slowtest.OwnerVariable. env is not modified.
func Owned(t testing.TB, env map[string]string) map[string]string {
	owned := map[string]string{slowtest.OwnerVariable: t.Name()}
	maps.Copy(owned, env)
	return owned
}

var (
	emptyTable    = regexp.MustCompile(`^\s*\}`) // behind its first brace
	inlineEnv     = regexp.MustCompile(`(?m)^\s*(terminal\.)?env\s*=\s*\{`)
	terminalTable = regexp.MustCompile(`(?m)^\s*\[terminal\].*\n`)
	anyShell      = regexp.MustCompile(`(?m)^\s*(terminal\.)?shell\s*=`)
	anyTable      = regexp.MustCompile(`(?m)^\s*\[`)
)

// OwnedConfig returns a configuration, as TOML, with the variable that names a test added to
// terminal.env, unless it is there: see slowtest.OwnerVariable. The lines up to the end of what the
// configuration says of terminals keep their numbers, which messages name.
func OwnedConfig(test, config string) string {
	if strings.Contains(config, slowtest.OwnerVariable) {
		return config
	}
	if at := inlineEnv.FindStringIndex(config); at != nil {
		variable := fmt.Sprintf(" %s = %q,", slowtest.OwnerVariable, test)
		if emptyTable.MatchString(config[at[1]:]) {
			variable = strings.TrimSuffix(variable, ",")
		}
		return config[:at[1]] + variable + config[at[1]:]
	}
	return withTerminal(config, fmt.Sprintf("env.%s = %q\n", slowtest.OwnerVariable, test))
}

// ShConfig returns a configuration, as TOML, in which the shell of terminals is sh and not that of
// the account, unless it names one. Lines keep their numbers as with OwnedConfig.
func ShConfig(config string) string {
	if anyShell.MatchString(config) {
		return config
	}
	return withTerminal(config, "shell = \"/bin/sh\"\n")
}

// withTerminal adds a line of the table of terminals.
func withTerminal(config, line string) string {
	key, from := "terminal.", 0
	if at := terminalTable.FindStringIndex(config); at != nil {
		key, from = "", at[1]
	}
	end := len(config)
	if at := anyTable.FindStringIndex(config[from:]); at != nil {
		end = from + at[0]
	}
	line = key + line
	if end > 0 && config[end-1] != '\n' {
		line = "\n" + line
	}
	return config[:end] + line + config[end:]
}
