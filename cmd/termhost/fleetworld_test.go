package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/cmd/termhost/bench"
	"termhost/ptypool/vt"
)

// fleetWorld is a fleet of real hosts, each a process with a folder of its own. Alice and carol are
// admins of all, and bob is an operator.
type fleetWorld struct {
	t       testing.TB
	dir     string
	listen  string // where the fleet's server is
	signers map[string]gossh.Signer
	hosts   map[string]*fleetHost
}

// fleetHost is a host of a fleetWorld.
type fleetHost struct {
	w         *fleetWorld
	name, dir string
	env       []string
	log       *os.File
	serve     *bench.Host // nil: it has not been started
	do        verbRunner
}

// loopback returns an address of this machine that nothing else listens on: see cmdAddress.
func loopback() string {
	return fmt.Sprintf("127.%d.%d.%d:7723", 1+rand.IntN(254), rand.IntN(255), 1+rand.IntN(254))
}

// newFleet starts a host "home" that has made a fleet. more is more of its configuration.
func newFleet(t testing.TB, more string) (*fleetWorld, *fleetHost) {
	t.Helper()
	w := &fleetWorld{t: t, dir: hosttest.Dir(t), listen: loopback(),
		signers: map[string]gossh.Signer{}, hosts: map[string]*fleetHost{}}
	for _, name := range []string{"alice", "bob", "carol"} {
		w.signers[name] = newSigner(t)
	}
	home := w.host("home", more)
	home.do("fleet", "init", "--name", "home", "--listen", w.listen)
	home.start()
	return w, home
}

// host makes the folder of a host.
func (w *fleetWorld) host(name, more string) *fleetHost {
	w.t.Helper()
	h := &fleetHost{w: w, name: name, dir: filepath.Join(w.dir, name), log: hosttest.LogFile(w.t)}
	hosttest.Check(w.t, os.Mkdir(h.dir, 0o700))
	config := bench.Config(h.dir) + fmt.Sprintf("state_dir = %q\nssh.authorized_keys_files = []\n",
		h.state()) + more + "\n"
	for name, role := range map[string]string{
		"alice": "admin", "bob": "operator", "carol": "admin"} {
		line := strings.TrimSpace(string(gossh.MarshalAuthorizedKey(w.signers[name].PublicKey())))
		config += fmt.Sprintf("[[principal]]\nname = %q\nrole = %q\nkeys = [%q]\n", name, role, line)
	}
	writeFile(w.t, h.file(), hosttest.OwnedConfig(w.t.Name(), config))
	h.env = append(os.Environ(), "HOME="+h.dir, "XDG_STATE_HOME=", "SHELL=/bin/sh",
		slowtest.Owner(w.t))
	h.do = func(args ...string) string {
		w.t.Helper()
		out, err := h.try(args...)
		if err != nil {
			w.t.Fatalf("%q on %s: %v: %s", args, name, err, out)
		}
		return out
	}
	w.hosts[name] = h
	return h
}

func (h *fleetHost) state() string { return filepath.Join(h.dir, "state") }
func (h *fleetHost) file() string  { return filepath.Join(h.dir, "c.toml") }

// command returns a command on the host's machine.
func (h *fleetHost) command(args ...string) *exec.Cmd {
	at := 1
	if args[0] == "fleet" {
		at = 2
	}
	args = slices.Concat(args[:at], []string{"-c", h.file()}, args[at:])
	cmd := exec.Command("termhost", args...)
	cmd.Env = h.env
	return cmd
}

// try runs a command on the host's machine, which may fail.
func (h *fleetHost) try(args ...string) (string, error) {
	out, err := h.command(args...).CombinedOutput()
	return string(out), err
}

// start runs the host, with program or, without one, this one.
func (h *fleetHost) start(program ...string) *fleetHost {
	h.w.t.Helper()
	var err error
	h.serve, err = bench.StartHost(append(program, "termhost")[0], h.file(), h.env, h.log)
	if err != nil {
		text, _ := os.ReadFile(h.log.Name()) // for people
		h.w.t.Fatalf("%s: %v: %s", h.name, err, text)
	}
	h.w.t.Cleanup(h.serve.Kill)
	return h
}

// signal sends the host's process a signal; it goes on.
func (h *fleetHost) signal(sig os.Signal) {
	h.w.t.Helper()
	hosttest.Check(h.w.t, h.serve.Cmd.Process.Signal(sig))
}

// freeze stops the host until the function is called that it returns, or the test ends.
func (h *fleetHost) freeze() (thaw func()) {
	h.signal(syscall.SIGSTOP)
	thaw = sync.OnceFunc(func() { h.signal(syscall.SIGCONT) })
	h.w.t.Cleanup(thaw)
	return thaw
}

// join makes a host a member that reaches the fleet's server at via, and starts it. flags are those
// of `fleet token`.
func (w *fleetWorld) join(name, via, more string, flags ...string) *fleetHost {
	w.t.Helper()
	h := w.host(name, more)
	h.joins(w.token(flags...), "tls://"+via)
	return h.start()
}

