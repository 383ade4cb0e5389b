package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/user"

	"termhost/ahp"
	"termhost/cmd/termhost/sshcmd"
	"termhost/cmd/termhost/sshconfig"
)

// sshConfigArgs are the arguments of `termhost ssh-config`.
type sshConfigArgs struct {
	file   string         // of this machine's configuration; "": none was named
	write  bool           // the block goes where ssh reads it
	name   string         // what ssh is to call the host; "": nothing was said
	target *sshcmd.Target // the host elsewhere; nil: it is this machine's
}

// parseSSHConfig reads ssh-config's own options, which come first, then ssh's and the host.
func parseSSHConfig(args []string) (a sshConfigArgs, err error) {
	for own := true; own; {
		switch {
		case len(args) > 0 && (args[0] == "--write" || args[0] == "-write"):
			a.write, args = true, args[1:]
		case len(args) > 1 && args[0] == "-c":
			a.file, args = args[1], args[2:]
		case len(args) > 1 && (args[0] == "--name" || args[0] == "-name"):
			if a.name, args = args[1], args[2:]; !ahp.ValidName(a.name) || a.name[0] == '-' {
				return a, fmt.Errorf("%q cannot name a host: use letters a-z or A-Z, digits, "+
					"dots, underscores and dashes", a.name)
			}
		default:
			own = false
		}
	}
	if len(args) == 0 {
		return a, nil
	}
	if a.file != "" {
		return a, errors.New("-c is for the host of this machine, and another one is named")
	}
	t, err := sshcmd.Parse(args)
	a.target = &t
	return a, err
}

// printSSHConfig is `termhost ssh-config`: it prints the block by which ssh reaches a host, this
// machine's or one elsewhere, or writes it where ssh reads it.
func printSSHConfig(c *call) int {
	if len(c.args) > 0 && isHelp(c.args[0]) {
		return c.printUsage()
	}
	a, err := parseSSHConfig(c.args)
	if err != nil {
		return c.badUsage(err.Error())
	}
	b, code, err := a.block()
	b.Name = cmp.Or(a.name, sshconfig.Alias)
	switch {
	case err != nil:
		return fail(c.std, code, err.Error(), hintNoBlock(err))
	case !a.write:
		fmt.Fprint(c.std.out, b)
		return exitOK
	}
	home, err := personsHome()
	if err != nil {
		return fail(c.std, exitFailure, err.Error(), "")
	}
	account, err := user.Current()
	read := err != nil || account.HomeDir == home // by ssh, which does not ask for $HOME
	w, err := sshconfig.Write(home, read, b, a.name != "")
	c.tellWritten(w, b.Name)
	if err != nil {
		return fail(c.std, exitFailure, err.Error(), hintTaken(err))
	}
	command := "ssh " + b.Name
	if !read {
		command = "ssh -F " + w.Main + " " + b.Name
	}
	fmt.Fprintf(c.std.out, "`%s` logs in.\n", command)
	return exitOK
}

// block returns the block of the host that the arguments name, or an exit code and the reason.
func (a sshConfigArgs) block() (b sshconfig.Block, code int, err error) {
	if a.target == nil {
		return ownBlock(a.file)
	}
	s, err := a.target.Settings(context.Background())
	b = sshconfig.Block{Address: s.Address, User: s.User, Identities: s.Identities,
		KnownHosts: s.KnownHosts, HostKey: s.HostKey, Proxy: s.Proxy}
	return b, exitFailure, err
}

// hintTaken returns what helps where a name leads to another host; "": it does not.
func hintTaken(err error) string {
	taken := new(sshconfig.TakenError)
	if !errors.As(err, &taken) {
		return ""
	}
	return fmt.Sprintf("`--name NAME` calls this one something else, and `--name %s` replaces "+
		"that one", taken.Name)
}

// tellWritten says what has been done to a person's files for a host of that name.
func (c *call) tellWritten(w sshconfig.Written, name string) {
	if w.OwnChanged {
		fmt.Fprintf(c.std.out, "%s has been written.\n", w.Own)
	}
	switch {
	case w.MainChanged:
		fmt.Fprintf(c.std.out, "%s includes it now, with its first line:\n\n  %s\n\n", w.Main,
			w.Include)
		if w.Other {
			fmt.Fprintf(c.std.out, "It has a `Host %s` of its own, too: what that sets otherwise "+
				"does not count any more.\n", name)
		}
	case !w.OwnChanged:
		fmt.Fprintln(c.std.out, "Nothing had to change.")
	}
}
