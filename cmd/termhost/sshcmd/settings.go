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
	Address    string   // HOST:PORT
	User       string   // whom it logs in as
	Identities []string // files of the keys that it offers; none: the usual ones
	KnownHosts string   // the one file of known hosts; "": the usual ones
	HostKey    string   // by what name the host's key is known there; "": by the host's
	Proxy      string   // the ProxyJump or ProxyCommand of ssh_config(5), with its value; "": none
}

// Settings asks ssh what it makes of the target (ssh(1), -G), without a connection. The error has
// what ssh says.
func (t Target) Settings(ctx context.Context) (s Settings, err error) {
	out, err := t.explain(ctx, t.options)
	if err != nil {
		return s, err
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
			keys = append(keys, absolute(value))
		case "hostkeyalias":
			s.HostKey = value
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
	if !slices.Equal(keys, t.usualKeys(ctx)) {
		s.Identities = keys
	}
	return s, nil
}

// usualKeys returns the files of the keys that ssh offers without a configuration.
func (t Target) usualKeys(ctx context.Context) (keys []string) {
	out, err := t.explain(ctx, []string{"-F", "none"})
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(out)) {
		if file, ok := strings.CutPrefix(strings.TrimSpace(line), "identityfile "); ok {
			keys = append(keys, file)
		}
	}
	return keys
}

// explain returns ssh's account of its settings with these options. The error has its complaint
// about them.
func (t Target) explain(ctx context.Context, options []string) ([]byte, error) {
	argv := slices.Concat(t.program, []string{"-G"}, options, []string{t.Dest})
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s -G: %w: %s", argv[0], err, bytes.TrimSpace(said.Bytes()))
	}
	return out, nil
}

// absolute returns the path of a file that ssh names, which it takes from where it runs.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil && !strings.HasPrefix(path, "~") {
		return abs
	}
	return path
}
