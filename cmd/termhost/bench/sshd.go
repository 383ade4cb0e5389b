package bench

import (
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/crypto/ssh"
)

// startSSHD starts sshd, in which tmux and dtach are run.
func (rs *Rivals) startSSHD(path string) error {
	addr, err := freeAddress()
	if err != nil {
		return err
	}
	block, err := ssh.MarshalPrivateKey(rs.key, "")
	if err != nil {
		return err
	}
	_, port, _ := net.SplitHostPort(addr) // freeAddress has joined them
	files := map[string][]byte{
		"sshd_host_key": pem.EncodeToMemory(block),
		"sshd_keys":     ssh.MarshalAuthorizedKey(rs.signer.PublicKey()),
		// The home is that of termhost's terminals: what the user has in .bashrc may be slow.
		"sshd_config": fmt.Appendf(nil, "Port %s\nListenAddress 127.0.0.1\n"+
			"HostKey %s\nAuthorizedKeysFile %s\nMaxStartups 200\nSetEnv HOME=%s\n"+
			"UsePAM no\nStrictModes no\nPidFile none\nPermitRootLogin yes\n",
			port, rs.in("sshd_host_key"), rs.in("sshd_keys"), rs.dir),
	}
	for name, data := range files {
		if err := os.WriteFile(rs.in(name), data, 0o600); err != nil {
			return err
		}
	}
	if os.Getuid() == 0 { // it separates privileges into there
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			return err
		}
	}
	pid, err := rs.start("sshd", addr, exec.Command(path, "-D", "-e", "-f", rs.in("sshd_config")))
	if err != nil {
		return err
	}
	r := rs.overSSH("sshd", addr, pid, []string{"sshd"}, func(line string) string { return line })
	r.log = rs.logOf("sshd")
	r.Piped = func(line string) string { return line }
	if c, err := r.Dial(); err == nil { // what is wrong with it shows when it is measured
		r.Version = strings.TrimPrefix(string(c.ServerVersion()), "SSH-2.0-")
		c.Close()
	}
	rs.try("tmux", func(path string) error { return rs.startTmux(path, addr, pid) })
	rs.try("dtach", func(path string) error { rs.addDtach(path, addr, pid); return nil })
	return nil
}

// in returns the path of a file in the servers' folder.
func (rs *Rivals) in(name string) string { return filepath.Join(rs.dir, name) }

// version returns what a program prints about its version; "": nothing.
func version(path, flag string) string {
	out, err := exec.Command(path, flag).Output()
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return line
}

// startTmux starts one server of tmux for all sessions, as a user has one.
func (rs *Rivals) startTmux(path, addr string, sshd int) error {
	config := "set -g status off\nset -sg escape-time 0\nset -g exit-empty off\n" +
		"set -g history-limit 20000\n" // lines: as much as termhost keeps
	if err := os.WriteFile(rs.in("tmux.conf"), []byte(config), 0o600); err != nil {
		return err
	}
	socket := []string{"-S", rs.in("tmux"), "-f", rs.in("tmux.conf")}
	start := exec.Command(path, append(socket, "start-server")...)
	if out, err := start.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	tmux := path + " " + strings.Join(socket, " ")
	r := rs.overSSH("sshd + tmux", addr, sshd, []string{"sshd", "tmux"},
		func(line string) string { return "exec " + tmux + " new-session " + quote(line) })
	r.Version = version(path, "-V")
	r.keeping = &keeping{
		start: func(name, line string) string {
			return fmt.Sprintf("%s new-session -d -s %s -x 80 -y 24 %s", tmux, name, quote(line))
		},
		attach: func(name string) string { return "exec " + tmux + " attach -t " + name },
		watch:  func(name string) string { return "exec " + tmux + " attach -r -t " + name },
		shows:  ready, redraws: ready, scrolls: true,
	}
	return nil
}

// addDtach adds dtach, which has a server for each terminal.
func (rs *Rivals) addDtach(path, addr string, sshd int) {
	var r *Rival
	r = rs.overSSH("sshd + dtach", addr, sshd, []string{"sshd", "dtach"}, func(line string) string {
		name := rs.in(r.newName())
		return fmt.Sprintf("exec %s -A %s -z -r none sh -c %s", path, name, quote(line))
	})
	r.Version = version(path, "--version")
	r.keeping = &keeping{
		start: func(name, line string) string {
			return fmt.Sprintf("%s -n %s -z -r none sh -c %s", path, rs.in(name), quote(line))
		},
		attach: func(name string) string {
			return fmt.Sprintf("exec %s -a %s -z -r ctrl_l", path, rs.in(name))
		},
		shows: "\x1b[H\x1b[J", redraws: "\f",
	}
}

// quote makes one word of shell of s.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
