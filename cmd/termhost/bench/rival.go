package bench

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/crypto/ssh"
)

// Rival is a server under comparison. Its functions may be called concurrently.
type Rival struct {
	Name string
	// Version is what the server calls itself; "": it does not.
	Version string
	// Dial logs in, where that is done with SSH; nil: it is not.
	Dial func() (*ssh.Client, error)
	// Piped returns the SSH command that runs a line of shell on pipes; nil: nothing does.
	Piped func(line string) string

	// open logs in and runs a line of shell on a terminal.
	open func(line string) (*Session, error)
	// keeping has the SSH commands for terminals without viewers; nil: there are none.
	keeping *keeping
	// socket opens a WebSocket on which nothing happens, until end; nil: there are none.
	socket func() (end func(), err error)
	// fleet has the door's neighbours; nil: it is no door.
	fleet *neighbours

	pid    int
	log    string
	dir    string   // a folder that is in the command lines of its processes; "": it is elsewhere
	names  []string // what its processes are called
	files  atomic.Int64
	prefix string // of its terminals' names
}

// neighbours are what else is in the fleet of a door.
type neighbours struct {
	third *Rival                        // a third host, reached through the door
	hop   func() (time.Duration, error) // sends the fleet's server something that comes back
}

// usage is the use of a server's present processes so far; NaN: the system hides it.
type usage struct {
	seconds  float64 // of CPU time
	switches float64 // from one thread to another
	calls    float64 // of read, write and their kind
}

func (r *Rival) usage() (u usage) {
	for _, p := range servers(r.pid, r.dir, r.names) {
		u.seconds += p.seconds
		u.switches += p.switches()
		u.calls += p.calls()
	}
	return u
}

// CPU returns the seconds of CPU time that the server's processes have used which run now.
func (r *Rival) CPU() (seconds float64) {
	for _, p := range servers(r.pid, r.dir, r.names) {
		seconds += p.seconds
	}
	return seconds
}

// ran returns for how long the threads of the server's processes have run which run now.
func (r *Rival) ran() (d time.Duration) {
	for _, p := range servers(r.pid, r.dir, r.names) {
		d += p.ran()
	}
	return d
}

// memory returns what the server's processes take, in KiB.
func (r *Rival) memory() (kib float64) { return Share(r.pid, r.dir, r.names...) }

// processes returns how many processes the server has.
func (r *Rival) processes() int { return len(servers(r.pid, r.dir, r.names)) }

// newName returns a name for a terminal or a file.
func (r *Rival) newName() string { return fmt.Sprintf("%sn%d", r.prefix, r.files.Add(1)) }

// Rivals are servers that have been started.
type Rivals struct {
	List []*Rival
	// Missing are the servers that are not there, with the reason.
	Missing []string

	dir    string
	signer ssh.Signer
	key    ed25519.PrivateKey
	ends   []func()
	closed sync.Once
}

// StartRivals starts program as a host, and next to it what is installed. The folder is for their
// files. The Rivals must be closed.
func StartRivals(program, dir string) (*Rivals, error) {
	rs, err := newRivals(dir)
	if err != nil {
		return nil, err
	}
	if err := rs.addHost(program, rs.dir, Variant{Name: "termhost"}); err != nil {
		rs.Close()
		return nil, err
	}
	rs.try("sshd", rs.startSSHD)
	rs.try("ttyd", rs.startTTYD)
	return rs, nil
}

// try starts a server that is installed.
func (rs *Rivals) try(name string, start func(path string) error) {
	path, ok := findProgram(name)
	if !ok {
		rs.Missing = append(rs.Missing, name+" (not installed)")
		return
	}
	if err := start(path); err != nil {
		rs.Missing = append(rs.Missing, fmt.Sprintf("%s (does not start: %v)", name, err))
	}
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

// Close ends the servers. It may be called again, and while they are used.
func (rs *Rivals) Close() {
	rs.closed.Do(func() {
		for _, end := range rs.ends {
			end()
		}
	})
	rs.endDetached()
}

// endDetached ends the servers of tmux and dtach, which outlive their connections.
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

// findProgram finds an installed program; servers are in folders that are not on everybody's PATH.
func findProgram(name string) (path string, ok bool) {
	for _, p := range []string{name, "/usr/sbin/" + name, "/usr/local/sbin/" + name} {
		if path, err := exec.LookPath(p); err == nil {
			return path, true
		}
	}
	return "", false
}

// start runs a server, whose processes are called name, and waits until it listens.
func (rs *Rivals) start(name, addr string, cmd *exec.Cmd) (pid int, err error) {
	log, err := os.Create(rs.logOf(name))
	if err != nil {
		return 0, err
	}
	defer log.Close()
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = cmd.Wait() }() // it is killed
	rs.ends = append(rs.ends, func() {
		all := servers(cmd.Process.Pid, rs.dir, []string{name})
		_ = cmd.Process.Kill() // it may have ended
		<-ended
		for _, p := range all { // one for each connection
			_ = syscall.Kill(p.pid, syscall.SIGKILL) // likewise
		}
	})
	for deadline := time.Now().Add(patience); ; {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			return cmd.Process.Pid, c.Close()
		}
		select {
		case <-ended:
			return 0, errors.New(lastLine(log.Name()))
		case <-time.After(10 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return 0, err
		}
	}
}

// logOf returns where a server's log is.
func (rs *Rivals) logOf(server string) string { return rs.in(server + ".log") }

// lastLine returns the last line of a file; "": there is none.
func lastLine(file string) string {
	text, _ := os.ReadFile(file) // it may not be there
	text = bytes.TrimSpace(text)
	return string(text[bytes.LastIndexByte(text, '\n')+1:])
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
