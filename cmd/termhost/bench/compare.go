package bench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"
)

// effort is how much is measured of each server.
type effort struct {
	echoes    int // keys
	flood     int // bytes of a file
	creations int
	idle      int // sessions
}

var (
	thorough = effort{echoes: 3000, flood: 50 << 20, creations: 20, idle: 20}
	quick    = effort{echoes: 300, flood: 8 << 20, creations: 5, idle: 5}
)

// result is what was measured of one server.
type result struct {
	p50, p99 time.Duration
	flood    float64 // MB/s
	cpu      float64 // seconds for 200 MB
	create   time.Duration
	memory   int // KiB for an idle session
}

// Compare measures program and what else is installed, and prints a table.
func Compare(ctx context.Context, program string, isQuick bool, out io.Writer) error {
	dir, err := os.MkdirTemp("", "termhost-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	rs, err := StartRivals(program, dir)
	if err != nil {
		return err
	}
	defer rs.Close()
	how := thorough
	if isQuick {
		how = quick
	}
	file, err := FloodFile(dir, how.flood)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "One client in Go for all, on this machine, one after the other: only the "+
		"ratios of one run mean something.")
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\techo p50\tp99\tflood\tCPU for 200 MB\t"+
		"log in to first output\tidle session\t")
	for _, r := range rs.List {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		got, err := r.measure(how, file)
		if err != nil {
			return fmt.Errorf("%s: %w", r.Name, err)
		}
		fmt.Fprintf(w, "%s\t%d µs\t%d µs\t%.0f MB/s\t%.1f s\t%.1f ms\t%d KiB\t\n", r.Name,
			got.p50.Microseconds(), got.p99.Microseconds(), got.flood, got.cpu,
			got.create.Seconds()*1e3, got.memory)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if len(rs.Missing) > 0 {
		fmt.Fprintf(out, "not installed: %s\n", strings.Join(rs.Missing, ", "))
	}
	return nil
}

// FloodFile makes a file of coloured lines, 97 characters each, as a build prints them.
func FloodFile(dir string, size int) (string, error) {
	line := []byte("\x1b[32m" + strings.Repeat("the quick brown fox ", 4) + "abcdefg\x1b[0m\n")
	file := filepath.Join(dir, "flood")
	return file, os.WriteFile(file, bytes.Repeat(line, size/len(line)), 0o600)
}

func (r *Rival) measure(how effort, file string) (got result, err error) {
	if got.p50, got.p99, err = r.echo(how.echoes); err != nil {
		return got, err
	}
	if got.flood, got.cpu, err = r.flood(file); err != nil {
		return got, err
	}
	var times []time.Duration
	for range how.creations {
		took, err := r.Create()
		if err != nil {
			return got, err
		}
		times = append(times, took)
	}
	got.create = Percentile(times, 50)
	got.memory, err = r.idle(how.idle)
	return got, err
}

// OpenEcho returns a session for [Session.Echo].
func (r *Rival) OpenEcho() (*Session, error) { return r.openReady(echoProgram) }

// openReady runs a line that prints ready, and waits for that.
func (r *Rival) openReady(line string) (*Session, error) {
	s, err := r.Open(line)
	if err != nil {
		return nil, err
	}
	if err := within(s, func() error { return await(s.Out, ready) }); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (r *Rival) echo(n int) (p50, p99 time.Duration, err error) {
	s, err := r.OpenEcho()
	if err != nil {
		return 0, 0, err
	}
	defer s.Close()
	times := make([]time.Duration, 0, n)
	err = within(s, func() error {
		for i := range n {
			took, err := s.Echo(i)
			if err != nil {
				return err
			}
			times = append(times, took)
		}
		return nil
	})
	return Percentile(times, 50), Percentile(times, 99), err
}

// flood prints a file to one viewer. It returns MB/s, and seconds of the server's CPU for 200 MB.
func (r *Rival) flood(file string) (speed, cpu float64, err error) {
	st, err := os.Stat(file)
	if err != nil {
		return 0, 0, err
	}
	took, cpu, err := r.Flood(file)
	mb := float64(st.Size()) / 1e6
	return mb / took.Seconds(), cpu * 200 / mb, err
}

// Flood prints a file to one viewer. It returns how long that took, and the seconds of the server's
// CPU.
func (r *Rival) Flood(file string) (took time.Duration, cpu float64, err error) {
	// A program that lives on for a moment keeps the processes of its session, whose time counts.
	s, err := r.openReady(sayReady + "read x; cat " + file + `; printf "the-%s" end; sleep 0.3`)
	if err != nil {
		return 0, 0, err
	}
	defer s.Close()
	before := r.CPU()
	err = within(s, func() error {
		start := time.Now()
		if _, err := s.In.Write([]byte{'\r'}); err != nil {
			return err
		}
		if err := await(s.Out, "the-end"); err != nil {
			return err
		}
		took = time.Since(start)
		cpu = r.CPU() - before
		return nil
	})
	return took, cpu, err
}

// Create logs in and runs a program; it returns how long it took until the first output.
func (r *Rival) Create() (time.Duration, error) {
	start := time.Now()
	s, err := r.openReady(sayReady)
	if err != nil {
		return 0, err
	}
	took := time.Since(start)
	s.Close()
	return took, nil
}

// idle returns how much memory the server takes for an idle session, in KiB.
func (r *Rival) idle(n int) (kib int, err error) {
	before := r.memory()
	for range n {
		s, err := r.openReady(sayReady + "exec sleep 1000")
		if err != nil {
			return 0, err
		}
		defer s.Close()
	}
	return max(0, r.memory()-before) / n, nil
}
