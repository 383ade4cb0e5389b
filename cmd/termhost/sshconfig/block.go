// Package sshconfig writes a host's block of ssh_config(5), by which `ssh th` logs in to it, and
// puts it into a person's ~/.ssh. What is there already stays as it is, and where it is: blocks of
// other hosts, too.
package sshconfig

import (
	"cmp"
	"fmt"
	"net"
	"strings"
)

// Alias is what ssh calls a host that has no other name.
const Alias = "th"

// Block is how ssh reaches a host.
type Block struct {
	Name       string   // what ssh calls the host; "": Alias
	Address    string   // host:port
	User       string   // whom to log in as; "": the name of the user of ssh
	Identities []string // files of the client keys to use; none: the user's own keys
	KnownHosts string   // path of a known_hosts file; "": the user's own
	HostKey    string   // by what name the host's key is known there; "": by the host's
	Proxy      string   // a line of ssh_config that says through what; "": it is reached directly
}

// Key returns one file of a client key as Identities; "": none.
func Key(file string) []string {
	if file == "" {
		return nil
	}
	return []string{file}
}

// head returns the first line of the block.
func (b Block) head() string { return heads + cmp.Or(b.Name, Alias) + "\n" }

// String returns the block.
func (b Block) String() string {
	w := new(strings.Builder)
	w.WriteString(b.head())
	set := func(keyword, value string) { fmt.Fprintf(w, "  %s %s\n", keyword, value) }
	if host, port, err := net.SplitHostPort(b.Address); err == nil {
		set("HostName", host)
		set("Port", port)
	} else {
		set("HostName", b.Address)
	}
	if b.User != "" {
		set("User", quote(b.User))
	}
	for _, file := range b.Identities {
		set("IdentityFile", quote(escape(file)))
	}
	if len(b.Identities) > 0 {
		set("IdentitiesOnly", "yes")
	}
	if b.KnownHosts != "" {
		set("UserKnownHostsFile", quote(escape(b.KnownHosts)))
	}
	if b.HostKey != "" {
		set("HostKeyAlias", quote(b.HostKey))
	}
	if keyword, value, ok := strings.Cut(b.Proxy, " "); ok {
		set(keyword, value)
	}
	set("SendEnv", "LANG LC_* COLORTERM")
	// A shared connection has few sessions, and its end would detach every terminal at once.
	set("ControlPath", "none")
	set("ServerAliveInterval", "15")
	return w.String()
}

// escape writes a path where % begins a token.
func escape(path string) string { return strings.ReplaceAll(path, "%", "%%") }

// quote quotes a path as one argument of ssh_config.
func quote(path string) string {
	if strings.ContainsAny(path, " \t#'\"\\") {
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(path) + `"`
	}
	return path
}
