package sshd

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"

	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/authz"
)

// A crowd is many clients in a process of their own, so that what they hold is not counted as the
// server's. The test binary is that process.

// crowdVariable makes the test binary a crowd: "ADDR KEYFILE COUNT COMMAND".
const crowdVariable = "TERMHOST_TEST_CROWD"

func crowdMain(args string) {
	if err := beCrowd(strings.SplitN(args, " ", 4)); err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
}

func beCrowd(args []string) error {
	pem, err := os.ReadFile(args[1])
	if err != nil {
		return err
	}
	key, err := gossh.ParsePrivateKey(pem)
	if err != nil {
		return err
	}
	count, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	cfg := &gossh.ClientConfig{User: "me", Auth: []gossh.AuthMethod{gossh.PublicKeys(key)},
		HostKeyCallback: gossh.InsecureIgnoreHostKey()} // the server is the test's own
	for range count {
		c, err := gossh.Dial("tcp", args[0], cfg)
		if err != nil {
			return err
		}
		s, err := c.NewSession()
		if err != nil {
			return err
		}
		out, err := s.StdoutPipe()
		if err != nil {
			return err
		}
		if args[3] == "mcp" {
			if err := beMCPClient(s, out); err != nil {
				return err
			}
			go io.Copy(io.Discard, out)
			continue
		}
		if err := s.RequestPty("xterm", 24, 80, nil); err != nil {
			return err
		}
		if err := s.Start(args[3]); err != nil {
			return err
		}
		if _, err := out.Read(make([]byte, 1)); err != nil {
			return err
		}
		go io.Copy(io.Discard, out)
	}
	fmt.Println("ready")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// crowd starts count clients that run command; leave ends them.
func (r *rig) crowd(key string, count int, command string) (leave func()) {
	r.t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(),
		fmt.Sprintf("%s=%s %s %d %s", crowdVariable, r.addr, r.path(key), count, command))
	in, err := cmd.StdinPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	if err := hosttest.Start(cmd); err != nil {
		r.t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "ready\n" {
		in.Close()
		_ = cmd.Wait()
		r.t.Fatalf("the crowd: %q, %v", line, err)
	}
	return func() {
		in.Close()
		_ = cmd.Wait()
	}
}

// held returns what the process holds in memory, in bytes: heap and stacks.
func held() int {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc + m.StackInuse)
}

// seats waits until there are count connections.
func (r *rig) seats(count int) {
	r.t.Helper()
	hosttest.Eventually(r.t, "all viewers are there", func() bool {
		return r.host.Stats().Connections["ssh"] == count
	})
}

// Of viewers that have left the host remembers nothing.
func TestViewersThatHaveLeftAreForgotten(t *testing.T) {
	const count = 30
	r := newRig(t, rigOptions{})
	r.ssh("alice", "", "new -d -n work -- echo ready; sleep 1000")
	leave := r.crowd("alice", count, "attach work")
	r.seats(count)
	term, err := hosttest.Find(r.host, authz.ForUID(0), "work")
	hosttest.Check(t, err)
	hosttest.Eventually(t, "all are viewers", func() bool {
		return term.Info(authz.ForUID(0)).Viewers == count
	})
	leave()
	r.empties()
	hosttest.Eventually(t, "nobody is a viewer", func() bool {
		return term.Info(authz.ForUID(0)).Viewers == 0
	})
}

// What an idle viewer costs the server is the difference between many of them and twice as many.
func TestMeasuresIdleViewers(t *testing.T) {
	slowtest.Measures(t)
	const count = 300
	r := newRig(t, rigOptions{door: func(c *Config) { c.MaxConnections = 10 * count }})
	r.ssh("alice", "", "new -d -n work -- echo ready; sleep 1000")
	before := runtime.NumGoroutine()
	leave := r.crowd("alice", count, "attach work")
	r.seats(count)
	goroutines, memory := runtime.NumGoroutine(), held()
	leaveToo := r.crowd("alice", count, "attach work")
	r.seats(2 * count)
	perViewer := float64(runtime.NumGoroutine()-goroutines) / count
	bytesPer := (held() - memory) / count
	t.Logf("%.2f goroutines and %d bytes per idle viewer", perViewer, bytesPer)
	if perViewer > 8.05 {
		t.Errorf("%.2f goroutines per idle viewer, want at most 8", perViewer)
	}
	if bytesPer > 150_000 {
		t.Errorf("%d bytes per idle viewer, want about 100 KB", bytesPer)
	}
	leaveToo()
	leave()
	hosttest.Eventually(t, "all goroutines end",
		func() bool { return runtime.NumGoroutine() <= before })
	if after := held(); after > memory {
		t.Errorf("%d bytes are held when all have left, and %d with %d viewers", after, memory, count)
	}
}
