package keys

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// tree makes home/.ssh/authorized_keys, where nobody else has any right.
func tree(t *testing.T) (homeDir, sshDir, file string) {
	t.Helper()
	homeDir = home(t)
	sshDir = filepath.Join(homeDir, ".ssh")
	if err := os.Mkdir(sshDir, 0o700); err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(sshDir, "authorized_keys")
	write(t, file, publicLine(newKey(t).PublicKey(), "alice")+"\n")
	return homeDir, sshDir, file
}

func wantRefused(t *testing.T, err error, path, reason, hint string) {
	t.Helper()
	var refusal *StrictModesError
	if !errors.As(err, &refusal) {
		t.Fatalf("got %v, want a *StrictModesError", err)
	}
	if refusal.Path != path || !strings.Contains(refusal.Reason, reason) ||
		!strings.Contains(refusal.Hint, hint) {
		t.Errorf("got %q, want %s refused because %q with the hint %q", err, path, reason, hint)
	}
}

func TestUnsafeFilesAndFoldersAreRefused(t *testing.T) {
	homeDir, sshDir, file := tree(t)
	check := func() error {
		_, _, err := newInspector(homeDir).read(file)
		return err
	}
	if err := check(); err != nil {
		t.Fatalf("tight modes: %v", err)
	}
	for _, c := range []struct {
		path string
		bad  os.FileMode
		good os.FileMode
	}{
		{file, 0o666, 0o600}, {file, 0o620, 0o644}, {file, 0o602, 0o400},
		{sshDir, 0o770, 0o700}, {sshDir, 0o707, 0o755},
		{homeDir, 0o775, 0o755}, {homeDir, 0o777 | os.ModeSticky, 0o700},
	} {
		chmod(t, c.path, c.bad)
		wantRefused(t, check(), c.path, "group or others may write", "chmod go-w "+c.path)
		chmod(t, c.path, c.good)
		if err := check(); err != nil {
			t.Errorf("%s with mode %v: %v", c.path, c.good, err)
		}
	}
}

func TestTheCheckGoesUpToTheRootOutsideTheHome(t *testing.T) {
	homeDir, _, file := tree(t)
	chmod(t, filepath.Dir(homeDir), 0o777)
	_, _, err := newInspector("/nowhere").read(file)
	wantRefused(t, err, filepath.Dir(homeDir), "group or others may write", "chmod go-w")
	if _, _, err := newInspector(homeDir).read(file); err != nil {
		t.Errorf("below the home: %v", err)
	}
}

// A symbolic link in a safe folder that leads through a folder that others may write to is refused
// like a file in that folder: the resolved path counts.
func TestSymlinksAreCheckedWhereTheyLead(t *testing.T) {
	homeDir, sshDir, file := tree(t)
	shared := filepath.Join(homeDir, "shared")
	if err := os.Mkdir(shared, 0o700); err != nil {
		t.Fatal(err)
	}
	real := filepath.Join(shared, "authorized_keys")
	if err := os.Rename(file, real); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, file); err != nil {
		t.Fatal(err)
	}
	if _, _, err := newInspector(homeDir).read(file); err != nil {
		t.Fatalf("a symbolic link into a safe folder: %v", err)
	}
	chmod(t, shared, 0o777)
	_, _, err := newInspector(homeDir).read(file)
	wantRefused(t, err, shared, "group or others may write", "chmod go-w "+shared)

	// The same through a linked folder.
	chmod(t, shared, 0o700)
	inner := filepath.Join(shared, "inner")
	if err := os.Mkdir(inner, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(inner, "keys"), "")
	if err := os.Symlink(inner, filepath.Join(sshDir, "conf")); err != nil {
		t.Fatal(err)
	}
	chmod(t, inner, 0o770)
	_, _, err = newInspector(homeDir).read(filepath.Join(sshDir, "conf", "keys"))
	wantRefused(t, err, inner, "group or others may write", "chmod go-w "+inner)
}

func TestForeignOwnersAreRefused(t *testing.T) {
	homeDir, sshDir, file := tree(t)
	i := newInspector(homeDir)
	if os.Geteuid() == 0 {
		// Root may give files away; whoever owns the folder owns the keys.
		if err := os.Chown(sshDir, 12345, 12345); err != nil {
			t.Fatal(err)
		}
		_, _, err := i.read(file)
		wantRefused(t, err, sshDir, "belongs to uid 12345", "chown 0 ")
		return
	}
	i.uid++ // the files belong to somebody else than the user of the host
	_, _, err := i.read(file)
	wantRefused(t, err, file, "belongs to uid", "chown ")
}

func TestOnlyRegularFilesAreRead(t *testing.T) {
	homeDir, sshDir, _ := tree(t)
	pipe := filepath.Join(sshDir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, err := newInspector(homeDir).read(pipe)
	wantRefused(t, err, pipe, "not a regular file", "")
	_, _, err = newInspector(homeDir).read(sshDir)
	wantRefused(t, err, sshDir, "not a regular file", "")
	_, _, err = newInspector(homeDir).read(filepath.Join(sshDir, "none"))
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	big := filepath.Join(sshDir, "big")
	write(t, big, strings.Repeat("#", MaxFileBytes+1))
	if _, _, err = newInspector(homeDir).read(big); !says(err, "larger than") {
		t.Errorf("a file beyond the bound: %v", err)
	}
}

func TestStateFolderIsPrivate(t *testing.T) {
	base := home(t)
	dir := filepath.Join(base, "a", "b")
	if err := EnsureStateDir(dir); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{dir, filepath.Dir(dir)} {
		if info, err := os.Stat(d); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v; want mode 0700", d, info.Mode(), err)
		}
	}
	chmod(t, dir, 0o755)
	if err := EnsureStateDir(dir); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(dir); info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v stayed", info.Mode())
	}
	chmod(t, dir, 0o770)
	wantRefused(t, EnsureStateDir(dir), dir, "group or others may write", "chmod go-w")

	chmod(t, dir, 0o700)
	chmod(t, base, 0o777)
	wantRefused(t, EnsureStateDir(dir), base, "everybody may write", "chmod o-w")
	chmod(t, base, 0o777|os.ModeSticky)
	if err := EnsureStateDir(dir); err != nil {
		t.Errorf("below a folder like /tmp: %v", err)
	}

	file := filepath.Join(base, "file")
	write(t, file, "")
	for _, bad := range []string{file, filepath.Join(file, "below")} {
		if err := EnsureStateDir(bad); !says(err, "state folder") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
