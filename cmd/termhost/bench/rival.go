package bench

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/crypto/ssh"
)

// Rival is a server under comparison. Its Open may be called concurrently.
type Rival struct {
	Name string
	// Open logs in and runs a line of shell on a terminal.
	Open func(line string) (*Session, error)
	// Dial logs in, where that is done with SSH; nil: it is not.
	Dial func() (*ssh.Client, error)
	// Piped returns the SSH command that runs a line of shell on pipes; nil: nothing does.
	Piped func(line string) string

	pid   int
	dir   string   // a folder that is in the command lines of its processes
	names []string // what its processes are called
}

// CPU returns the seconds of CPU time that the server's processes have used which run now.
func (r *Rival) CPU() (seconds float64) {
	for _, p := range servers(r.pid, r.dir, r.names) {
		seconds += p.seconds
	}
	return seconds
}

// memory returns what the server's processes take, in KiB.
func (r *Rival) memory() (kib int) {
	for _, p := range servers(r.pid, r.dir, r.names) {
		kib += p.share()
	}
	return kib
}

// Rivals are servers that have been started.
type Rivals struct {
	List    []*Rival
	Missing []string // programs that are not installed

	dir    string
	signer ssh.Signer
	key    ed25519.PrivateKey
	ends   []func()
}

// StartRivals starts program as a host, and next to it what is installed. The folder is for their
// files. The Rivals must be closed.
func StartRivals(program, dir string) (*Rivals, error) {
	rs, err := newRivals(dir)
	if err != nil {
		return nil, err
	}
	for _, start := range []func() error{
		func() error { return rs.startTermhost(program) }, rs.startSSHD, rs.startTTYD,
	} {
		if err := start(); err != nil {
			rs.Close()
			return nil, err
		}
	}
	return rs, nil
}

// Variant is a host with more configuration.
type Variant struct{ Name, Config string }

// StartVariants starts program as several hosts. The folder is for their files. The Rivals must be
// closed.
func StartVariants(program, dir string, variants ...Variant) (*Rivals, error) {
	rs, err := newRivals(dir)
	if err != nil {
		return nil, err
	}
	for _, v := range variants {
		in := filepath.Join(dir, v.Name)
		err := os.Mkdir(in, 0o700)
		if err == nil {
			err = rs.addHost(program, in, v)
		}
		if err != nil {
			rs.Close()
			return nil, err
		}
	}
	return rs, nil
}

func newRivals(dir string) (*Rivals, error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	signer, err := ssh.NewSignerFromKey(key)
	return &Rivals{dir: dir, key: key, signer: signer}, err
}

// Close ends the servers.
func (rs *Rivals) Close() {
	for _, end := range rs.ends {
		end()
	}
}

// Config returns a configuration that has a host listen on free ports of loopback, with home as
// the home folder of its terminals: what the user has in .bashrc may be slow.
func Config(home string) string {
	return fmt.Sprintf(`
		ssh.listen = "127.0.0.1:0"
		http.listen = "127.0.0.1:0"
		terminal.env = { HOME = %q }
	`, home)
}

// startHost starts a host in dir that lets those in whose keys the lines are, with more
// configuration. end ends it.
func startHost(program, dir string, lines []byte, more string) (h *Host, end func(), err error) {
	keys, config := filepath.Join(dir, "keys"), filepath.Join(dir, "config.toml")
	text := Config(dir) + fmt.Sprintf("state_dir = %q\nssh.authorized_keys_files = [%q]\n",
		filepath.Join(dir, "state"), keys) + more
	if err := os.WriteFile(keys, lines, 0o600); err != nil {
		return nil, nil, err
	}
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, nil, err
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, nil, err
	}
	defer log.Close()
	if h, err = StartHost(program, config, append(os.Environ(), "HOME="+dir), log); err != nil {
		said, _ := os.ReadFile(log.Name()) // without it there is less to say
		return nil, nil, fmt.Errorf("%w: %s", err, bytes.TrimSpace(said))
	}
	return h, func() {
		if h.Stop(os.Interrupt) != nil {
			h.Kill()
		}
	}, nil
}

// hostNames are the names of a host's processes: its own and its keeper's.
func hostNames() []string { return []string{"termhost", filepath.Base(os.Args[0])} }

func (rs *Rivals) startTermhost(program string) error {
	return rs.addHost(program, rs.dir, Variant{Name: "termhost"})
}

// addHost starts a host in a folder.
func (rs *Rivals) addHost(program, dir string, v Variant) error {
	lines := ssh.MarshalAuthorizedKey(rs.signer.PublicKey())
	h, end, err := startHost(program, dir, lines, v.Config)
	if err != nil {
		return err
	}
	rs.ends = append(rs.ends, end)
	r := rs.overSSH(v.Name, h.address(), h.Cmd.Process.Pid, hostNames(),
		func(line string) string { return "new -- " + line })
	r.Piped = func(line string) string { return "run -- " + line }
	r.dir = dir
	return nil
}

