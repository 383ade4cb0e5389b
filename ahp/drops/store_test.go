package drops_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"termhost/ahp/drops"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// keep gives a terminal a file, and returns its path.
func keep(t *testing.T, s *drops.Store, id, name, text string) string {
	t.Helper()
	f, err := s.Create(id)
	check(t, err)
	_, err = f.Write([]byte(text))
	check(t, err)
	path, err := f.Keep(name)
	check(t, err)
	return path
}

func newStore(t *testing.T) (s *drops.Store, dir string) {
	t.Helper()
	s, dir = &drops.Store{}, t.TempDir()
	check(t, s.Open(dir, nil))
	return s, filepath.Join(dir, "drops")
}

func TestFilesAreInAPrivateFolderOfTheTerminal(t *testing.T) {
	s, dir := newStore(t)
	path := keep(t, s, "build", "shot.png", "one")
	if path != filepath.Join(dir, "build", "shot.png") {
		t.Errorf("it is %s", path)
	}
	if again := keep(t, s, "build", "shot.png", "two"); again != filepath.Join(dir, "build", "shot-2.png") {
		t.Errorf("the second of the name is %s", again)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "one" {
		t.Errorf("%q, %v", text, err)
	}
	for path, want := range map[string]fs.FileMode{path: 0o600, filepath.Dir(path): fs.ModeDir | 0o700,
		dir: fs.ModeDir | 0o700} {
		info, err := os.Stat(path)
		check(t, err)
		if info.Mode() != want {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
	}
	rubbish := s.Remove("build")
	if _, err := os.Stat(path); rubbish == "" || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the terminal is gone, its file is not: %v, %q", err, rubbish)
	}
	if s.Remove("build") != "" {
		t.Error("it is removed twice")
	}
}

func TestAFileIsThereOnceAllOfItIs(t *testing.T) {
	s, dir := newStore(t)
	seen := func() (names []string) {
		entries, _ := os.ReadDir(filepath.Join(dir, "x"))
		for _, e := range entries {
			if !strings.HasPrefix(e.Name(), ".") {
				names = append(names, e.Name())
			}
		}
		return names
	}
	f, err := s.Create("x")
	check(t, err)
	_, err = f.Write([]byte("half"))
	check(t, err)
	if names := seen(); names != nil {
		t.Errorf("half a file is called %q", names)
	}
	f.Discard()
	entries, err := os.ReadDir(filepath.Join(dir, "x"))
	if err != nil || len(entries) != 0 {
		t.Errorf("a file that was given up is left: %v, %v", entries, err)
	}
	_, err = s.Create("x") // which its host leaves half
	check(t, err)
	whole := keep(t, s, "x", "a", "whole")
	keep(t, s, "gone", "b", "x")
	check(t, (&drops.Store{}).Open(filepath.Dir(dir), func(id string) bool { return id == "x" }))
	if entries, _ := os.ReadDir(filepath.Dir(whole)); len(entries) != 1 {
		t.Errorf("the next host has %v", entries)
	}
	if _, err := os.Stat(filepath.Join(dir, "gone")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it has the file of a terminal that is gone: %v", err)
	}
}

func TestFilesAreBounded(t *testing.T) {
	s, _ := newStore(t)
	f, err := s.Create("x")
	check(t, err)
	piece := make([]byte, 1<<20)
	for range drops.MaxBytes / len(piece) {
		_, err := f.Write(piece)
		check(t, err)
	}
	if _, err := f.Write([]byte("!")); !errors.Is(err, drops.ErrTooLarge) {
		t.Errorf("one byte more: %v", err)
	}
	f.Discard()
	for range drops.MaxFiles {
		keep(t, s, "x", "a", "")
	}
	if _, err := s.Create("x"); !errors.Is(err, drops.ErrTooMany) {
		t.Errorf("one file more: %v", err)
	}
	keep(t, s, "y", "a", "")
}

func TestFilesGoAfterADay(t *testing.T) {
	s, dir := newStore(t)
	old, young := keep(t, s, "x", "old", ""), keep(t, s, "x", "young", "")
	other := keep(t, s, "y", "old", "")
	now := time.Now()
	for _, path := range []string{old, other} {
		check(t, os.Chtimes(path, now, now.Add(-drops.Age-time.Minute)))
	}
	// A program has put a link to somebody's files in the place of its folder.
	files := t.TempDir()
	precious := filepath.Join(files, "precious")
	check(t, os.WriteFile(precious, nil, 0o600))
	check(t, os.Chtimes(precious, now, now.Add(-drops.Age-time.Minute)))
	check(t, os.Symlink(files, filepath.Join(dir, "z")))
	s.Expire(now)
	for path, want := range map[string]bool{old: false, young: true, filepath.Dir(other): false, precious: true} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestNamesOfFilesMeanNothingElse(t *testing.T) {
	for name, want := range map[string]string{
		"shot.png": "shot.png", "../../etc/passwd": "passwd", `C:\a\b.txt`: "b.txt", ".bashrc": "bashrc",
		"-rf": "rf", "a b;c$(d)'e": "a-b-c--d--e", "": "file", "..": "file", "\x1b[31mred\n": "31mred",
		"Bild größer.png": "Bild-größer.png", "日本.txt": "日本.txt", "\u202etxt.exe": "txt.exe",
		"\xff\xfe": "file", strings.Repeat("ä", 300): strings.Repeat("ä", 50),
	} {
		if got := drops.CleanName(name); got != want {
			t.Errorf("%q is called %q, not %q", name, got, want)
		}
	}
}

func TestAQuotedPathIsOneWordOfAShell(t *testing.T) {
	for _, path := range []string{"/a/b.png", "/it's/a b", `/$HOME/"x"`, "/''"} {
		out, err := exec.Command("/bin/sh", "-c", "printf '<%s>' "+drops.Quote(path)+" ").Output()
		if err != nil || string(out) != "<"+path+">" {
			t.Errorf("%s: %s, %v", path, out, err)
		}
	}
}

func TestWithoutAStateFolderNothingIsKept(t *testing.T) {
	var s drops.Store
	check(t, s.Open("", nil))
	if _, err := s.Create("x"); err == nil {
		t.Error("a file is kept nowhere")
	}
	s.Remove("x")
	s.Expire(time.Now())
}
