package nonce

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"termhost/ahp/hosttest/slowtest"
)

const testSecret = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

// seal returns what becomes of text when it is read in pieces that end at the cuts.
func seal(text string, cuts ...int) string {
	p := []byte(text)
	st, from := State(0), 0
	for _, cut := range append(cuts, len(p)) {
		s := NewSealer(testSecret, st) // another process goes on
		s.Seal(p[from:cut])
		st, from = s.State(), cut
	}
	return string(p)
}

func TestTheSecretIsSealedAndNothingElseIs(t *testing.T) {
	own := Of(testSecret)
	guess := Of("ABCDEFGHIJKLMNOPQRSTUVWXYA")
	masked := strings.Replace(Genuine, "V", "X", 1)
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"plain ~term text ~", "plain ~term text ~"},
		{"\x1b]633;C;" + own + "\a", "\x1b]633;C;" + Genuine + "\a"},
		{own + own, Genuine + Genuine},
		{"x='" + own + "'", "x='" + Genuine + "'"},
		{guess, masked},
		{Genuine, masked},
		{own[:len(own)-1] + "\a", masked[:len(own)-1] + "\a"},
		{own + "MORE", Genuine + "MORE"},
		{"~" + own, "~" + Genuine},
		{"~termhost" + own, "~termhost" + Genuine},
		{prefix + own, prefix + Genuine},
		{prefix + "AB" + own, prefix + "XX" + Genuine},
		{prefix + "abc", prefix + "abc"},
	} {
		for cut := range len(c.in) + 1 {
			if got := seal(c.in, cut); got != c.want {
				t.Errorf("%q cut at %d: %q, want %q", c.in, cut, got, c.want)
			}
		}
		every := make([]int, len(c.in))
		for i := range every {
			every[i] = i
		}
		if got := seal(c.in, every...); got != c.want {
			t.Errorf("%q byte by byte: %q, want %q", c.in, got, c.want)
		}
	}
}

func FuzzNoOtherOutputIsGenuine(f *testing.F) {
	f.Add([]byte(Genuine), 3)
	f.Add([]byte(Of(testSecret)), 20)
	f.Add([]byte("~termhost:~termhost:ABCDEFG"), 12)
	f.Fuzz(func(t *testing.T, p []byte, cut int) {
		cut = max(0, min(cut, len(p)))
		got := seal(string(p), cut)
		own := bytes.Count(p, []byte(Of(testSecret)))
		if n := strings.Count(got, Genuine); n != own || len(got) != len(p) {
			t.Errorf("%q became %q: %d are genuine, want %d", p, got, n, own)
		}
		if strings.Contains(got, Of(testSecret)[:len(prefix)+1]) {
			t.Errorf("%q became %q: the secret's first byte is there", p, got)
		}
	})
}

// TestAShellMayOpenItsFIFOOnce uses cat in a shell's place.
func TestAShellMayOpenItsFIFOOnce(t *testing.T) {
	g := &Grant{Secret: testSecret, FIFO: filepath.Join(t.TempDir(), "fifo")}
	if fd, err := g.Open(); err != nil || fd != -1 {
		t.Fatal(fd, err)
	}
	cat := exec.Command("cat", g.FIFO)
	var out bytes.Buffer
	cat.Stdout = &out
	if err := cat.Start(); err != nil {
		t.Fatal(err)
	}
	g.Give(cat.Process.Pid)
	if err := cat.Wait(); err != nil || out.String() != Of(testSecret)+"\n" {
		t.Errorf("it got %q, %v", &out, err)
	}
	if _, err := os.Lstat(g.FIFO); err == nil {
		t.Error("the FIFO is still there")
	}
}

func TestAnotherReaderOfTheFIFOGetsNothing(t *testing.T) {
	g := &Grant{Secret: testSecret, FIFO: filepath.Join(t.TempDir(), "fifo")}
	if _, err := g.Open(); err != nil {
		t.Fatal(err)
	}
	thief := exec.Command("cat", g.FIFO)
	var out bytes.Buffer
	thief.Stdout = &out
	if err := thief.Start(); err != nil {
		t.Fatal(err)
	}
	g.Give(sleeper(t)) // which does not open it
	if err := thief.Wait(); err != nil || out.Len() > 0 {
		t.Errorf("it got %q, %v", &out, err)
	}
}

// sleeper returns the process id of a program that opens nothing.
func sleeper(t *testing.T) int {
	t.Helper()
	cmd := slowtest.Sleeper(t)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid
}

func TestAShellThatIsNotStartedLeavesNoFIFO(t *testing.T) {
	g := &Grant{Secret: testSecret, FIFO: filepath.Join(t.TempDir(), "fifo")}
	if _, err := g.Open(); err != nil {
		t.Fatal(err)
	}
	g.Give(0)
	if _, err := os.Lstat(g.FIFO); err == nil {
		t.Error("the FIFO is still there")
	}
}

func TestNobodyElseCanOpenTheDescriptorOfAShell(t *testing.T) {
	g := &Grant{Secret: testSecret}
	fd, err := g.Open()
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fd), "nonce")
	defer f.Close()
	shell := exec.Command("sh", "-c", "read go; cat <&3")
	shell.ExtraFiles = []*os.File{f}
	begin, err := shell.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	shell.Stdout = &out
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("/proc", strconv.Itoa(shell.Process.Pid), "fd", strconv.Itoa(FD))
	if _, err := os.Open(path); err == nil {
		t.Error("another process has opened it")
	}
	_, _ = begin.Write([]byte("\n"))
	if err := shell.Wait(); err != nil || out.String() != Of(testSecret)+"\n" {
		t.Errorf("the shell got %q, %v", &out, err)
	}
}

func TestAnUndumpableProcessStillSeesItself(t *testing.T) {
	was, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Prctl(unix.PR_SET_DUMPABLE, uintptr(was), 0, 0, 0)
	if err := Undumpable(); err != nil {
		t.Fatal(err)
	}
	dir, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	if _, err := os.ReadDir("/proc/self/fd/" + strconv.Itoa(int(dir.Fd()))); err != nil {
		t.Error("a folder by its descriptor:", err) // as keeper and host use sockets
	}
	if _, err := os.Executable(); err != nil {
		t.Error("its own program:", err)
	}
}

func BenchmarkSeal(b *testing.B) {
	line := "\x1b[32mthe quick brown fox\x1b[m jumps over ~ the lazy dog and runs on for a while\r\n"
	p := bytes.Repeat([]byte(line), 64<<10/len(line))
	s := NewSealer(testSecret, 0)
	b.SetBytes(int64(len(p)))
	for b.Loop() {
		s.Seal(p)
	}
}
