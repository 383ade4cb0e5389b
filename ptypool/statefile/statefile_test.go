package statefile

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestWhatIsNoFileIsRefusedAtOnce: none of these may be waited for.
func TestWhatIsNoFileIsRefusedAtOnce(t *testing.T) {
	for what, put := range map[string]func(path string) error{
		"a pipe":                           func(p string) error { return unix.Mkfifo(p, 0o600) },
		"a folder":                         func(p string) error { return os.Mkdir(p, 0o700) },
		"a symbolic link that leads":       func(p string) error { return os.Symlink(filepath.Base(p), p) },
		"a socket":                         func(p string) error { _, err := net.Listen("unix", p); return err },
		"a pipe, not a file: move it away": func(p string) error { return linked(p, unix.Mkfifo) },
	} {
		path := filepath.Join(t.TempDir(), "f"+newSuffix)
		if err := put(path); err != nil {
			t.Fatal(err)
		}
		for _, flag := range []int{
			os.O_RDONLY, os.O_RDWR | os.O_CREATE, os.O_WRONLY, os.O_WRONLY | os.O_APPEND | os.O_CREATE,
		} {
			f, err := Open(path, flag, 0o600)
			if err == nil {
				f.Close()
			}
			if err == nil || !errors.Is(err, ErrNoFile) || !strings.Contains(err.Error(), what) ||
				!strings.Contains(err.Error(), path) {
				t.Errorf("%s with flags %x: %v", what, flag, err)
			}
		}
		if _, err := Read(path); !errors.Is(err, ErrNoFile) {
			t.Errorf("%s is read: %v", what, err)
		}
		if err := Replace(strings.TrimSuffix(path, newSuffix), nil); !errors.Is(err, ErrNoFile) {
			t.Errorf("%s is written to: %v", what, err)
		}
	}
}

// linked puts what is made elsewhere behind a symbolic link.
func linked(path string, put func(string, uint32) error) error {
	if err := put(path+".real", 0o600); err != nil {
		return err
	}
	return os.Symlink(path+".real", path)
}

func TestAFileIsOneBehindALinkToo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.Symlink(path+".real", path); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what is missing: %v", err)
	}
	if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := Read(path); err != nil || string(got) != "text" {
		t.Errorf("read %q, %v", got, err)
	}
}
