package verbs

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"termhost/ahp/history"
	"termhost/ahp/host"
	"termhost/sshd/verbs/helptext"
)

// Flags and other words may come in any order, up to "--", behind which nothing is a flag. A
// command to run ends the flags as well: see parseRun. The functions here return done and the exit
// status if the verb must not run.

// parse reads the verb's flags and other words.
func (v *invocation) parse() (status int, done bool) {
	v.keepBackslashes()
	if v.verb.parse != nil {
		return v.verb.parse(v)
	}
	return v.parseWords(v.verb.least, v.verb.most)
}

// wrong reports a command line that is wrong on whichever hosts it runs, so that it is said once.
// The verb can still be parsed.
func (v *invocation) wrong() (status int, wrong bool) {
	one := *v
	one.words, one.raw = slices.Clone(v.words), slices.Clone(v.raw)
	one.fs = flag.NewFlagSet(v.verb.name, flag.ContinueOnError)
	one.fs.SetOutput(io.Discard)
	one.verb.define(one.fs)
	if status, done := one.parse(); done {
		return status, true
	}
	if v.verb.patternFirst {
		if _, err := history.ParseExpression(one.args[0], false); err != nil {
			return v.misused("%s", host.Printable(err.Error())), true
		}
	}
	return StatusOK, false
}

// keepBackslashes restores the backslashes of the flag's value, or the word, that is a regular
// expression: the quotes around it were for the shell at the peer's end.
func (v *invocation) keepBackslashes() {
	if v.verb.patternFirst {
		if i := knownFlags(v.fs, v.words); i < len(v.words) {
			v.words[i] = v.raw[i]
		}
	}
	for i, w := range v.words {
		switch name, _, valued := flagName(w); {
		case v.verb.pattern == "" || name != v.verb.pattern:
		case valued:
			v.words[i] = v.raw[i]
		case i+1 < len(v.words):
			v.words[i+1] = v.raw[i+1]
		}
	}
}

// flagName returns the name of the flag that a word is, and the value behind its "="; "": the word
// is no flag.
func flagName(word string) (name, value string, valued bool) {
	name, dashed := strings.CutPrefix(word, "-")
	if !dashed {
		return "", "", false
	}
	return strings.Cut(strings.TrimPrefix(name, "-"), "=")
}

// parseWords reads flags, wherever they are, and other words, of which there must be least to most
// (-1: any number). Those behind "--" are among them.
func (v *invocation) parseWords(least, most int) (status int, done bool) {
	args, status, done := v.parseFlags()
	if done {
		return status, true
	}
	behind, err := splitWords(v.rest)
	if err != nil {
		return v.misused("%v", err), true
	}
	if v.verb.patternFirst && len(args) == 0 && len(behind) > 0 {
		behind[0], _, _ = scanWord(v.rest, true)
	}
	return v.counted(append(args, behind...), least, most)
}

// parseFlags reads the flags before "--", wherever they are, and returns the other words there.
func (v *invocation) parseFlags() (args []string, status int, done bool) {
	for words := v.words; len(words) > 0; {
		rest, status, done := v.flagsAtHead(words)
		if done || len(rest) == 0 {
			return args, status, done
		}
		if n := len(words) - len(rest); n > 0 && words[n-1] == "--" { // it was in quotes
			return append(args, rest...), StatusOK, false
		}
		args, words = append(args, rest[0]), rest[1:]
	}
	return args, StatusOK, false
}

// flagsAtHead reads the flags that words begin with and returns what follows them.
func (v *invocation) flagsAtHead(words []string) (rest []string, status int, done bool) {
	switch err := v.fs.Parse(words); {
	case errors.Is(err, flag.ErrHelp):
		return nil, v.helpOf(v.verb.name), true
	case err != nil:
		status = v.misused("%s", host.Printable(helptext.FlagError(v.fs, err)))
		if v.Carried != "" && strings.HasPrefix(err.Error(), helptext.UndefinedFlag) {
			fmt.Fprintf(v.stderr, "hint: %s, which may be older than the door's\n", v.runs())
		}
		return nil, status, true
	}
	return v.fs.Args(), StatusOK, false
}

// counted sets v.args, unless there are too few or too many.
func (v *invocation) counted(args []string, least, most int) (status int, done bool) {
	switch {
	case len(args) < least:
		return v.misused("%s needs an argument", v.verb.name), true
	case most >= 0 && len(args) > most:
		return v.misused("%q is one argument too many", host.Printable(args[most])), true
	}
	v.args = args
	return StatusOK, false
}

// knownFlags returns how many of the words at the head are flags of fs with their values.
func knownFlags(fs *flag.FlagSet, words []string) (n int) {
	for n < len(words) {
		name, _, valued := flagName(words[n])
		f := fs.Lookup(name)
		if f == nil {
			return n
		}
		n++
		if b, ok := f.Value.(interface{ IsBoolFlag() bool }); !valued && (!ok || !b.IsBoolFlag()) {
			n = min(n+1, len(words))
		}
	}
	return n
}

// given reports whether a flag was set on the command line.
func given(fs *flag.FlagSet, name string) (set bool) {
	fs.Visit(func(f *flag.Flag) { set = set || f.Name == name })
	return set
}

// durationFlag is [flag.FlagSet.DurationVar] with an error that helps.
func durationFlag(fs *flag.FlagSet, d *time.Duration, name, help string) {
	fs.Func(name, help, func(text string) (err error) {
		if *d, err = time.ParseDuration(text); err != nil {
			return errDuration
		}
		return nil
	})
}

var errDuration = errors.New("a duration is a number with its unit," +
	" such as 300ms, 5s or 2h30m, of at most 290 years")
