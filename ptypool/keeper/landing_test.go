package keeper

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"termhost/ptypool/nonce"
)

func newLanding(t *testing.T) *Landing {
	t.Helper()
	l, err := NewLanding()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// read has l read text into half k, as if from a pty.
func read(t *testing.T, l *Landing, k int, text string) []byte {
	t.Helper()
	all, n, err := l.read(k, func(p []byte) (int, error) { return copy(p, text), nil })
	if err != nil || n != len(text) {
		t.Fatalf("read %d bytes, %v; want %d", n, err, len(text))
	}
	return all
}

// killed has l read text into half k in a process that is killed before read(2) returns.
func killed(l *Landing, k int, text string) {
	defer func() { _ = recover() }()
	_, _, _ = l.read(k, func(p []byte) (int, error) {
		copy(p, text)
		panic("killed")
	})
}

// salvage salvages from l, of which the log lacks nothing before.
func salvage(l *Landing, end int64) []byte {
	missing, left := l.Salvage(end)
	if missing != 0 {
		panic(missing)
	}
	return left
}

func TestNothingIsSalvagedFromAFreeLanding(t *testing.T) {
	l := newLanding(t)
	if got := salvage(l, 0); len(got) > 0 {
		t.Errorf("got %q", got)
	}
	k := l.begin()
	read(t, l, k, "logged")
	l.free(k)
	if got := salvage(l, 6); len(got) > 0 {
		t.Errorf("got %q after the half was given back", got)
	}
}

func TestASecondMappingSalvagesWhatWasNotLogged(t *testing.T) {
	l := newLanding(t)
	f, err := dupFile(l.File())
	if err != nil {
		t.Fatal(err)
	}
	other, err := MapLanding(f)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	k := l.begin()
	read(t, l, k, "one ")
	if all := read(t, l, k, "two "); string(all) != "one two " {
		t.Errorf("the batch is %q", all)
	}
	l.place(k, 100)
	if k = l.begin(); l.begin() != -1 {
		t.Error("a third half")
	}
	read(t, l, k, "three ")
	killed(l, k, "four")
	// The record of the first batch was torn: the log ends inside it.
	if got := salvage(other, 104); string(got) != "two three four" {
		t.Errorf("salvaged %.40q", got)
	}
	if got := salvage(other, 104); len(got) > 0 {
		t.Errorf("salvaged %.40q a second time", got)
	}
}

func TestARestartSalvagesExactlyWhatTheLogLacks(t *testing.T) {
	long := strings.Repeat("0123456789", 800)
	texts := []string{"", "a", "Gr\u00fc\u00dfe", long, "\x1b[1mx\x1b[m\r\n"}
	for _, first := range texts {
		for _, second := range texts {
			for logged := range len(first) + 1 {
				if len(first) > 100 && logged%997 > 2 {
					continue
				}
				l := newLanding(t)
				begin(t, l, 1) // so that the order of the halves is not that of the batches
				begin(t, l, 0)
				l.free(0)
				read(t, l, 1, first)
				l.place(1, 7)
				k := l.begin()
				killed(l, k, second)
				got := salvage(l, 7+int64(logged))
				if want := first[logged:] + second; string(got) != want {
					t.Fatalf("%.10q, %.10q, %d logged: salvaged %.20q", first, second, logged, got)
				}
				l.Close()
			}
		}
	}
}

func TestABatchThatIsNotBeingLoggedYetIsSalvagedCompletely(t *testing.T) {
	l := newLanding(t)
	k := l.begin()
	read(t, l, k, "first ")
	k = l.begin()
	read(t, l, k, "second ")
	killed(l, k, "third")
	if got := salvage(l, 3); string(got) != "first second third" {
		t.Errorf("salvaged %.40q", got)
	}
	if !l.Empty() {
		t.Error("the landing is not empty then")
	}
}

// begin takes a half and frees it until it has got half k.
func begin(t *testing.T, l *Landing, k int) {
	t.Helper()
	got := l.begin()
	if got == k {
		return
	}
	if other := l.begin(); other != k {
		t.Fatalf("got halves %d and %d", got, other)
	}
	l.free(got)
}

func TestFreeSpaceIsPoisonWhateverWasThereBefore(t *testing.T) {
	l := newLanding(t)
	k := l.begin()
	for range HalfSize / 1000 {
		read(t, l, k, strings.Repeat("x", 1000))
	}
	l.free(k)
	killed(l, l.begin(), "new")
	if got := salvage(l, HalfSize); string(got) != "new" {
		t.Errorf("salvaged %.20q of %d bytes", got, len(got))
	}
}

func TestAFullHalfTakesNoMore(t *testing.T) {
	l := newLanding(t)
	k := l.begin()
	total := 0
	for {
		all, n, err := l.read(k, func(p []byte) (int, error) {
			return copy(p, bytes.Repeat([]byte{'x'}, len(p))), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		total += n
		if len(all) != total {
			t.Fatalf("the batch has %d bytes after %d were read", len(all), total)
		}
		if n == 0 {
			break
		}
	}
	if total != HalfSize {
		t.Errorf("a half took %d bytes, want %d", total, HalfSize)
	}
}

func TestTextNeverEndsLikeFreeSpace(t *testing.T) {
	for i := range len(poison) {
		if utf8.ValidString(poison[i : i+1]) {
			t.Errorf("%q is a part of text", fmt.Sprintf("%x", poison[i]))
		}
	}
}

// dupFile returns a duplicate of f's descriptor, which is close-on-exec.
func dupFile(f *os.File) (*os.File, error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	fd := -1
	var dupErr error
	if err := raw.Control(func(old uintptr) {
		fd, dupErr = unix.FcntlInt(old, unix.F_DUPFD_CLOEXEC, 0)
	}); err != nil {
		return nil, err
	}
	if dupErr != nil {
		return nil, dupErr
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}

// The host dies at each byte of a mark, once between two reads and once during a read.
func TestAHostKilledInAMarkLosesNoOutputAndLogsNoSecret(t *testing.T) {
	secret := nonce.NewSecret()
	mark := "\x1b]633;C;" + nonce.Of(secret) + "\a"
	forged := "\x1b]633;D;0;" + nonce.Genuine + "\a"
	text := "$ " + mark + forged + "x"
	want := "$ \x1b]633;C;" + nonce.Genuine + "\a" + strings.Replace(forged, "V", "X", 1) + "x"
	for cut := range len(text) {
		for _, midway := range []bool{false, true} {
			l := newLanding(t)
			l.Seal(secret)
			k := l.begin()
			logged := string(read(t, l, k, text[:cut]))
			l.place(k, 0)
			l.free(k)
			k = l.begin()
			if midway {
				killed(l, k, text[cut:])
			} else {
				killed(l, k, "")
			}
			f, err := dupFile(l.File())
			if err != nil {
				t.Fatal(err)
			}
			keeper, err := MapLanding(f)
			if err != nil {
				t.Fatal(err)
			}
			keeper.Seal(secret)
			logged += string(salvage(keeper, int64(cut)))
			if !midway { // the keeper reads the rest
				rest := []byte(text[cut:])
				s := nonce.NewSealer(secret, keeper.Sealed())
				s.Seal(rest)
				logged += string(rest)
			}
			keeper.Close()
			if logged != want {
				t.Errorf("cut at %d, midway %v: logged %q, want %q", cut, midway, logged, want)
			}
		}
	}
}

func TestTheNextHostContinuesInAMarkWhereTheKeeperStopped(t *testing.T) {
	secret := nonce.NewSecret()
	text := nonce.Of(secret) + "\a"
	for cut := range len(text) {
		l := newLanding(t)
		begin(t, l, 1)
		l.free(1)
		s := nonce.NewSealer(secret, 0)
		drained := []byte(text[:cut])
		s.Seal(drained)
		l.Leave(s.State())
		l.Seal(secret)
		got := string(drained) + string(read(t, l, l.begin(), text[cut:]))
		if got != nonce.Genuine+"\a" {
			t.Errorf("cut at %d: %q", cut, got)
		}
	}
}
