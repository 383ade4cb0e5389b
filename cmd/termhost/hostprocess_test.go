package main

import (
	"fmt"
	"strings"

	"termhost/cmd/termhost/bench"
)

// sshConfigOf returns an ssh_config in which a host that runs is called "host".
func sshConfigOf(h *bench.Host) string {
	var b strings.Builder
	b.WriteString("Host host\n")
	words := h.SSHCommand()
	for i := 1; i < len(words); i++ {
		switch words[i] {
		case "-i":
			i++
			fmt.Fprintf(&b, "  IdentityFile %s\n", words[i])
		case "-p":
			i++
			fmt.Fprintf(&b, "  Port %s\n", words[i])
		case "-o":
			i++
			fmt.Fprintf(&b, "  %s\n", strings.Replace(words[i], "=", " ", 1))
		default:
			fmt.Fprintf(&b, "  HostName %s\n", words[i])
		}
	}
	return b.String() + "  BatchMode yes\n  LogLevel ERROR\n"
}
