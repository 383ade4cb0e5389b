package sshcmd

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Settings are what ssh makes of a target, by its options and the user's configuration.
type Settings struct {
	Address    string // HOST:PORT
	User       string // whom it logs in as
	Identity   string // file of the one key that it offers; "": there are several
	KnownHosts string // the one file of known hosts; "": the usual ones
	Proxy      string // the ProxyJump or ProxyCommand of ssh_config(5), with its value; "": none
}

// Settings asks ssh what it makes of the target (ssh(1), -G), without a connection. The error has
// what ssh says.
func (t Target) Settings(ctx context.Context) (s Settings, err error) {
	argv := slices.Concat(t.program, []string{"-G"}, t.options, []string{t.Dest})
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return s, fmt.Errorf("%s -G: %w: %s", argv[0], err, bytes.TrimSpace(said.Bytes()))
	}
	var host, port string
	var keys []string
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		switch keyword, value, _ := strings.Cut(lines.Text(), " "); keyword {
		case "hostname":
			host = value
		case "port":
			port = value
		case "user":
			s.User = value
		case "identityfile":
			keys = append(keys, value)
		case "userknownhostsfile":
			if files := strings.Fields(value); len(files) == 1 {
				s.KnownHosts = absolute(value)
			}
		case "proxyjump":
			s.Proxy = "ProxyJump " + value
		case "proxycommand":
			s.Proxy = "ProxyCommand " + value
		}
	}
	s.Address = net.JoinHostPort(host, port)
	if len(keys) == 1 {
		s.Identity = absolute(keys[0])
	}
	return s, nil
}

// absolute returns the path of a file that ssh names, which it takes from where it runs.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil && !strings.HasPrefix(path, "~") {
		return abs
	}
	return path
}
