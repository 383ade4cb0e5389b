//go:build linux && !laptop

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os/user"

	"termhost/cmd/termhost/access"
	"termhost/cmd/termhost/config"
	"termhost/cmd/termhost/sshconfig"
)

// printSSHConfig is `termhost ssh-config`: it prints the block by which ssh reaches this machine's
// host, or writes it where ssh reads it.
func printSSHConfig(c *call) int {
	fset, std := c.flags(), c.std
	file := fset.String("c", "", "")
	write := fset.Bool("write", false, "")
	if code, ok := c.parse(fset, 0); !ok {
		return code
	}
	cfg, err := config.OfRunning(*file)
	if err != nil {
		return fail(std, exitUsage, err.Error(), "")
	}
	var b sshconfig.Block
	b.Address, b.Identity, b.KnownHosts, err = access.Login(cfg.StateDir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fail(std, exitFailure, "no host has run with the state folder "+cfg.StateDir+" yet",
			"start it once: termhost serve")
	case err != nil:
		return fail(std, exitFailure, err.Error(), "")
	}
	if !*write {
		fmt.Fprint(std.out, b)
		return exitOK
	}
	home, err := config.Home()
	if err != nil {
		return fail(std, exitFailure, err.Error(), "")
	}
	account, err := user.Current()
	read := err != nil || account.HomeDir == home // by ssh, which does not ask for $HOME
	w, err := sshconfig.Write(home, read, b)
	c.tellWritten(w)
	if err != nil {
		return fail(std, exitFailure, err.Error(), "")
	}
	command := "ssh " + sshconfig.Alias
	if !read {
		command = "ssh -F " + w.Main + " " + sshconfig.Alias
	}
	fmt.Fprintf(std.out, "`%s` logs in.\n", command)
	return exitOK
}

// tellWritten says what has been done to a person's files.
func (c *call) tellWritten(w sshconfig.Written) {
	if w.OwnChanged {
		fmt.Fprintf(c.std.out, "%s has been written.\n", w.Own)
	}
	switch {
	case w.MainChanged:
		fmt.Fprintf(c.std.out, "%s includes it now, with its first line:\n\n  %s\n\n", w.Main,
			w.Include)
		if w.Other {
			fmt.Fprintf(c.std.out, "It has a `Host %s` of its own, too: what that sets otherwise "+
				"does not count any more.\n", sshconfig.Alias)
		}
	case !w.OwnChanged:
		fmt.Fprintln(c.std.out, "Nothing had to change.")
	}
}