// token returns what a host joins with.
func (w *fleetWorld) token(flags ...string) string {
	w.t.Helper()
	line := w.hosts["home"].do(append([]string{"fleet", "token"}, flags...)...)
	return regexp.MustCompile(`fleet join \S+ (\S+)`).FindStringSubmatch(line)[1]
}

// joins has the host join a fleet whose server is at a URL.
func (h *fleetHost) joins(token, url string) {
	h.w.t.Helper()
	h.do("fleet", "join", "--name", h.name, url, token)
}

// together waits until every host that runs sees every other one.
func (w *fleetWorld) together() {
	w.t.Helper()
	for _, h := range w.hosts {
		hosttest.Eventually(w.t, h.name+" sees the others", func() bool {
			out, err := h.try("hosts")
			return err == nil && strings.Count(out, "reachable ") == len(w.hosts)-1 &&
				!strings.Contains(out, "unreachable")
		})
	}
}

// audit returns a host's audit log.
func (h *fleetHost) audit() string { return fileText(h.w.t, filepath.Join(h.state(), "audit.log")) }

// logged returns what the host has logged.
func (h *fleetHost) logged() string { return fileText(h.w.t, h.log.Name()) }

// as logs in to a host.
func (h *fleetHost) as(person string) *gossh.Client {
	h.w.t.Helper()
	c, err := h.dial(person)
	hosttest.Check(h.w.t, err)
	h.w.t.Cleanup(func() { c.Close() })
	return c
}

// dial is as, for a person who may be refused.
func (h *fleetHost) dial(person string) (*gossh.Client, error) {
	name, port := h.serve.SSHAddress()
	return gossh.Dial("tcp", name+":"+port, &gossh.ClientConfig{User: "me",
		Auth:            []gossh.AuthMethod{gossh.PublicKeys(h.w.signers[person])},
		HostKeyCallback: gossh.InsecureIgnoreHostKey()}) // the host is the test's own
}

// ask runs a command there as a person, and returns what it prints, errors included.
func (h *fleetHost) ask(person, line string) (string, error) {
	h.w.t.Helper()
	c := h.as(person)
	defer c.Close()
	s, err := c.NewSession()
	hosttest.Check(h.w.t, err)
	out, err := s.CombinedOutput(line)
	return string(out), err
}

// run is ask for what must succeed.
func (h *fleetHost) run(person, line string) string {
	h.w.t.Helper()
	out, err := h.ask(person, line)
	if err != nil {
		h.w.t.Fatalf("%s: %v: %s", line, err, out)
	}
	return out
}

// onlooker is somebody at a terminal of 80 x 24 that is a terminal of this program.
type onlooker struct {
	t    testing.TB
	s    *gossh.Session
	in   io.Writer
	done chan struct{} // closed when the session has ended
	end  error         // how; set before done is closed

	mu     sync.Mutex // a leaf
	screen *vt.Screen
}

// look runs a command there as a person at a terminal.
func (h *fleetHost) look(person, line string) *onlooker {
	h.w.t.Helper()
	s, err := h.as(person).NewSession()
	hosttest.Check(h.w.t, err)
	o := &onlooker{t: h.w.t, s: s, done: make(chan struct{}), screen: vt.New(80, 24, vt.Options{})}
	hosttest.Check(h.w.t, s.RequestPty("xterm-256color", 24, 80, nil))
	o.in, err = s.StdinPipe()
	hosttest.Check(h.w.t, err)
	s.Stdout, s.Stderr = o, o
	hosttest.Check(h.w.t, s.Start(line))
	go func() {
		defer close(o.done)
		o.end = s.Wait()
	}()
	return o
}

// Write shows what has come.
func (o *onlooker) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.screen.Feed(p, &vtAnswers{})
	return len(p), nil
}

// shows returns the text on the screen, without blank rows at its end.
func (o *onlooker) shows() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.TrimRight(string(o.screen.AppendText(nil, false)), "\n")
}

// mirrors waits until the screen shows what the host has of one of its terminals.
func (o *onlooker) mirrors(h *fleetHost, name string) {
	o.t.Helper()
	want := ""
	for late := time.Now().Add(slowtest.PatienceOf(o.t)); ; time.Sleep(50 * time.Millisecond) {
		want = strings.TrimRight(h.do("peek", name), "\n")
		if shown := o.shows(); shown == want {
			return
		} else if time.Now().After(late) {
			o.t.Fatalf("it never shows\n%s\nbut\n%s", want, shown)
		}
	}
}

// sees waits until a text is on the screen.
func (o *onlooker) sees(text string) {
	o.t.Helper()
	for late := time.Now().Add(slowtest.PatienceOf(o.t)); !strings.Contains(o.shows(), text); {
		if time.Now().After(late) {
			o.t.Fatalf("%q is never on the screen, which shows\n%s", text, o.shows())
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// types types keys.
func (o *onlooker) types(text string) {
	o.t.Helper()
	_, err := o.in.Write([]byte(text))
	hosttest.Check(o.t, err)
}

// ended waits until the session has ended.
func (o *onlooker) ended() {
	o.t.Helper()
	hosttest.Eventually(o.t, "the session ends", func() bool {
		select {
		case <-o.done:
			return true
		default:
			return false
		}
	})
}
