package sshd

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/hosttest/slowtest"
)

// benchSession opens an SSH session with a pty and returns its streams.
func (r *rig) benchSession(b *testing.B, c *gossh.Client, command string) (
	in io.Writer, out io.Reader, s *gossh.Session) {
	b.Helper()
	s, err := c.NewSession()
	if err != nil {
		b.Fatal(err)
	}
	if err := s.RequestPty("xterm", 24, 80, nil); err != nil {
		b.Fatal(err)
	}
	if in, err = s.StdinPipe(); err != nil {
		b.Fatal(err)
	}
	if out, err = s.StdoutPipe(); err != nil {
		b.Fatal(err)
	}
	if err := s.Start(command); err != nil {
		b.Fatal(err)
	}
	return in, out, s
}

// readTo reads until text has passed and returns how many bytes came.
func readTo(b *testing.B, out io.Reader, text string) (n int) {
	b.Helper()
	buf := make([]byte, 64<<10)
	tail := []byte{}
	for {
		m, err := out.Read(buf)
		n += m
		tail = append(tail, buf[:m]...)
		if bytes.Contains(tail, []byte(text)) {
			return n
		}
		if err != nil {
			b.Fatalf("%v after %d bytes, before %q", err, n, text)
		}
		tail = tail[max(0, len(tail)-len(text)):]
	}
}

// BenchmarkEcho is the time from a key to its echo, through the pty.
func BenchmarkEcho(b *testing.B) {
	r := newRig(b, rigOptions{})
	in, out, s := r.benchSession(b, r.dial("alice"), "new -- stty raw -echo; echo ready; cat")
	defer s.Close()
	readTo(b, out, "ready")
	buf := make([]byte, 64)
	took := make([]time.Duration, 0, b.N)
	for b.Loop() {
		begun := time.Now()
		if _, err := in.Write([]byte("k")); err != nil {
			b.Fatal(err)
		}
		for {
			n, err := out.Read(buf)
			if err != nil {
				b.Fatal(err)
			}
			if bytes.IndexByte(buf[:n], 'k') >= 0 {
				break
			}
		}
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}

// floodFile writes coloured lines of 97 bytes, about size bytes in all.
func floodFile(b *testing.B, r *rig, size int) string {
	b.Helper()
	line := "\x1b[32m" + strings.Repeat("termhost ", 9) + "\x1b[0m done\n"
	name := r.path("flood.txt")
	if err := os.WriteFile(name, bytes.Repeat([]byte(line), size/len(line)), 0o600); err != nil {
		b.Fatal(err)
	}
	return name
}

// BenchmarkFlood is cat of a large file in a terminal with one viewer, up to the next command's
// output.
func BenchmarkFlood(b *testing.B) {
	const size = 64 << 20
	r := newRig(b, rigOptions{})
	name := floodFile(b, r, size)
	in, out, s := r.benchSession(b, r.dial("alice"), "new")
	defer s.Close()
	b.SetBytes(size)
	shown, n := 0, 0
	for b.Loop() {
		n++
		fmt.Fprintf(in, "cat %s; echo over-$((%d+0))-\r", name, n)
		shown += readTo(b, out, fmt.Sprintf("over-%d-", n))
	}
	b.ReportMetric(float64(shown)/float64(n)/size, "shown/byte")
}

// BenchmarkAttach is from the dial to the terminal's content on the viewer.
func BenchmarkAttach(b *testing.B) {
	for _, history := range []int{0, 1 << 20} {
		b.Run(fmt.Sprintf("history=%d", history), func(b *testing.B) {
			r := newRig(b, rigOptions{})
			r.ssh("alice", "", fmt.Sprintf("new -d -n work -- head -c %d /dev/zero |"+
				" tr '\\0' 'x' | fold -w 79; echo at-the-end; sleep 1000", history))
			r.shows("work", "at-the-end")
			for b.Loop() {
				c, err := r.tryDial("alice")
				if err != nil {
					b.Fatal(err)
				}
				_, out, _ := r.benchSession(b, c, "attach work")
				readTo(b, out, "at-the-end")
				c.Close()
			}
		})
	}
}

// BenchmarkIdleViewers is what an idle viewer holds on the server's side.
func BenchmarkIdleViewers(b *testing.B) {
	count := slowtest.Amount(200, 20)
	r := newRig(b, rigOptions{})
	r.ssh("alice", "", "new -d -n work -- echo ready; sleep 1000")
	for b.Loop() {
		before := held()
		leave := r.crowd("alice", count, "attach work")
		b.ReportMetric(float64(held()-before)/float64(count), "B/viewer")
		leave()
		r.empties()
	}
}
