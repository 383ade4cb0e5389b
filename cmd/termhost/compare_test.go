package main

import (
	"bytes"
	"crypto/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/crypto/ssh"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/cmd/termhost/bench"
)

// The benchmarks of this file compare termhost with what else is installed, one after the other
// with the same client on the same machine, by the parts of `termhost bench`. Machines differ, and
// change over time, so that only the ratios within one run mean something.

// rivals starts termhost, and sshd and others where they are installed.
func rivals(b *testing.B) []*bench.Rival {
	rs, err := bench.StartRivals("termhost", b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(rs.Close)
	return rs.List
}

// BenchmarkEcho measures the time from a key to its echo: p50 and p99 in microseconds.
func BenchmarkEcho(b *testing.B) {
	for _, r := range rivals(b) {
		b.Run(r.Name, func(b *testing.B) {
			s, err := r.OpenEcho()
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			var times []time.Duration
			for i := 0; b.Loop(); i++ {
				took, err := s.Echo(i)
				if err != nil {
					b.Fatal(err)
				}
				times = append(times, took)
			}
			b.ReportMetric(float64(bench.Percentile(times, 50).Nanoseconds())/1e3, "p50-us")
			b.ReportMetric(float64(bench.Percentile(times, 99).Nanoseconds())/1e3, "p99-us")
		})
	}
}

// reportCPU reports the server's CPU seconds for 200 MB, of which size bytes were moved b.N times.
func reportCPU(b *testing.B, seconds float64, size int) {
	b.ReportMetric(seconds*200/(float64(size>>20)*float64(b.N)), "cpu-s/200MB")
}

// BenchmarkFlood prints a file of coloured lines to one viewer. It measures MB/s of the file, and
// the server's CPU seconds for 200 MB.
func BenchmarkFlood(b *testing.B) {
	size := slowtest.Amount(50<<20, 1<<20)
	file, err := bench.FloodFile(b.TempDir(), size)
	if err != nil {
		b.Fatal(err)
	}
	for _, r := range rivals(b) {
		b.Run(r.Name, func(b *testing.B) {
			var used float64
			var took time.Duration
			for b.Loop() {
				t, cpu, err := r.Flood(file)
				if err != nil {
					b.Fatal(err)
				}
				took += t
				used += cpu
			}
			b.ReportMetric(float64(size)/1e6*float64(b.N)/took.Seconds(), "MB/s")
			reportCPU(b, used, size)
		})
	}
}

// BenchmarkPipes sends data out of `cat` and into it, without a pty: MB/s, and the server's CPU
// seconds for 200 MB.
func BenchmarkPipes(b *testing.B) {
	size := slowtest.Amount(100<<20, 1<<20)
	noise := make([]byte, size)
	_, _ = rand.Read(noise)
	text := bytes.Repeat([]byte("the quick brown fox jumps over the lazy dog\n"), size/44)
	for _, r := range rivals(b) {
		if r.Piped == nil {
			continue
		}
		for name, data := range map[string][]byte{"noise": noise, "text": text} {
			file := filepath.Join(b.TempDir(), name)
			if err := os.WriteFile(file, data, 0o600); err != nil {
				b.Fatal(err)
			}
			b.Run(r.Name+"/out/"+name, func(b *testing.B) {
				pipe(b, r, "cat "+file, nil, len(data), len(data))
			})
			b.Run(r.Name+"/in/"+name, func(b *testing.B) {
				pipe(b, r, "cat >/dev/null", data, len(data), 0)
			})
		}
	}
}

// pipe runs line on pipes, with size bytes in or out, of which want come out.
func pipe(b *testing.B, r *bench.Rival, line string, stdin []byte, size, want int) {
	c, err := r.Dial()
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	b.SetBytes(int64(size))
	before := r.CPU()
	for b.Loop() {
		var got counter
		err := runPiped(c, r.Piped(line), stdin, &got)
		if err != nil || int(got) != want {
			b.Fatalf("%d of %d bytes: %v", got, want, err)
		}
	}
	reportCPU(b, r.CPU()-before, size)
}

func runPiped(c *ssh.Client, command string, stdin []byte, out *counter) error {
	s, err := c.NewSession()
	if err != nil {
		return err
	}
	defer s.Close()
	s.Stdin, s.Stdout = bytes.NewReader(stdin), out
	return s.Run(command)
}

// counter counts what is written to it.
type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// BenchmarkAttach measures the time from dialling to the first output of a program.
func BenchmarkAttach(b *testing.B) {
	for _, r := range rivals(b) {
		b.Run(r.Name, func(b *testing.B) {
			for b.Loop() {
				if _, err := r.Create(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// processesWith returns the command lines of processes that have a text in it.
func processesWith(text string) (found []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is good
	for _, file := range files {
		if line, err := os.ReadFile(file); err == nil && bytes.Contains(line, []byte(text)) {
			found = append(found, string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
		}
	}
	return found
}

// TestRivalsLeaveNothingBehind: the servers of tmux and dtach outlive their connections.
func TestRivalsLeaveNothingBehind(t *testing.T) {
	dir := t.TempDir()
	rs, err := bench.StartRivals("termhost", dir)
	if err != nil {
		t.Fatal(err)
	}
	defer rs.Close()
	for _, missing := range rs.Missing {
		t.Log("without", missing)
	}
	opened := 0
	for _, r := range rs.List {
		s, err := r.OpenEcho()
		switch {
		case err == nil:
			opened++
			s.Close()
		case os.Getuid() != 0 && strings.Contains(r.Name, "sshd"):
			// Where ptys are not in the group tty, an ordinary user's sshd may not open one.
			t.Logf("without %s: %v", r.Name, err)
		default:
			t.Fatalf("%s: %v", r.Name, err)
		}
	}
	if found := processesWith(dir); opened == 0 || len(found) < opened {
		t.Errorf("what runs is not seen: %q", found)
	}
	rs.Close()
	hosttest.Eventually(t, "all of them end", func() bool { return len(processesWith(dir)) == 0 })
}

// TestBench has the program compare itself with what is installed, for a moment.
func TestBench(t *testing.T) {
	slow(t)
	for _, name := range []string{"sshd", "tmux", "dtach"} {
		if path, _ := exec.LookPath(name); path == "" {
			t.Log(name, "is not compared")
		}
	}
	plots := t.TempDir()
	cmd := exec.Command("termhost", "bench", "--quick", "--only", "echo,drawn,login,fan-out-1,fleet",
		"--markdown", "--svg", plots)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	hosttest.Check(t, cmd.Run())
	for _, want := range []string{"| of a new program, ms ↓ | ", "| p50, µs ↓ | ", "CPUs",
		"| | through a door | directly |", "| a flood: speed, MB/s ↑ | "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in the table:\n%s", want, out.Bytes())
		}
	}
	for _, bad := range []string{"left out", "NaN", "Inf"} {
		if strings.Contains(out.String(), bad) {
			t.Errorf("%s in the table:\n%s", bad, out.Bytes())
		}
	}
	if !strings.HasPrefix(errs.String(), "1/5 echo\n2/5 drawn\n3/5 login\n4/5 fan-out-1\n5/5 fleet\n") {
		t.Errorf("progress: %s", errs.Bytes())
	}
	if files, _ := filepath.Glob(filepath.Join(plots, "*.svg")); len(files) != 5 {
		t.Errorf("plots: %q", files)
	}
}

// TestABenchmarkThatIsInterruptedLeavesNothingBehind: Ctrl-C, which all processes of the foreground
// get, ends it in the middle of a measurement.
func TestABenchmarkThatIsInterruptedLeavesNothingBehind(t *testing.T) {
	slow(t)
	dir := hosttest.Dir(t)
	screen, tty, err := pty.Open()
	hosttest.Check(t, err)
	defer screen.Close()
	cmd := exec.Command("termhost", "bench", "--quick", "--only", "fan-out-10")
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	cmd.Stderr, cmd.SysProcAttr = tty, &syscall.SysProcAttr{Setpgid: true}
	hosttest.Check(t, cmd.Start())
	tty.Close()
	var shown []byte
	interrupted := false
	for buf := make([]byte, 4096); ; {
		n, err := screen.Read(buf)
		shown = append(shown, buf[:n]...)
		if !interrupted && bytes.Contains(shown, []byte("round 1 of 3, ")) {
			interrupted = true
			hosttest.Check(t, syscall.Kill(-cmd.Process.Pid, syscall.SIGINT))
		}
		if err != nil {
			break // EIO: nobody has the terminal open any more
		}
	}
	if err := cmd.Wait(); err == nil || !interrupted {
		t.Errorf("it ends with %v", err)
	}
	if text := "interrupted; what was started has ended"; !bytes.Contains(shown, []byte(text)) {
		t.Errorf("it does not say so: %q", shown)
	}
	if left := processesWith(dir); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("files are left behind: %v", left)
	}
}
