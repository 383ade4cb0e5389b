package sshd

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	gossh "golang.org/x/crypto/ssh"
	"golang.org/x/sys/unix"

	"termhost/ahp/hosttest"
)

// A storm is many strangers who open connections and do not log in, in a process of their own. The
// test binary is that process.

// stormVariable makes the test binary a storm: "ADDR KIND RATE SOURCES".
const stormVariable = "TERMHOST_TEST_STORM"

const (
	// stormOpen bounds the connections that a storm has open. It closes the oldest for a new one.
	stormOpen = 800
	// stormTick is how often it opens some.
	stormTick = 5 * time.Millisecond
	// stormMost ends a storm whose test has been killed.
	stormMost = 2 * patience
	// stormGathers is how long a storm blows before it says so: longer than it takes to fill the
	// host with strangers.
	stormGathers = time.Second
)

// storms are what strangers do, by name. A stranger returns when it has gone as far as it goes; its
// connection stays open, unless it says that it is over.
var storms = map[string]func(net.Conn) (over bool){
	"silent": func(net.Conn) bool { return false },
	"named":  func(c net.Conn) bool { return say(c, strangerName) },
	"lists": func(c net.Conn) bool {
		return say(c, strangerName, strangerLists("curve25519-sha256", false))
	},
	// A recording of a handshake, which costs the stranger no computation.
	"replayed": func(c net.Conn) bool {
		return say(c, strangerName, strangerLists("curve25519-sha256", false), strangerKey(32))
	},
	// What it guesses is wrong, so its first key is to be ignored, and no other one comes.
	"guessed": func(c net.Conn) bool {
		return say(c, strangerName, strangerLists("curve25519-sha256", true), strangerKey(32))
	},
	"stopped":    stopAfterKeyExchange,
	"stranger's": failToAuthenticate,
}

const strangerName = "SSH-2.0-OpenSSH_9.2\r\n"

// say sends some of a handshake.
func say(c net.Conn, parts ...string) bool {
	_, err := io.WriteString(c, strings.Join(parts, ""))
	return err != nil
}

// strangerPacket wraps a payload as RFC 4253 section 6 says.
func strangerPacket(payload []byte) string {
	padding := 8 - (5+len(payload))%8
	if padding < 4 {
		padding += 8
	}
	b := binary.BigEndian.AppendUint32(nil, uint32(1+len(payload)+padding))
	b = append(append(b, byte(padding)), payload...)
	return string(append(b, make([]byte, padding)...))
}

// strangerLists returns a KEXINIT.
func strangerLists(kex string, guess bool) string {
	gcm := []string{gossh.CipherAES128GCM}
	macs := []string{gossh.HMACSHA256}
	return strangerPacket(gossh.Marshal(struct {
		Cookie          [16]byte `sshtype:"20"`
		Kex, HostKeys   []string
		In, Out         []string
		MACsIn, MACsOut []string
		CompIn, CompOut []string
		LangIn, LangOut []string
		Guess           bool
		Reserved        uint32
	}{Kex: []string{kex}, HostKeys: []string{gossh.KeyAlgoED25519}, In: gcm, Out: gcm,
		MACsIn: macs, MACsOut: macs, CompIn: []string{"none"}, CompOut: []string{"none"}, Guess: guess}))
}

// strangerKey returns the packet that begins a key exchange (RFC 5656 section 4).
func strangerKey(size int) string {
	key := make([]byte, size)
	key[0] = 9 // the base point of X25519
	return strangerPacket(gossh.Marshal(struct {
		Key []byte `sshtype:"30"`
	}{key}))
}

// stopAfterKeyExchange goes on until it is asked for a key.
func stopAfterKeyExchange(c net.Conn) bool {
	stopped := make(chan struct{})
	failed := make(chan struct{})
	go func() {
		defer close(failed)
		wait := func() ([]gossh.Signer, error) {
			close(stopped)
			select {} // until the process ends
		}
		cfg := strangerConfig(gossh.PublicKeysCallback(wait))
		_, _, _, _ = gossh.NewClientConn(c, "", cfg)
	}()
	select {
	case <-stopped:
		return false
	case <-failed:
		return true
	}
}

// strangerSigner is a key that nobody knows.
var strangerSigner = sync.OnceValue(func() gossh.Signer {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		panic(err)
	}
	s, err := gossh.NewSignerFromSigner(private)
	if err != nil {
		panic(err)
	}
	return s
})

