package host_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"termhost/ahp/history"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/authz"
	"termhost/ptypool/termlog"
)

// search returns the lines that a search finds, "-" before those of context.
func search(t testing.TB, h *host.Host, term *host.Terminal, expr string, s history.Search) (lines []string) {
	t.Helper()
	var err error
	if s.Pattern, err = history.NewPattern(expr, false); err != nil {
		t.Fatal(err)
	}
	err = hosttest.Conn(t, h, carol).History(workOf(t, h, carol), host.Source{Terminal: term}).Search(workOf(t, h, carol), s, func(l *history.Line) bool {
		line := string(l.Text)
		if !l.Matches {
			line = "-" + line
		}
		if l.Time.Before(term.Info(alice).CreatedAt) || l.Time.After(time.Now()) {
			t.Errorf("%q at %v", line, l.Time)
		}
		lines = append(lines, line)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func TestASearchLooksAtBlocksOfTextAsAtOne(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, func(c *host.Config) { c.LogBytes = 8 << 20 })
	term := run(t, h, carol, "x", "seq 200000")
	wait(t, "the exit", term.Done())
	got := search(t, h, term, "0000$", history.Search{Context: 1})
	var want []string
	for n := 10000; n <= 200000; n += 10000 {
		want = append(want, fmt.Sprint("-", n-1), fmt.Sprint(n), fmt.Sprint("-", n+1))
	}
	if want = want[:len(want)-1]; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("found %q", got)
	}
}

func TestASearchIsTheSameAfterARestartAndWithoutALog(t *testing.T) {
	t.Parallel()
	for _, persist := range []bool{true, false} {
		h := hosttest.New(t, func(c *host.Config) { c.Persist = persist })
		term := run(t, h, carol, "x", "printf 'one needle\\ntwo\\n'; printf 'no end needle'")
		wait(t, "the exit", term.Done())
		hosts := []*host.Host{h}
		if persist {
			hosts = append(hosts, after(t, killed(t, h)))
		}
		for _, h := range hosts {
			got := search(t, h, find(t, h, "x"), "needle", history.Search{})
			if fmt.Sprint(got) != "[one needle no end needle]" {
				t.Errorf("persist %v: %q", persist, got)
			}
		}
	}
}

func TestASearchIsCutShort(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t)
	term := run(t, h, carol, "x", "seq 100000")
	wait(t, "the exit", term.Done())
	pattern, _ := history.NewPattern("1", false)
	ctx, cancel := context.WithCancelCause(t.Context())
	enough, n := errors.New("enough"), 0
	c := hosttest.Conn(t, h, carol)
	err := c.History(c.Work(ctx), host.Source{Terminal: term}).Search(c.Work(ctx), history.Search{Pattern: pattern}, func(*history.Line) bool {
		if n++; n == 5 {
			cancel(enough)
		}
		return true
	})
	if !errors.Is(err, enough) || n > 5 {
		t.Errorf("%v after %d lines", err, n)
	}
	n = 0
	err = hosttest.Conn(t, h, carol).History(workOf(t, h, carol), host.Source{Terminal: term}).Search(workOf(t, h, carol), history.Search{Pattern: pattern}, func(*history.Line) bool {
		n++
		return n < 3
	})
	if err != nil || n != 3 {
		t.Errorf("%v after %d lines", err, n)
	}
	guest := authz.Principal{ID: "g", Name: "g", Role: authz.Observer, Guest: "g"}
	err = hosttest.Conn(t, h, guest).History(workOf(t, h, guest), host.Source{Terminal: term}).Search(workOf(t, h, guest), history.Search{Pattern: pattern}, nil)
	var denied *authz.Denied
	if !errors.As(err, &denied) {
		t.Errorf("a guest of others: %v", err)
	}
}

// BenchmarkSearchOf500 searches the logs of 500 terminals, 1 MiB each, that an earlier host left.
// The goal is 2 s of processor time.
func BenchmarkSearchOf500(b *testing.B) {
	dir := manyKilled(b, 500)
	folders, err := filepath.Glob(filepath.Join(dir, "terms", "*"))
	if err != nil {
		b.Fatal(err)
	}
	total := 0
	for n, folder := range folders {
		segments, _ := filepath.Glob(filepath.Join(folder, "log.*"))
		for _, s := range segments {
			if err := os.Remove(s); err != nil {
				b.Fatal(err)
			}
		}
		total += fillLog(b, folder, n)
	}
	h := after(b, dir, func(c *host.Config) { c.MaxExited = 1000 })
	searcher := hosttest.Conn(b, h, carol)
	list, err := searcher.Terminals()
	if err != nil || len(list) != 500 {
		b.Fatal(len(list), err)
	}
	for name, c := range map[string]struct {
		expr string
		fold bool
	}{"literal": {"needle", false}, "expression": {`need\w+ in [0-9]+`, false},
		"ignoring case": {"NEEDLE", true}} {
		b.Run(name, func(b *testing.B) {
			pattern, err := history.NewPattern(c.expr, c.fold)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(total))
			used := processorTime()
			for b.Loop() {
				found := 0
				for _, t := range list {
					if err := searcher.History(searcher.Work(b.Context()), host.Source{Terminal: t}).Search(searcher.Work(b.Context()), history.Search{Pattern: pattern},
						func(*history.Line) bool { found++; return true }); err != nil {
						b.Fatal(err)
					}
				}
				if found != 500 {
					b.Fatalf("found %d lines", found)
				}
			}
			b.ReportMetric((processorTime()-used).Seconds()/float64(b.N), "cpu-s/op")
		})
	}
}

// fillLog writes 1 MiB of a build's output, in pieces as programs print it, and one line to find.
func fillLog(b *testing.B, dir string, n int) (size int) {
	log, err := termlog.Create(dir, 4<<20)
	if err != nil {
		b.Fatal(err)
	}
	defer log.Close()
	for at := time.Now(); size < 1<<20; at = at.Add(time.Millisecond) {
		var p []byte
		for i := range 40 {
			p = fmt.Appendf(p, "\x1b[32m[%4d/9999]\x1b[m Building CXX object src/CMakeFiles/lib.dir/file%d.o\r\n",
				i, size)
			p = fmt.Appendf(p, "/usr/bin/c++ -O2 -g -Isrc -Iinclude -std=c++20 -o file%d.o\r\n", size)
		}
		if size == 0 {
			p = fmt.Appendf(p, "the needle in %d\r\n", n)
		}
		if _, err := log.Append(termlog.Data, at, p); err != nil {
			b.Fatal(err)
		}
		size += len(p)
	}
	return size
}

// processorTime returns what this process has used.
func processorTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // it cannot fail
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
