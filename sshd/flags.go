package sshd

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"termhost/ahp/host"
)

// Flags and other words may come in any order, up to "--", behind which nothing is a
// flag. What is typed or run ends the flags as well: see runRun and runSend.

// flags returns an empty flag set for the command.
func (v *invocation) flags() *flag.FlagSet {
	fs := flag.NewFlagSet(v.cmd.name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	return fs
}

// parse reads the flags, wherever they are, and returns the other words, of which
// there must be least to most (-1: any number), with those behind "--". done says
// that the command is over, with the status.
func (v *invocation) parse(fs *flag.FlagSet, least, most int) (args []string, status int, done bool) {
	args, status, done = v.parseFlags(fs)
	if done {
		return nil, status, true
	}
	behind, err := splitWords(v.rest)
	if err != nil {
		return nil, v.misused("%v", err), true
	}
	return v.counted(append(args, behind...), least, most)
}

// parseFlags is parse for commands that take what is behind "--" as it is.
func (v *invocation) parseFlags(fs *flag.FlagSet) (args []string, status int, done bool) {
	for words := v.words; len(words) > 0; {
		rest, status, done := v.flagsAtHead(fs, words)
		if done || len(rest) == 0 {
			return args, status, done
		}
		if n := len(words) - len(rest); n > 0 && words[n-1] == "--" { // it was in quotes
			return append(args, rest...), statusOK, false
		}
		args, words = append(args, rest[0]), rest[1:]
	}
	return args, statusOK, false
}

// flagsAtHead reads the flags that words begin with and returns what follows them.
func (v *invocation) flagsAtHead(fs *flag.FlagSet, words []string) (rest []string, status int, done bool) {
	switch err := fs.Parse(words); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintf(v.stdout, "usage: %s\n%s\n", v.cmd.synopsis(), v.cmd.help)
		return nil, statusOK, true
	case err != nil:
		return nil, v.misused("%s", host.Printable(err.Error())), true
	}
	return fs.Args(), statusOK, false
}

// counted refuses too few and too many words.
func (v *invocation) counted(args []string, least, most int) (_ []string, status int, done bool) {
	switch {
	case len(args) < least:
		return nil, v.misused("%s needs an argument", v.cmd.name), true
	case most >= 0 && len(args) > most:
		return nil, v.misused("%q is one argument too many", host.Printable(args[most])), true
	}
	return args, statusOK, false
}

// knownFlags returns how many of the words at the head are flags of fs with their
// values.
func knownFlags(fs *flag.FlagSet, words []string) (n int) {
	for n < len(words) {
		name, dashed := strings.CutPrefix(words[n], "-")
		name, _, valued := strings.Cut(strings.TrimPrefix(name, "-"), "=")
		f := fs.Lookup(name)
		if !dashed || f == nil {
			return n
		}
		n++
		if b, ok := f.Value.(interface{ IsBoolFlag() bool }); !valued && (!ok || !b.IsBoolFlag()) {
			n = min(n+1, len(words))
		}
	}
	return n
}

// durationFlag is [flag.FlagSet.DurationVar] with an error that helps.
func durationFlag(fs *flag.FlagSet, d *time.Duration, name string) {
	fs.Func(name, "", func(text string) (err error) {
		if *d, err = time.ParseDuration(text); err != nil {
			return errDuration
		}
		return nil
	})
}

var errDuration = errors.New("a duration is a number with its unit, such as 300ms, 5s or 2h30m, of at most 290 years")