// failToAuthenticate comes with a key that is not good.
func failToAuthenticate(c net.Conn) bool {
	_, _, _, err := gossh.NewClientConn(c, "", strangerConfig(gossh.PublicKeys(strangerSigner())))
	return err != nil
}

func strangerConfig(auth gossh.AuthMethod) *gossh.ClientConfig {
	return &gossh.ClientConfig{User: "me", Auth: []gossh.AuthMethod{auth},
		HostKeyCallback: gossh.InsecureIgnoreHostKey()} // the server is the test's own
}

func stormMain(args string) {
	var addr, kind string
	var rate, sources int
	_, err := fmt.Sscan(args, &addr, &kind, &rate, &sources)
	do := storms[kind]
	if err != nil || do == nil {
		fmt.Println("failed:", args, err)
		os.Exit(1)
	}
	// Strangers have machines of their own: they are not to win by taking this one's time.
	if err := unix.Setpriority(unix.PRIO_PROCESS, 0, 19); err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
	s := &storm{addr: addr, do: do, sources: sources, gone: make(chan struct{})}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(s.gone)
	}()
	s.blow(rate)
}

// storm is the process's state.
type storm struct {
	addr    string
	do      func(net.Conn) bool
	sources int
	gone    chan struct{} // closed when the test has had enough

	mu   sync.Mutex
	open []net.Conn // the oldest first
	made int
}

// blow opens rate connections a second until the test has had enough.
func (s *storm) blow(rate int) {
	begun, tick := time.Now(), time.NewTicker(stormTick)
	defer tick.Stop()
	slots := make(chan struct{}, stormOpen) // of connections that go on
	said := false
	for n := 0; time.Since(begun) < stormMost; {
		select {
		case <-s.gone:
			return
		case <-tick.C:
		}
		if !said && time.Since(begun) > stormGathers {
			s.mu.Lock()
			fmt.Printf("blows: %.0f a second\n", float64(s.made)/time.Since(begun).Seconds())
			s.mu.Unlock()
			said = true
		}
		// What could not be opened in time is not made up for.
		for due := min(n+rate, int(time.Since(begun).Seconds()*float64(rate))); n < due; n++ {
			select {
			case slots <- struct{}{}:
				go func() {
					defer func() { <-slots }()
					s.stranger(n)
				}()
			default:
			}
		}
	}
}

// stranger is one connection.
func (s *storm) stranger(n int) {
	d := net.Dialer{Timeout: patience}
	if s.sources > 0 {
		d.LocalAddr = &net.TCPAddr{IP: stormSource(n % s.sources)}
	}
	c, err := d.Dial("tcp", s.addr)
	if err != nil {
		return
	}
	_ = c.(*net.TCPConn).SetLinger(0) // ports are free again at once
	s.mu.Lock()
	s.made++
	s.open = append(s.open, c)
	if len(s.open) > stormOpen {
		s.open[0].Close()
		s.open = s.open[1:]
	}
	s.mu.Unlock()
	if s.do(c) {
		c.Close()
	}
}

// The namespaces of tests have this network, all of which is on loopback devices without being
// loopback addresses.
const (
	stormNetwork = "10.77.0.0/16"
	stormHost    = "10.77.0.1"
)

// stormSource returns the i-th address of strangers.
func stormSource(i int) net.IP { return net.IPv4(10, 77, byte(1+i/250), byte(1+i%250)) }

// storm starts a storm and returns when it blows. sources is how many addresses the strangers come
// from; 0: from loopback. over ends it.
func (r *rig) storm(kind string, rate, sources int) (over func()) {
	r.t.Helper()
	addr := r.addr
	if sources > 0 {
		_, port, _ := net.SplitHostPort(r.addr)
		addr = net.JoinHostPort(stormHost, port)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %d %d", stormVariable,
		addr, kind, rate, sources))
	in, err := cmd.StdinPipe()
	hosttest.Check(r.t, err)
	out, err := cmd.StdoutPipe()
	hosttest.Check(r.t, err)
	hosttest.Check(r.t, hosttest.Start(cmd))
	over = sync.OnceFunc(func() {
		in.Close()
		cancel()
		_ = cmd.Wait()
	})
	r.t.Cleanup(over)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "blows: ") {
		over()
		r.t.Fatalf("the storm: %q, %v", line, errors.Join(err, ctx.Err()))
	}
	r.t.Logf("%s %s", kind, strings.TrimSpace(line))
	return over
}
