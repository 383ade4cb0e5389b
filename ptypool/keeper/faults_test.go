package keeper

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"termhost/ahp/hosttest/slowtest"
	"termhost/ptypool/smalldisk"
	"termhost/ptypool/termlog"
)

// A host writes nonsense into memory that the keeper reads.
func TestTheKeeperSurvivesADamagedLanding(t *testing.T) {
	words := []int64{free, unplaced, 0, 1, HalfSize, HalfSize + 1, math.MaxInt64, math.MinInt64}
	l := newLanding(t)
	for _, base := range words {
		for _, length := range words {
			for _, extent := range words {
				for k := range Halves {
					*l.base(k), *l.length(k), *l.extent(k), *l.turn(k) = base, length, extent, base
				}
				if _, got := l.Salvage(1); len(got) > Halves*HalfSize {
					t.Fatalf("%d bytes are salvaged", len(got))
				}
			}
		}
	}
}

// away has a shell of its own, with a log in a folder, left by its host.
func away(t *testing.T, l *Link, dir, script string) (master int) {
	t.Helper()
	c := connect(t, l)
	p := shell(t, "a", script)
	p.Log = dir
	term := begun(t, c, p)
	master = term.TakeFD(Master)
	t.Cleanup(func() { unix.Close(master) })
	c.Close()
	return master
}

func enter(t *testing.T, master int) {
	t.Helper()
	if _, err := unix.Write(master, []byte("\n")); err != nil {
		t.Fatal(err)
	}
}

// ended waits until the only terminal's program has ended, and returns how.
func ended(t *testing.T, l *Link) syscall.WaitStatus {
	t.Helper()
	c := connect(t, l)
	var all []Info
	eventually(t, "the program has ended", func() (ok bool) {
		var err error
		all, err = c.List()
		return err == nil && len(all) == 1 && all[0].Exit != nil
	})
	return all[0].Exit.Status
}

func newLog(t *testing.T, dir string, size int64) {
	t.Helper()
	log, err := termlog.Create(dir, size)
	if err != nil {
		t.Fatal(err)
	}
	log.Close()
}

// The log of a terminal is damaged while no host runs.
func TestADamagedLogDoesNotBlockPrograms(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(dir string) error{
		"removed": os.RemoveAll,
		"nonsense": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "log.0"), make([]byte, 100), 0o600)
		},
		"cut": func(dir string) error { return os.Truncate(filepath.Join(dir, "log.0"), 40) },
		"a folder": func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, "log.0")),
				os.Mkdir(filepath.Join(dir, "log.0"), 0o700))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, dir := newLink(t), filepath.Join(t.TempDir(), "log")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			newLog(t, dir, termlog.MinSize)
			master := away(t, l, dir, "read x; seq 1 20000; exit 5")
			slowtest.Hurry(t)
			if err := damage(dir); err != nil {
				t.Fatal(err)
			}
			enter(t, master)
			if st := ended(t, l); st.ExitStatus() != 5 {
				t.Errorf("it ended with %v", st)
			}
		})
	}
}

// The disk of a terminal's log is full while no host runs, and gets room again.
func TestAFullDiskDoesNotBlockPrograms(t *testing.T) {
	t.Parallel()
	l, disk := newLink(t), smalldisk.New(t, "512k")
	dir, printed := filepath.Join(disk, "log"), filepath.Join(t.TempDir(), "printed")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	newLog(t, dir, 4<<20)
	master := away(t, l, dir, fmt.Sprintf(
		"stty -echo; echo up; read x; seq 1 20000; echo >%s; read x; echo after; read x", printed))
	logged := func() (text string, why []string, end int64) {
		log, err := termlog.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer log.Close()
		if err := log.Read(0, func(r termlog.Record) bool {
			if r.Kind == termlog.Gap {
				why = append(why, string(r.Payload))
			} else {
				text += string(r.Payload)
			}
			return true
		}); err != nil {
			t.Fatal(err)
		}
		return text, why, log.End()
	}
	says := func(what string) {
		eventually(t, "the log says "+what, func() bool {
			text, _, _ := logged()
			return strings.HasSuffix(text, what+"\r\n")
		})
	}
	says("up")
	slowtest.Hurry(t)
	const room = 64 << 10 // for some of the output
	filler := smalldisk.Fill(t, disk, "filler", room)
	enter(t, master)
	eventually(t, "the program has printed all", func() bool {
		_, err := os.Stat(printed)
		return err == nil
	})
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	enter(t, master)
	says("after")
	var want strings.Builder
	want.WriteString("up\r\n")
	for i := range 20_000 {
		fmt.Fprintf(&want, "%d\r\n", i+1)
	}
	want.WriteString("after\r\n")
	text, why, end := logged()
	if end != int64(want.Len()) {
		t.Errorf("the log ends at %d, %d bytes were printed", end, want.Len())
	}
	// There may be several gaps: a Gap fits where output does not.
	why = slices.Compact(why)
	if len(why) != 1 || why[0] != "disk full" || len(text) < room/2 || len(text) >= want.Len() {
		t.Errorf("of %d bytes %d are there; gaps: %q", want.Len(), len(text), why)
	}
	enter(t, master)
	ended(t, l)
}
