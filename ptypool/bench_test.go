package ptypool

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// floodBytes is the size of the flood's file: long enough that starting cat does not count.
const floodBytes = 64 << 20

// floodFile writes 97-byte lines with SGR colour.
func floodFile(b *testing.B) string {
	b.Helper()
	var text bytes.Buffer
	for i := 0; text.Len() < floodBytes; i++ {
		line := fmt.Sprintf("\x1b[3%dm%08d\x1b[0m the quick brown fox jumps over the lazy dog "+
			"and \x1b[1mruns\x1b[0m away", i%8, i)
		fmt.Fprintf(&text, "%-96.96s\n", line)
	}
	path := filepath.Join(b.TempDir(), "flood")
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
	return path
}

// cpu returns the processor time that this process, without its children, has used.
func cpu() time.Duration {
	var ru syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &ru)
	return time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
}

// BenchmarkFlood compares cat of a large file through a bare pty, read to its end in 64 KiB reads,
// with the same through a Term whose handler discards everything.
func BenchmarkFlood(b *testing.B) {
	path := floodFile(b)
	b.Run("raw", func(b *testing.B) {
		buf := make([]byte, readSize)
		flood(b, func() {
			master, tty, err := pty.Open()
			if err != nil {
				b.Fatal(err)
			}
			proc, err := os.StartProcess("/bin/cat", []string{"cat", path}, &os.ProcAttr{
				Files: []*os.File{tty, tty, tty},
				Sys:   &syscall.SysProcAttr{Setsid: true, Setctty: true},
			})
			if err != nil {
				b.Fatal(err)
			}
			tty.Close()
			for err == nil {
				_, err = master.Read(buf)
			}
			if _, err := proc.Wait(); err != nil {
				b.Fatal(err)
			}
			master.Close()
		})
	})
	b.Run("term", func(b *testing.B) {
		p := New(Config{})
		flood(b, func() {
			spec := Spec{Argv: []string{"/bin/cat", path}, Cols: 120, Rows: 40}
			term, err := p.Start(spec, quiet{})
			if err != nil {
				b.Fatal(err)
			}
			<-term.Done()
		})
	})
}

// flood runs one flood per iteration and reports the processor time that this process needed for
// it.
func flood(b *testing.B, once func()) {
	b.SetBytes(floodBytes)
	began := cpu()
	for b.Loop() {
		once()
	}
	b.ReportMetric((cpu()-began).Seconds()*1e3*1e6/float64(b.N)/floodBytes, "cpu-ms/MB")
}
