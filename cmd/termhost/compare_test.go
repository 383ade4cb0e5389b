package main

import (
	"bufio"
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"
)

// The benchmarks of this file compare termhost with OpenSSH's sshd, one after
// the other with the same client on the same machine. Machines differ and
// drift: only the ratios of one run mean something.

// rival is a server under comparison.
type rival struct {
	name string
	addr string
	auth gossh.Signer
	pid  int
	// command is what to ask for so that line runs on a pty.
	command func(line string) string
}

// rivals starts termhost, and sshd where it is installed.
func rivals(b *testing.B) []rival {
	dir := b.TempDir()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	signer, err := gossh.NewSignerFromKey(key)
	if err != nil {
		b.Fatal(err)
	}
	list := []rival{startTermhost(b, dir, signer)}
	if path, err := exec.LookPath("/usr/sbin/sshd"); err == nil {
		list = append(list, startSSHD(b, path, dir, signer, key))
	}
	return list
}

func startTermhost(b *testing.B, dir string, signer gossh.Signer) rival {
	b.Helper()
	keys := filepath.Join(dir, "keys")
	if err := os.WriteFile(keys, gossh.MarshalAuthorizedKey(signer.PublicKey()), 0o600); err != nil {
		b.Fatal(err)
	}
	config := filepath.Join(dir, "config.toml")
	if err := os.WriteFile(config, fmt.Appendf(nil, "state_dir = %q\n[ssh]\nlisten = \"127.0.0.1:0\"\nauthorized_keys_files = [%q]\n[http]\nlisten = \"127.0.0.1:0\"\n",
		filepath.Join(dir, "state"), keys), 0o600); err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command("termhost", "serve", "-c", config) // this test binary; see TestMain
	cmd.Env = append(os.Environ(), "HOME="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { cmd.Process.Signal(os.Interrupt); cmd.Wait() })
	for sc := bufio.NewScanner(out); sc.Scan(); {
		if words := strings.Fields(sc.Text()); len(words) > 2 && words[0] == "ssh" {
			return rival{name: "termhost", addr: net.JoinHostPort(words[len(words)-1], words[len(words)-2]), auth: signer, pid: cmd.Process.Pid,
				command: func(line string) string { return "new -- " + line }}
		}
	}
	b.Fatal("termhost does not start")
	return rival{}
}

func startSSHD(b *testing.B, path, dir string, signer gossh.Signer, key ed25519.PrivateKey) rival {
	b.Helper()
	block, err := gossh.MarshalPrivateKey(key, "")
	if err != nil {
		b.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	_, port, _ := net.SplitHostPort(addr)
	write := func(name string, data []byte) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, data, 0o600); err != nil {
			b.Fatal(err)
		}
		return p
	}
	host := write("sshd_host_key", pem.EncodeToMemory(block))
	authorized := write("sshd_keys", gossh.MarshalAuthorizedKey(signer.PublicKey()))
	config := write("sshd_config", fmt.Appendf(nil, "Port %s\nListenAddress 127.0.0.1\nHostKey %s\nAuthorizedKeysFile %s\n"+
		"UsePAM no\nStrictModes no\nPidFile none\nPermitRootLogin yes\n", port, host, authorized))
	if err := os.MkdirAll("/run/sshd", 0o755); err != nil && os.Getuid() == 0 {
		b.Fatal(err)
	}
	cmd := exec.Command(path, "-D", "-e", "-f", config)
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	for deadline := time.Now().Add(patience); ; {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			c.Close()
			break
		}
		if time.Now().After(deadline) {
			b.Fatalf("sshd does not listen: %v\n%s", err, log.String())
		}
	}
	return rival{name: "sshd", addr: addr, auth: signer, pid: cmd.Process.Pid, command: func(line string) string { return line }}
}

// dial logs in.
func (r rival) dial(b *testing.B) *gossh.Client {
	b.Helper()
	user := "root"
	if u := os.Getenv("USER"); u != "" && os.Getuid() != 0 {
		user = u
	}
	c, err := gossh.Dial("tcp", r.addr, &gossh.ClientConfig{User: user, Auth: []gossh.AuthMethod{gossh.PublicKeys(r.auth)},
		HostKeyCallback: gossh.InsecureIgnoreHostKey()}) // loopback, a key made a moment ago
	if err != nil {
		b.Fatal(err)
	}
	return c
}

// start runs line on a pty.
func (r rival) start(b *testing.B, c *gossh.Client, line string) (s *gossh.Session, in io.Writer, out io.Reader) {
	b.Helper()
	s, err := c.NewSession()
	if err != nil {
		b.Fatal(err)
	}
	if err := s.RequestPty("xterm-256color", 24, 80, nil); err != nil {
		b.Fatal(err)
	}
	if in, err = s.StdinPipe(); err != nil {
		b.Fatal(err)
	}
	if out, err = s.StdoutPipe(); err != nil {
		b.Fatal(err)
	}
	if err := s.Start(r.command(line)); err != nil {
		b.Fatal(err)
	}
	return s, in, out
}

