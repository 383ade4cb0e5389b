package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"termhost/authz"
	"termhost/ptypool/termlog"
)

// search returns the lines that a search finds, "-" before those of context.
func search(t testing.TB, h *Host, term *Terminal, expr string, s Search) (lines []string) {
	t.Helper()
	var err error
	if s.Pattern, err = NewSearchPattern(expr, false); err != nil {
		t.Fatal(err)
	}
	err = h.Search(t.Context(), carol, term, s, func(l *SearchLine) bool {
		line := string(l.Text)
		if !l.Matches {
			line = "-" + line
		}
		if l.Time.Before(term.created) || l.Time.After(time.Now()) {
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

func TestAPatternFindsTheLinesThatMatch(t *testing.T) {
	t.Parallel()
	lines := []string{"", "error: one", "  two", "ERROR", "Straße ſtop", "K and k", "a.b", "x", "end"}
	block := []byte(strings.Join(lines, "\n") + "\n")
	for _, expr := range []string{"error", "^$", "$", "^", "", "e", "(?i)error", `\d`, "^end$", `\Aend\z`,
		"[^x]", `\s`, `\s\w`, "(?s)r.*t", "o.e|t.o", "a\\.b", "(error)+", "stop", "k", "x*", "(?m)^x$",
		"[[:upper:]]", "ro{1,2}", "^ *two", `\Berr`, "\n", "straSSe", "straße"} {
		for _, fold := range []bool{false, true} {
			p, err := NewSearchPattern(expr, fold)
			if err != nil {
				t.Fatalf("%q: %v", expr, err)
			}
			var want, got []string
			for _, line := range lines {
				if p.line.MatchString(line) {
					want = append(want, line)
				}
			}
			p.begin(block)
			for at := 0; ; {
				start, line := p.next(block, at)
				if start == len(block) {
					break
				}
				got = append(got, string(line))
				at = start + len(line) + 1
			}
			if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
				t.Errorf("%q, ignoring case %v: %q, want %q", expr, fold, got, want)
			}
		}
	}
	for _, expr := range []string{"(", "a{1,1000}{1,1000}", strings.Repeat("x", 2000)} {
		if _, err := NewSearchPattern(expr, true); err == nil {
			t.Errorf("%.20q is taken", expr)
		}
	}
}

func TestASearchLooksAtBlocksOfTextAsAtOne(t *testing.T) {
	t.Parallel()
	h := newHost(t, func(c *Config) { c.LogBytes = 8 << 20 })
	term := run(t, h, carol, "x", "seq 200000")
	wait(t, "the exit", term.Done())
	got := search(t, h, term, "0000$", Search{Context: 1})
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
		h := newHost(t, func(c *Config) { c.Persist = persist })
		term := run(t, h, carol, "x", "printf 'one needle\\ntwo\\n'; printf 'no end needle'")
		wait(t, "the exit", term.Done())
		hosts := []*Host{h}
		if persist {
			hosts = append(hosts, after(t, killed(t, h)))
		}
		for _, h := range hosts {
			got := search(t, h, find(t, h, "x"), "needle", Search{})
			if fmt.Sprint(got) != "[one needle no end needle]" {
				t.Errorf("persist %v: %q", persist, got)
			}
		}
	}
}

func TestASearchIsCutShort(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	term := run(t, h, carol, "x", "seq 100000")
	wait(t, "the exit", term.Done())
	pattern, _ := NewSearchPattern("1", false)
	ctx, cancel := context.WithCancelCause(t.Context())
	enough, n := errors.New("enough"), 0
	err := h.Search(ctx, carol, term, Search{Pattern: pattern}, func(*SearchLine) bool {
		if n++; n == 5 {
			cancel(enough)
		}
		return true
	})
	if !errors.Is(err, enough) || n > 5 {
		t.Errorf("%v after %d lines", err, n)
	}
	n = 0
	err = h.Search(t.Context(), carol, term, Search{Pattern: pattern}, func(*SearchLine) bool {
		n++
		return n < 3
	})
	if err != nil || n != 3 {
		t.Errorf("%v after %d lines", err, n)
	}
	guest := authz.Principal{ID: "g", Name: "g", Role: authz.Observer, Guest: "g"}
	err = h.Search(t.Context(), guest, term, Search{Pattern: pattern}, nil)
	var denied *authz.Denied
	if !errors.As(err, &denied) {
		t.Errorf("a guest of others: %v", err)
	}
}

// BenchmarkSearchOf500 searches the logs of 500 terminals, 1 MiB each, that an earlier host left.
// The goal is 2 s of processor time.
func BenchmarkSearchOf500(b *testing.B) {
	dir := manyKilled(b, 500)
	folders, err := filepath.Glob(filepath.Join(dir, termsDir, "*"))
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
	h := after(b, dir, func(c *Config) { c.MaxExited = 1000 })
	list, err := h.Terminals(carol)
	if err != nil || len(list) != 500 {
		b.Fatal(len(list), err)
	}
	for name, c := range map[string]struct {
		expr string
		fold bool
	}{"literal": {"needle", false}, "expression": {`need\w+ in [0-9]+`, false},
		"ignoring case": {"NEEDLE", true}} {
		b.Run(name, func(b *testing.B) {
			pattern, err := NewSearchPattern(c.expr, c.fold)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(total))
			used := processorTime()
			for b.Loop() {
				found := 0
				for _, t := range list {
					if err := h.Search(b.Context(), carol, t, Search{Pattern: pattern},
						func(*SearchLine) bool { found++; return true }); err != nil {
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
