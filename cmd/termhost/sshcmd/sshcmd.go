// Package sshcmd reaches a host by running the user's own ssh, so that their ssh configuration,
// keys, agents, jump hosts and known_hosts work as usual.
package sshcmd

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// Variable names the environment variable that replaces the ssh command. Its value is split at
// blanks, and begins the command line.
const Variable = "TERMHOST_SSH"

// Target is a host, and what ssh is told to reach it.
type Target struct {
	program []string // the command that is run as ssh, with its first arguments
	options []string // the user's
	Dest    string   // as ssh takes it
}

// Parse reads the words "[ssh options] DEST", which may be one, split at blanks. The error is meant
// for the user who wrote them.
func Parse(args []string) (Target, error) {
	if len(args) == 1 {
		args = strings.Fields(args[0])
	}
	t, rest, err := ParseHead(args)
	for len(rest) > 0 && err == nil { // options may follow the host
		if !strings.HasPrefix(rest[0], "-") || rest[0] == "-" {
			return t, fmt.Errorf("unexpected argument %q behind the host %s", rest[0], t.Dest)
		}
		rest, err = t.takeOption(rest)
	}
	return t, err
}

// ParseHead reads the words "[ssh options] DEST", and returns what follows them.
func ParseHead(args []string) (t Target, rest []string, err error) {
	t = Target{program: strings.Fields(os.Getenv(Variable))}
	if len(t.program) == 0 {
		t.program = []string{"ssh"}
	}
	for rest = args; len(rest) > 0; {
		if word := rest[0]; !strings.HasPrefix(word, "-") || word == "-" {
			t.Dest = word
			return t, rest[1:], nil
		}
		if rest, err = t.takeOption(rest); err != nil {
			return t, nil, err
		}
	}
	return t, nil, errors.New("no host is named")
}

// takeOption takes the option that args begin with, and returns what follows it.
func (t *Target) takeOption(args []string) (rest []string, err error) {
	word := args[0]
	takes, err := optionTakesValue(word)
	switch {
	case err != nil:
		return nil, err
	case !takes:
		t.options = append(t.options, word)
		return args[1:], nil
	case len(args) == 1:
		return nil, fmt.Errorf("ssh's option %s needs a value", word)
	}
	t.options = append(t.options, word, args[1])
	return args[2:], nil
}

// optionTakesValue reports whether the word after word, which is one or several of ssh's options,
// is the value of the last one (ssh(1), SYNOPSIS). It fails for options with which ssh does not
// run a command on the host.
func optionTakesValue(word string) (bool, error) {
	const (
		withValue = "BbcDEeFIiJLlmoPpRSw"
		useless   = "fGNnOQsVW"
	)
	if strings.HasPrefix(word, "--") {
		return false, fmt.Errorf("there is no option %s", word)
	}
	for i := 1; i < len(word); i++ {
		switch letter := word[i : i+1]; {
		case strings.Contains(useless, letter):
			return false, fmt.Errorf("ssh's option -%s leaves no connection to talk over", letter)
		case strings.Contains(withValue, letter):
			return i == len(word)-1, nil // otherwise the value is the rest of the word
		}
	}
	return false, nil
}

// common returns the beginning of every command line. first is an option; of the options that
// follow it ssh takes the first one of a kind, so a RemoteCommand and forwardings in the user's
// configuration do not apply to this connection.
func (t Target) common(first string) []string {
	return append(append([]string{}, t.program...), first,
		"-o", "RemoteCommand=none", "-o", "ClearAllForwardings=yes")
}

// AHP are the words that open the host's AHP subsystem, behind the host in ssh's command line.
func AHP() []string { return []string{"-s", "ahp"} }

// SSH are the words that open the host's subsystem for SSH inside of SSH, likewise.
func SSH() []string { return []string{"-s", "ssh"} }

// connect returns the command line that has the host run what words name on the standard streams.
// With batch, ssh asks the user nothing. With direct, it uses no ControlMaster. ssh notices after
// 45 seconds that the host does not answer any more, unless a ControlMaster carries the
// connection.
func (t Target) connect(batch, direct bool, words []string) []string {
	argv := t.common("-T")
	if batch {
		argv = append(argv, "-o", "BatchMode=yes")
	}
	argv = append(argv, t.options...)
	if direct {
		argv = append(argv, "-S", "none") // the last -S counts, and more than any ControlPath
	}
	argv = append(argv, "-o", "ServerAliveInterval=15", t.Dest)
	return append(argv, words...)
}

// Attach returns the command line that shows a terminal of the host, read-only.
func (t Target) Attach(terminal string) []string {
	argv := append(t.common("-t"), t.options...)
	return append(argv, t.Dest, "attach", "-r", terminal)
}