// overSSH adds a server that is reached by SSH.
func (rs *Rivals) overSSH(name, addr string, pid int, names []string,
	command func(string) string) *Rival {
	r := &Rival{Name: name, pid: pid, dir: rs.dir, names: names}
	r.Dial = func() (*ssh.Client, error) { return dialSSH(addr, rs.signer) }
	r.Open = func(line string) (*Session, error) {
		c, err := r.Dial()
		if err != nil {
			return nil, err
		}
		s, err := startSSH(c, command(line))
		if err != nil {
			c.Close()
		}
		return s, err
	}
	rs.List = append(rs.List, r)
	return r
}

// dialSSH logs in as this process's user. The server is the measurement's own.
func dialSSH(addr string, key ssh.Signer) (*ssh.Client, error) {
	u, err := user.Current()
	if err != nil {
		return nil, err
	}
	return ssh.Dial("tcp", addr, &ssh.ClientConfig{User: u.Username, Timeout: patience,
		Auth: []ssh.AuthMethod{ssh.PublicKeys(key)}, HostKeyCallback: ssh.InsecureIgnoreHostKey()})
}

// program finds an installed program; servers are in folders that are not on everybody's PATH.
func (rs *Rivals) program(name string) (path string, ok bool) {
	for _, p := range []string{name, "/usr/sbin/" + name, "/usr/local/sbin/" + name} {
		if path, err := exec.LookPath(p); err == nil {
			return path, true
		}
	}
	rs.Missing = append(rs.Missing, name)
	return "", false
}

// startSSHD starts sshd, in which tmux and dtach are run.
func (rs *Rivals) startSSHD() error {
	path, ok := rs.program("sshd")
	if !ok {
		return nil
	}
	addr, err := freeAddress()
	if err != nil {
		return err
	}
	block, err := ssh.MarshalPrivateKey(rs.key, "")
	if err != nil {
		return err
	}
	_, port, _ := net.SplitHostPort(addr) // freeAddress has joined them
	in := func(name string) string { return filepath.Join(rs.dir, name) }
	files := map[string][]byte{
		"sshd_host_key": pem.EncodeToMemory(block),
		"sshd_keys":     ssh.MarshalAuthorizedKey(rs.signer.PublicKey()),
		"tmux.conf":     []byte("set -g status off\nset -sg escape-time 0\n"),
		"sshd_config": fmt.Appendf(nil, "Port %s\nListenAddress 127.0.0.1\n"+
			"HostKey %s\nAuthorizedKeysFile %s\nMaxStartups 100\n"+
			"UsePAM no\nStrictModes no\nPidFile none\nPermitRootLogin yes\n",
			port, in("sshd_host_key"), in("sshd_keys")),
	}
	for name, data := range files {
		if err := os.WriteFile(in(name), data, 0o600); err != nil {
			return err
		}
	}
	if os.Getuid() == 0 { // it separates privileges into there
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			return err
		}
	}
	pid, err := rs.start(addr, exec.Command(path, "-D", "-e", "-f", in("sshd_config")))
	if err != nil {
		return fmt.Errorf("sshd: %w", err)
	}
	r := rs.overSSH("sshd", addr, pid, []string{"sshd"}, func(line string) string { return line })
	r.Piped = func(line string) string { return line }
	rs.ends = append(rs.ends, rs.endDetached)
	if tmux, ok := rs.program("tmux"); ok {
		rs.overSSH("sshd + tmux", addr, pid, []string{"sshd", "tmux"}, func(line string) string {
			return fmt.Sprintf("exec %s -S %s -f %s new-session %s", tmux,
				in(fmt.Sprintf("t%d", time.Now().UnixNano())), in("tmux.conf"), quote(line))
		})
	}
	if dtach, ok := rs.program("dtach"); ok {
		rs.overSSH("sshd + dtach", addr, pid, []string{"sshd", "dtach"}, func(line string) string {
			return fmt.Sprintf("exec %s -A %s -z -r none sh -c %s", dtach,
				in(fmt.Sprintf("d%d", time.Now().UnixNano())), quote(line))
		})
	}
	return nil
}

// endDetached ends the servers of tmux and dtach with their programs. They outlive their
// connections.
func (rs *Rivals) endDetached() {
	deadline := time.Now().Add(patience)
	for {
		left := servers(0, rs.dir, []string{"tmux", "dtach"})
		if len(left) == 0 || time.Now().After(deadline) {
			return
		}
		for _, p := range left {
			_ = syscall.Kill(p.pid, syscall.SIGTERM) // it may have ended
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// quote makes one word of shell of s, which has no quotes.
func quote(s string) string { return "'" + s + "'" }

// start runs a server and waits until it listens.
func (rs *Rivals) start(addr string, cmd *exec.Cmd) (pid int, err error) {
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = cmd.Wait() }() // it is killed
	rs.ends = append(rs.ends, func() { _ = cmd.Process.Kill(); <-ended })
	for deadline := time.Now().Add(patience); ; {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			return cmd.Process.Pid, c.Close()
		}
		select {
		case <-ended:
			return 0, errors.New(string(bytes.TrimSpace(log.Bytes())))
		case <-time.After(10 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return 0, err
		}
	}
}

// freeAddress returns an address of loopback on which nobody listens.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}
