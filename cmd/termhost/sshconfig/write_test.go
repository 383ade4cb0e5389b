package sshconfig

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var block = Block{Address: "127.0.0.1:2222", Identities: Key("/s p/100%/key"),
	KnownHosts: "/s/known_hosts"}

func put(t *testing.T, path, text string, mode fs.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func has(t *testing.T, path, text string, mode fs.FileMode) {
	t.Helper()
	got, err := os.ReadFile(path)
	st, serr := os.Stat(path)
	if err != nil || serr != nil || string(got) != text || st.Mode().Perm() != mode {
		t.Errorf("%s is %q, %v, %v %v; want %q, %v", path, got, st.Mode(), err, serr, text, mode)
	}
}

func TestBothFilesAreMadeOnce(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for _, again := range []bool{false, true} {
		w, err := Write(home, true, block, false)
		if err != nil || w.OwnChanged == again || w.MainChanged == again || w.Other {
			t.Errorf("again %v: %+v, %v", again, w, err)
		}
		has(t, w.Own, ownMark+block.String(), 0o600)
		has(t, w.Main, "Include ~/.ssh/termhost.conf\n", 0o600)
	}
	st, err := os.Stat(filepath.Join(home, ".ssh"))
	if err != nil || st.Mode().Perm() != 0o700 {
		t.Errorf("the folder is %v, %v", st.Mode(), err)
	}
	if left, err := os.ReadDir(filepath.Join(home, ".ssh")); err != nil || len(left) != 2 {
		t.Errorf("there are %v, %v", left, err)
	}
	// Another block changes only the file that is termhost's.
	w, err := Write(home, true, Block{Name: "box", Address: "127.0.0.1:2223"}, false)
	if err != nil || !w.OwnChanged || w.MainChanged {
		t.Errorf("another block: %+v, %v", w, err)
	}
}

func TestANameLeadsToOneHostUntilItIsReplaced(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	box := Block{Name: "box", Address: "box.example:22"}
	elsewhere := Block{Address: "127.0.0.1:2223"}
	moved := block
	moved.Address = "127.0.0.1:2224"
	steps := []struct {
		name    string
		b       Block
		replace bool
		taken   string // by whom
		has     []Block
	}{
		{"the first", block, false, "", []Block{block}},
		{"another name", box, false, "", []Block{block, box}},
		{"another host", elsewhere, false, "127.0.0.1:2222", []Block{block, box}},
		{"a host that has moved", moved, false, "", []Block{moved, box}},
		{"a host that takes the name", elsewhere, true, "", []Block{elsewhere, box}},
		{"no file of known hosts", block, false, "127.0.0.1:2223", []Block{elsewhere, box}},
		{"a name within one", Block{Name: "bo", Address: "bo.example"}, false, "",
			[]Block{elsewhere, box, {Name: "bo", Address: "bo.example"}}},
	}
	for _, c := range steps {
		w, err := Write(home, true, c.b, c.replace)
		var taken *TakenError
		if errors.As(err, &taken); err != nil && taken == nil || c.taken == "" != (taken == nil) ||
			taken != nil && taken.Address != c.taken {
			t.Errorf("%s: %v, want one by %q", c.name, err, c.taken)
		}
		want := ownMark
		for _, b := range c.has {
			want += b.String()
		}
		has(t, w.Own, want, 0o600)
	}
}

func TestAPersonsFileStaysWhatItIs(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	dir, dots := filepath.Join(home, ".ssh"), filepath.Join(home, "dots")
	for _, d := range []string{dir, dots} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	const text = "# mine\n\nHost th other\n  Include termhost.conf\nMatch all\n  User ann" // no line end
	put(t, filepath.Join(dots, "config"), text, 0o640)
	if err := os.Symlink("../dots/config", filepath.Join(dir, "config")); err != nil {
		t.Fatal(err)
	}
	w, err := Write(home, false, block, false)
	if err != nil || !w.MainChanged || !w.Other {
		t.Fatalf("%+v, %v", w, err)
	}
	if to, err := os.Readlink(w.Main); err != nil || to != "../dots/config" {
		t.Errorf("the link is %q, %v", to, err)
	}
	has(t, filepath.Join(dots, "config"), "Include "+w.Own+"\n"+text, 0o640)
	if w, err = Write(home, false, block, false); err != nil || w.MainChanged || w.OwnChanged {
		t.Errorf("again: %+v, %v", w, err)
	}
}

func TestAnIncludeOfAnyFormCounts(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"include termhost.conf", "Include  a \"~/.ssh/termhost.conf\"",
		"\tINCLUDE=~/.ssh/termhost.conf", "User ann\nInclude HOME/.ssh/termhost.conf\r"} {
		home := t.TempDir()
		if err := os.Mkdir(filepath.Join(home, ".ssh"), 0o700); err != nil {
			t.Fatal(err)
		}
		line = strings.ReplaceAll(line, "HOME", home) + "\nHost *\n"
		main := filepath.Join(home, ".ssh", "config")
		put(t, main, line, 0o644)
		if w, err := Write(home, true, block, false); err != nil || w.MainChanged {
			t.Errorf("%q: %+v, %v", line, w, err)
		}
		has(t, main, line, 0o644)
	}
}

// Nothing is changed if one of the files is not what it should be.
func TestWhatIsNotOursIsLeftAlone(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(t *testing.T, dir string){
		"is not termhost's": func(t *testing.T, dir string) {
			put(t, filepath.Join(dir, ownName), "Host *\n", 0o600)
		},
		"leads nowhere": func(t *testing.T, dir string) {
			if err := os.Symlink("nowhere", filepath.Join(dir, mainName)); err != nil {
				t.Fatal(err)
			}
		},
		"no configuration of ssh": func(t *testing.T, dir string) {
			if err := os.Mkdir(filepath.Join(dir, mainName), 0o700); err != nil {
				t.Fatal(err)
			}
		},
	} {
		home := t.TempDir()
		dir := filepath.Join(home, ".ssh")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		spoil(t, dir)
		w, err := Write(home, true, block, false)
		if err == nil || !strings.Contains(err.Error(), name) || w.OwnChanged || w.MainChanged {
			t.Errorf("%s: %+v, %v", name, w, err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
			t.Errorf("%s: there are %v, %v", name, left, err)
		}
	}
}
