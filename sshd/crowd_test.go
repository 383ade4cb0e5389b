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

func TestManyIdleViewersCostLittleAndLeaveNothing(t *testing.T) {
	const count = 300
	r := newRig(t, rigOptions{})
	r.ssh("alice", "", "new -d -n work -- echo ready; sleep 1000")
	goroutines, memory := runtime.NumGoroutine(), held()
	leave := r.crowd("alice", count, "attach work")
	hosttest.Eventually(t, "all are seated", func() bool { return r.host.Stats().Connections["ssh"] == count })
	perConn, bytesPer := float64(runtime.NumGoroutine()-goroutines)/count, (held()-memory)/count
	t.Logf("%.2f goroutines and %d bytes per idle viewer", perConn, bytesPer)
	if perConn > 8.05 {
		t.Errorf("%.2f goroutines per idle viewer, want at most 8", perConn)
	}
	if bytesPer > 150_000 {
		t.Errorf("%d bytes per idle viewer, want about 100 KB", bytesPer)
	}
	leave()
	hosttest.Eventually(t, "all goroutines end", func() bool { return runtime.NumGoroutine() <= goroutines })
	if after := held(); after > memory+4<<20 {
		t.Errorf("memory went from %d to %d", memory, after)
	}
}
