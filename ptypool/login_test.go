package ptypool

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"termhost/ptypool/environ"
)

// machine makes the files of a machine and returns the folder that they are in.
func machine(t *testing.T, files map[string]string) (root string) {
	t.Helper()
	root = t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// The values are what OpenSSH's sshd 9.2 with Debian's PAM 1.5.2 gave to a login.
func TestEtcEnvironmentIsReadAsByALogin(t *testing.T) {
	t.Parallel()
	root := machine(t, map[string]string{environmentFile: `# comment
A1=plain
  A2=indented
export A3=exported
A4="double quoted"
A5='single'
A6=trailing   # a comment
A7="has # inside"
A8=a"b"c
A9="in "the" middle"
B1=$HOME/x
B2=
B3
B-4=dash
B5 = spaced
B6=cont\
inued
` + "B7=tab\t\n" + `B8="unended
B9='mix"ed'
` + "C1=crlf\r\n" + `LANG=xx_YY.UTF-8
PATH=/from/environment:/usr/bin:/bin
TERM=fromenv
SSH_CONNECTION=forged
MAIL=/from/env
C2=gone
C2
C3=last`, localeFile: "LANG=zz_ZZ.UTF-8\nC3=later\n"})
	acc := Account{Name: "ann", UID: 1000, Home: "/home/ann", Shell: "/bin/sh"}
	env := Env(EnvSpec{Account: acc, Term: "xterm", Root: root, Client: []string{"LANG=de_DE.UTF-8",
		"LC_TIME=fr"}, Extra: []string{"A1=configured"}})
	for name, want := range map[string]string{
		"A1": "configured", "A2": "indented", "A3": "exported", "A4": "double quoted",
		"A5": "single", "A6": "trailing   ", "A7": "has ", "A8": `a"b"c`,
		"A9": `in "the" middle`, "B1": "$HOME/x", "B2": "", "B6": "continued", "B7": "tab\t",
		"B8": "unended", "B9": `mix"ed`, "C1": "crlf\r", "C3": "later",
		"LANG": "zz_ZZ.UTF-8", "LC_TIME": "fr", "PATH": "/from/environment:/usr/bin:/bin",
		"MAIL": "/from/env", "TERM": "xterm", "HOME": "/home/ann",
	} {
		if got, set := environ.Lookup(env, name); got != want || !set {
			t.Errorf("%s=%q (set: %v), want %q", name, got, set, want)
		}
	}
	for _, name := range []string{"B3", "B-4", "B5", "B5 ", "C2", "SSH_CONNECTION"} {
		if got, set := environ.Lookup(env, name); set {
			t.Errorf("%s=%q is set", name, got)
		}
	}
}

func TestTheUsersRuntimeFolderAndBusAreThoseOfALogin(t *testing.T) {
	t.Parallel()
	uid := os.Getuid()
	dir := filepath.Join("/", runtimeFolders, strconv.Itoa(uid))
	for what, c := range map[string]struct {
		make func(path string) error
		uid  int
		want map[string]string
	}{
		"there is none": {func(string) error { return nil }, uid, nil},
		"the user's": {func(path string) error { return os.Mkdir(path, 0o700) }, uid,
			map[string]string{"XDG_RUNTIME_DIR": dir}},
		"with a bus": {func(path string) error {
			if err := os.Mkdir(path, 0o700); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(path, "bus"), nil, 0o600)
		}, uid, map[string]string{"XDG_RUNTIME_DIR": dir,
			"DBUS_SESSION_BUS_ADDRESS": "unix:path=" + dir + "/bus"}},
		"others may look": {func(path string) error { return os.Mkdir(path, 0o750) }, uid, nil},
		"a link":          {func(path string) error { return os.Symlink(t.TempDir(), path) }, uid, nil},
		"another user's": {func(path string) error {
			return os.Rename(filepath.Dir(path)+"/"+strconv.Itoa(uid), path)
		}, uid + 1, nil},
	} {
		root := machine(t, map[string]string{runtimeFolders + "/x": ""})
		folders := filepath.Join(root, runtimeFolders)
		if c.uid != uid {
			if err := os.Mkdir(filepath.Join(folders, strconv.Itoa(uid)), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.make(filepath.Join(folders, strconv.Itoa(c.uid))); err != nil {
			t.Fatal(err)
		}
		acc := Account{Name: "ann", UID: c.uid, Home: "/home/ann", Shell: "/bin/sh"}
		env := Env(EnvSpec{Account: acc, Root: root})
		for _, name := range []string{"XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"} {
			got, set := environ.Lookup(env, name)
			if want := c.want[name]; got != want || set != (want != "") {
				t.Errorf("%s: %s=%q, want %q", what, name, got, want)
			}
		}
	}
}

// TestAStartedTerminalsDeviceIsThatOfALogin: write and wall reach it, and nobody else does.
func TestAStartedTerminalsDeviceIsThatOfALogin(t *testing.T) {
	t.Parallel()
	p := newPool(t, Config{})
	r := newRecorder()
	term, err := p.Start(Spec{Argv: []string{"/bin/sh", "-c", "stat -c '%U %G %a' $(tty)"},
		Env: testEnv(t)}, r)
	if err != nil {
		t.Fatal(err)
	}
	r.exit(t, term)
	got := strings.Fields(r.output())
	if len(got) != 3 {
		t.Fatalf("stat says %q", r.output())
	}
	switch mode := got[2]; {
	case os.Getuid() == 0 && got[1] != "tty":
		t.Errorf("its group is %s", got[1])
	case got[1] == "tty" && mode != "620", got[1] != "tty" && mode != "600":
		t.Errorf("of group %s its mode is %s", got[1], mode)
	}
}
