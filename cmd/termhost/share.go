package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"

	"termhost/ahp"
	"termhost/cmd/termhost/share"
	"termhost/cmd/termhost/sshcmd"
)

// shareTerminal shows a local program, or the user's shell, to a host.
func shareTerminal(c *call) int {
	cfg, err := parseShare(c.args)
	switch {
	case errors.Is(err, errShareHelp):
		return c.printUsage()
	case err != nil:
		return c.badUsage(err.Error())
	}
	std := c.std
	in, _ := std.in.(*os.File)
	out, _ := std.out.(*os.File)
	if in == nil || out == nil {
		return fail(std, exitFailure, "standard input and output must be files", "")
	}
	cfg.Dir, cfg.Version = workingDirectory(), version()
	cfg.In, cfg.Out, cfg.Err = in, out, std.err
	status, err := share.Run(cfg)
	var notStarted *share.StartError
	switch {
	case errors.As(err, &notStarted):
		return fail(std, startStatus(err), err.Error(), "")
	case err != nil:
		return fail(std, exitFailure, err.Error(), shareHint(err, cfg.Local != nil))
	}
	return status
}

// errShareHelp says that the user asks for help.
var errShareHelp = errors.New("help")

// parseShare reads share's own options, which come first, then ssh's, the host and the program.
func parseShare(args []string) (cfg share.Config, err error) {
	if cut := slices.Index(args, "--"); cut >= 0 {
		args, cfg.Argv = args[:cut], args[cut+1:]
		if len(cfg.Argv) == 0 {
			return cfg, errors.New("no program is named after --")
		}
	}
	local, file := false, ""
	for ; len(args) > 0; args = args[1:] {
		switch {
		case isHelp(args[0]):
			return cfg, errShareHelp
		case args[0] == "--local":
			local = true
			continue
		case args[0] == "-n" && len(args) > 1: // ssh's own -n has no use here
			args = args[1:]
			if cfg.Name = args[0]; !ahp.ValidName(cfg.Name) {
				return cfg, fmt.Errorf("%q cannot name a terminal: use 1 to 64 "+
					"letters a-z or A-Z, digits, dots, underscores and dashes", cfg.Name)
			}
			continue
		case local && args[0] == "-c" && len(args) > 1:
			args = args[1:]
			file = args[0]
			continue
		}
		break
	}
	switch {
	case !local:
		cfg.Target, err = sshcmd.Parse(args)
	case len(args) > 0:
		err = errors.New("--local takes no host, only -n NAME and -c FILE")
	default:
		var way hostWay
		way, err = localWay(file)
		cfg.Local = way.dial
	}
	return cfg, err
}

// shareHint returns a hint for a host that refuses the terminal or cannot be reached; "": there is
// none. local: the host is on this machine.
func shareHint(err error, local bool) string {
	var refused *ahp.Error
	switch {
	case errors.As(err, &refused) && refused.Code == ahp.CodeTerminalExists:
		return "choose another name with -n"
	case errors.As(err, &refused) || !errors.Is(err, share.ErrUnreachable):
		return ""
	case local:
		return hintLocal
	}
	return hintRemote
}

// startStatus returns a shell's exit status for a program that cannot be started.
func startStatus(err error) int {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		return 127
	}
	return 126
}
