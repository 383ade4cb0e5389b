package statefile_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"termhost/ptypool/smalldisk"
	"termhost/ptypool/statefile"
)

// only fails unless a folder has one file, with a content and a mode.
func only(t *testing.T, path, text string, mode fs.FileMode) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("the folder has %v, %v", entries, err)
	}
	got, err := statefile.Read(path)
	st, serr := os.Stat(path)
	if err != nil || serr != nil || string(got) != text || st.Mode() != mode {
		t.Errorf("it is %q, %v, %v, %v", got, st.Mode(), err, serr)
	}
}

func TestAFileIsReplacedByAShorterOne(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	if err := statefile.Prepare(path); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"first", "a longer one", "short", ""} {
		if err := statefile.Replace(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		only(t, path, text, 0o600)
	}
	// What a crash has left of an attempt is no part of the next one.
	if err := os.WriteFile(path+".new", []byte("a very long remainder"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := statefile.Replace(path, []byte("new")); err != nil {
		t.Fatal(err)
	}
	only(t, path, "new", 0o600)
	for _, mode := range []fs.FileMode{0o644, 0o600} {
		if err := statefile.Save(path, []byte("saved"), mode); err != nil {
			t.Fatal(err)
		}
		only(t, path, "saved", mode)
	}
}

func TestAFileThatIsThereIsNotCreated(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	var made sync.Map
	var callers sync.WaitGroup
	for i := range 20 {
		callers.Go(func() {
			text := fmt.Sprint("by ", i)
			switch err := statefile.Create(path, []byte(text), 0o640); {
			case err == nil:
				made.Store(text, nil)
			case !errors.Is(err, fs.ErrExist):
				t.Error(err)
			}
		})
	}
	callers.Wait()
	n := 0
	made.Range(func(text, _ any) bool {
		n++
		only(t, path, text.(string), 0o640)
		return true
	})
	if n != 1 {
		t.Errorf("%d callers have made it", n)
	}
}

func TestAFullDiskKeepsTheOldContent(t *testing.T) {
	t.Parallel()
	dir := smalldisk.New(t, "256k")
	path := filepath.Join(dir, "f")
	if err := statefile.Save(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	large := make([]byte, 1<<20)
	for how, err := range map[string]error{
		"replace": statefile.Replace(path, large), "save": statefile.Save(path, large, 0o600),
		"create": statefile.Create(filepath.Join(dir, "g"), large, 0o600),
	} {
		if err == nil {
			t.Errorf("%s has succeeded", how)
		}
	}
	only(t, path, "old", 0o600)
}

// Whoever may not give a file to its owner is refused, and the file stays as it was.
func TestAFileIsSavedForItsOwner(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	like, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := statefile.SaveFor(like, path, []byte("new"), 0o640); err != nil {
		t.Fatal(err)
	}
	only(t, path, "new", 0o640)
	other, err := os.Stat("/proc/1/stat") // root's
	if os.Getuid() == 0 {
		if err := os.Chown(path, 1, 1); err != nil {
			t.Fatal(err)
		}
		other, err = os.Stat(path)
	}
	if err != nil {
		t.Fatal(err)
	}
	err = statefile.SaveFor(other, path, []byte("newer"), 0o640)
	if os.Getuid() != 0 {
		if err == nil {
			t.Error("it is given to root")
		}
		only(t, path, "new", 0o640)
		return
	}
	st, serr := os.Stat(path)
	if err != nil || serr != nil || st.Sys().(*syscall.Stat_t).Uid != 1 {
		t.Errorf("its owner has changed: %v, %v", err, serr)
	}
	only(t, path, "newer", 0o640)
}
