package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"

	"termhost/ahp"
	"termhost/cmd/termhost/share"
	"termhost/cmd/termhost/sshlink"
)

const shareUsage = "[-n NAME] [ssh options] DEST [-- CMD ARGS...]"

// shareTerminal shows a local program, or the user's shell, to a host.
func shareTerminal(args []string, std stdio) int {
	name, target, argv, err := parseShare(args)
	switch {
	case errors.Is(err, errShareHelp):
		fmt.Fprintln(std.out, "usage: termhost share", shareUsage)
		return exitOK
	case err != nil:
		return fail(std, exitUsage, err.Error(), "usage: termhost share "+shareUsage)
	}
	in, _ := std.in.(*os.File)
	out, _ := std.out.(*os.File)
	if in == nil || out == nil {
		return fail(std, exitFailure, "standard input and output must be files", "")
	}
	status, err := share.Run(share.Config{
		Name: name, Target: target, Argv: argv, Dir: workingDirectory(), In: in, Out: out, Err: std.err, Version: version(),
	})
	var notStarted *share.StartError
	switch {
	case errors.As(err, &notStarted):
		return fail(std, startStatus(err), err.Error(), "")
	case err != nil:
		return fail(std, exitFailure, err.Error(), shareHint(err))
	}
	return status
}

var errShareHelp = errors.New("help")

// parseShare reads share's own options, which come first, then ssh's, the host
// and the program.
func parseShare(args []string) (name string, target sshlink.Target, argv []string, err error) {
	if cut := slices.Index(args, "--"); cut >= 0 {
		args, argv = args[:cut], args[cut+1:]
		if len(argv) == 0 {
			return "", target, nil, errors.New("no program is named after --")
		}
	}
	for len(args) > 0 {
		switch {
		case args[0] == "-h" || args[0] == "-help" || args[0] == "--help":
			return "", target, nil, errShareHelp
		case args[0] == "-n" && len(args) > 1: // as with ssh's own -n, which has no use here
			name, args = args[1], args[2:]
			if !ahp.ValidName(name) {
				return "", target, nil, fmt.Errorf("%q is no name for a terminal: use 1 to 64 letters, digits, dots, underscores and dashes", name)
			}
			continue
		}
		break
	}
	target, err = sshlink.Parse(args)
	return name, target, argv, err
}

func shareHint(err error) string {
	var refused *ahp.Error
	switch {
	case errors.As(err, &refused) && refused.Code == ahp.CodeTerminalExists:
		return "choose another name with -n"
	case errors.As(err, &refused) || !errors.Is(err, share.ErrUnreachable):
		return ""
	}
	return "see whether this works: ssh DEST ls"
}

// startStatus is a shell's status for a program that cannot be started.
func startStatus(err error) int {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		return 127
	}
	return 126
}
