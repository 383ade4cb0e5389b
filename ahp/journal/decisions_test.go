package journal_test

import (
	"errors"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"termhost/ahp/journal"
)

// passed returns a duplicate of a file, as the next host gets it from the keeper.
func passed(t *testing.T, f *os.File) *os.File {
	t.Helper()
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	must(t, err)
	return os.NewFile(uintptr(fd), "decisions")
}

func TestDecisionsOutliveAHostThatIsKilledWhileItWrites(t *testing.T) {
	t.Parallel()
	ds, err := journal.NewDecisions()
	must(t, err)
	defer ds.Close()
	read := func() (journal.Decided, error) {
		next, d, err := journal.OpenDecisions(passed(t, ds.File()))
		next.Close()
		return d, err
	}
	if _, err := read(); !errors.Is(err, journal.ErrUndecided) {
		t.Errorf("before anything was written: %v", err)
	}
	write := func(name string) {
		must(t, ds.Write(journal.Decided{Name: name, Guarded: true, Holder: holder("ssh:k")}))
	}
	for _, name := range []string{"a", "b", "c"} {
		write(name)
		if d, err := read(); err != nil || d.Name != name || !d.Guarded ||
			d.Holder != holder("ssh:k") {
			t.Errorf("%+v, %v, want %s", d, err, name)
		}
	}
	size, err := ds.File().Seek(0, 2)
	must(t, err)
	torn := func(half int64) { // the first byte of the JSON
		_, err := ds.File().WriteAt([]byte("!"), half*size/2+16)
		must(t, err)
	}
	torn(1) // c is the third, and so in the second half
	if d, err := read(); err != nil || d.Name != "b" {
		t.Errorf("after half a write %+v, %v, want b", d, err)
	}
	torn(0)
	if d, err := read(); !errors.Is(err, journal.ErrUndecided) {
		t.Errorf("both halves are damaged: %+v, %v", d, err)
	}
	next, _, err := journal.OpenDecisions(passed(t, ds.File()))
	if !errors.Is(err, journal.ErrUndecided) {
		t.Fatal(err)
	}
	defer next.Close()
	must(t, next.Write(journal.Decided{Name: "d"}))
	if d, err := read(); err != nil || d.Name != "d" {
		t.Errorf("%+v, %v, want d", d, err)
	}
}

func TestDecisionsThatDoNotFitAreRefused(t *testing.T) {
	t.Parallel()
	ds, err := journal.NewDecisions()
	must(t, err)
	must(t, ds.Write(journal.Decided{Name: "a"}))
	if err := ds.Write(journal.Decided{Name: string(make([]byte, 1<<20))}); !errors.Is(err,
		journal.ErrNoDecisions) {
		t.Error(err)
	}
	next, d, err := journal.OpenDecisions(passed(t, ds.File()))
	must(t, err)
	next.Close()
	if d.Name != "a" {
		t.Errorf("%+v", d)
	}
	ds.Close()
	var none *journal.Decisions
	for _, ds := range []*journal.Decisions{ds, none} {
		if err := ds.Write(journal.Decided{}); !errors.Is(err, journal.ErrNoDecisions) {
			t.Error(err)
		}
	}
}