// BenchmarkEcho is the time from a key to its echo: p50 and p99 in microseconds.
func BenchmarkEcho(b *testing.B) {
	for _, r := range rivals(b) {
		b.Run(r.name, func(b *testing.B) {
			c := r.dial(b)
			defer c.Close()
			s, in, out := r.start(b, c, "echo ready; exec cat")
			defer s.Close()
			awaitText(b, out, "ready")
			var times []time.Duration
			buf := make([]byte, 4096)
			for b.Loop() {
				start := time.Now()
				if _, err := in.Write([]byte{'x'}); err != nil {
					b.Fatal(err)
				}
				for {
					n, err := out.Read(buf)
					if err != nil {
						b.Fatal(err)
					}
					if bytes.IndexByte(buf[:n], 'x') >= 0 {
						break
					}
				}
				times = append(times, time.Since(start))
				if len(times)%1000 == 0 {
					// A line ends before the tty's 4096 bytes are full.
					in.Write([]byte{'\r'})
					awaitLines(b, out, 2) // the echo, and what cat makes of it
				}
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Nanoseconds())/1e3, "p50-us")
			b.ReportMetric(float64(times[len(times)*99/100].Nanoseconds())/1e3, "p99-us")
		})
	}
}

func awaitText(b *testing.B, r io.Reader, text string) {
	b.Helper()
	var seen []byte
	buf := make([]byte, 4096)
	for !bytes.Contains(seen, []byte(text)) {
		n, err := r.Read(buf)
		if err != nil {
			b.Fatalf("waiting for %q: %v; read %q", text, err, seen)
		}
		seen = append(seen, buf[:n]...)
	}
}

func awaitLines(b *testing.B, r io.Reader, n int) {
	b.Helper()
	buf := make([]byte, 8192)
	for n > 0 {
		got, err := r.Read(buf)
		if err != nil {
			b.Fatal(err)
		}
		n -= bytes.Count(buf[:got], []byte{'\n'})
	}
}

// BenchmarkFlood is cat of a file of coloured lines through one viewer: MB/s of
// the file, and the server's CPU seconds for 200 MB.
func BenchmarkFlood(b *testing.B) {
	const size = 50 << 20
	file := filepath.Join(b.TempDir(), "flood")
	line := []byte("\x1b[32m" + strings.Repeat("the quick brown fox ", 4) + "abcdefg\x1b[0m\n")
	if err := os.WriteFile(file, bytes.Repeat(line, size/len(line)), 0o600); err != nil {
		b.Fatal(err)
	}
	for _, r := range rivals(b) {
		b.Run(r.name, func(b *testing.B) {
			c := r.dial(b)
			defer c.Close()
			b.SetBytes(size)
			before := cpuSeconds(r.pid)
			for b.Loop() {
				s, _, out := r.start(b, c, "cat "+file)
				if _, err := io.Copy(io.Discard, out); err != nil {
					b.Fatal(err)
				}
				s.Close()
			}
			used := cpuSeconds(r.pid) - before
			b.ReportMetric(used*200/(float64(size>>20)*float64(b.N)), "cpu-s/200MB")
		})
	}
}

// BenchmarkAttach is the time from dialling to the first output of a program.
func BenchmarkAttach(b *testing.B) {
	for _, r := range rivals(b) {
		b.Run(r.name, func(b *testing.B) {
			for b.Loop() {
				c := r.dial(b)
				s, _, out := r.start(b, c, "echo ready")
				awaitText(b, out, "ready")
				s.Close()
				c.Close()
			}
		})
	}
}

// cpuSeconds returns the CPU time of a process and of those of its descendants
// whose names begin with its own: sshd serves each connection with processes of
// their own, called sshd or, from OpenSSH 9.8 on, sshd-session.
func cpuSeconds(pid int) float64 {
	const tick = 100 // USER_HZ, the same on every Linux
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	type proc struct {
		parent int
		name   string
		ticks  float64
	}
	procs := map[int]proc{}
	for _, f := range stats {
		data, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		open, end := bytes.IndexByte(data, '('), bytes.LastIndexByte(data, ')')
		id, _ := strconv.Atoi(strings.TrimSpace(string(data[:open])))
		fields := strings.Fields(string(data[end+1:]))
		parent, _ := strconv.Atoi(fields[1])
		var ticks float64
		for _, i := range []int{11, 12} { // utime, stime
			n, _ := strconv.ParseFloat(fields[i], 64)
			ticks += n
		}
		procs[id] = proc{parent: parent, name: string(data[open+1 : end]), ticks: ticks}
	}
	total := 0.0
	for id, p := range procs {
		for at := id; at > 1; at = procs[at].parent {
			if at == pid && strings.HasPrefix(p.name, procs[pid].name) {
				total += p.ticks / tick
			}
		}
	}
	return total
}
