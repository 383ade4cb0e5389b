package main

import (
	"fmt"
	"io"
	"net"
	"strings"
)

// greeting is what serve says when everything listens.
type greeting struct {
	ssh         string // address
	identity    string // the client key to use; "": the user's own
	knownHosts  string
	fingerprint string // of the host key
	webSocket   string // URL; "": no TCP listener
	socket      string // path; "": none
}

// sshArgs returns the words of the ssh command that logs in.
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

// print writes the greeting in one piece: a reader that wants only the first line
// may go after it.
func (g greeting) print(out io.Writer) {
	w := new(strings.Builder)
	defer func() { io.WriteString(out, w.String()) }() // nobody has to read it
	var words []string
	for _, a := range g.sshArgs() {
		words = append(words, shellQuote(a))
	}
	fmt.Fprintf(w, "termhost %s is running. Log in with:\n\n  %s\n\n", version(), strings.Join(words, " "))
	fmt.Fprintf(w, "Host key: %s\n", g.fingerprint)
	if g.webSocket != "" {
		fmt.Fprintf(w, "Agents:   %s\n", g.webSocket)
		fmt.Fprintf(w, "          Authorization: Bearer TOKEN, made by the ssh command above with \"token\" after it\n")
	}
	if g.socket != "" {
		fmt.Fprintf(w, "Socket:   %s\n", g.socket)
	}
	if g.identity != "" {
		fmt.Fprintf(w, "\nThere was no authorized_keys file, so a first key was made: %s\n", g.identity)
	}
}

// shellQuote returns s as one word of sh.
func shellQuote(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
