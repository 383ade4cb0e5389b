//go:build linux && !laptop

package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"

	"termhost/ahp/commandline"
	"termhost/cmd/termhost/config"
	"termhost/cmd/termhost/sshconfig"
)

// greeting is what serve prints when the host can be connected to.
type greeting struct {
	ssh         string // host:port
	identity    string // file of the client key to use; "": the user's own keys
	first       bool   // that key has just been made
	knownHosts  string // path of a known_hosts file; "": none
	fingerprint string // of the host key
	webSocket   string // URL; "": no TCP listener
	page        string // URL; likewise
	socket      string // path; "": none
	nameless    string // why whoever comes by the socket has no name; "": they have, or nobody may
	config      config.Place
}

// sshArgs returns the ssh command that logs in.
func (g greeting) sshArgs() []string {
	args := []string{"ssh"}
	if g.identity != "" {
		args = append(args, "-i", g.identity, "-o", "IdentitiesOnly=yes")
	}
	if g.knownHosts != "" {
		args = append(args, "-o", "UserKnownHostsFile="+g.knownHosts)
	}
	host, port, err := net.SplitHostPort(g.ssh)
	if err != nil {
		return append(args, g.ssh)
	}
	return append(args, "-p", port, host)
}

// block returns the block of ssh_config(5) by which `ssh th` does what sshArgs do.
func (g greeting) block() sshconfig.Block {
	return sshconfig.Block{Address: g.ssh, Identities: sshconfig.Key(g.identity),
		KnownHosts: g.knownHosts}
}

// print writes the greeting with a single write, so that a reader may close its end of a pipe after
// the first line.
func (g greeting) print(out io.Writer) {
	w := new(strings.Builder)
	defer func() { io.WriteString(out, w.String()) }() // a reader that has gone does not matter
	fmt.Fprintf(w, "termhost %s is running. Log in with:\n\n  %s\n\n",
		version(), commandline.Join(g.sshArgs()))
	fmt.Fprintf(w, "This in ~/.ssh/config makes that `ssh th`; `%s` puts it there:\n\n%s\n",
		commandline.Join(g.command("ssh-config", "--write")), indent(g.block().String()))
	fmt.Fprintf(w, "Host key: %s\n", g.fingerprint)
	if g.webSocket != "" {
		fmt.Fprintf(w, "Agents:   %s\n", g.webSocket)
		fmt.Fprintf(w, "          Authorization: Bearer TOKEN, "+
			"made by the ssh command above with \"token\" after it\n")
	}
	if g.page != "" {
		fmt.Fprintf(w, "Page:     %s\n", g.page)
		fmt.Fprintf(w, "          opened with the URL that the ssh command above prints "+
			"with \"page\" after it\n")
	}
	if g.socket != "" {
		if g.nameless != "" {
			fmt.Fprintf(w, "You:      uid:%d by the socket: %s\n", os.Geteuid(), g.nameless)
		}
		fmt.Fprintf(w, "Socket:   %s\n", g.socket)
	}
	fmt.Fprintf(w, "Config:   %s\n", configLine(g.config))
	if g.first {
		fmt.Fprintf(w, "\nThere was no authorized_keys file, so a first key was made: %s\n",
			g.identity)
	}
}

// command returns a command of this program that finds the host's configuration.
func (g greeting) command(args ...string) []string {
	c := []string{"termhost"}
	if g.config.Path != "" && !slices.Contains(g.config.Looked, g.config.Path) {
		c = append(c, "-c", g.config.Path)
	}
	return append(c, args...)
}

// configLine names the configuration file, or where one would be read.
func configLine(p config.Place) string {
	if p.Path != "" {
		return p.Path
	}
	return "none is needed; it would be read from " + strings.Join(p.Looked, ", or else ")
}

// indent puts two spaces before each line.
func indent(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n  ") + "\n"
}
