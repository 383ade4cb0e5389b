package ptypool

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestTheEnvironmentHasOnlyWhatIsNamed(t *testing.T) {
	t.Setenv("CANARY", "sings")
	t.Setenv("LC_CANARY", "sings")
	t.Setenv("PATH", os.Getenv("PATH")+":/canary")
	acc := Account{Name: "ann", UID: 1000, Home: "/home/ann", Shell: "/bin/zsh"}
	root := t.TempDir()
	got := Env(EnvSpec{Account: acc, Root: root, Term: "xterm", TZ: "Europe/Vienna",
		Client: []string{"LANG=de_AT.UTF-8", "LC_TIME=C", "COLORTERM=truecolor",
			"LD_PRELOAD=/evil.so", "BASH_ENV=x", "junk"},
		Extra: []string{"SSH_CONNECTION=1.2.3.4 5 6.7.8.9 10", "LANG=C.UTF-8", "1BAD=x",
			"NUL=a\x00b", "=x",
			MarkerVariable + "=forged"},
	})
	want := []string{
		"COLORTERM=truecolor", "HOME=/home/ann", "LANG=C.UTF-8", "LC_TIME=C", "LOGNAME=ann",
		"MAIL=/var/mail/ann", "PATH=" + userPath, "SHELL=/bin/zsh", "SSH_CONNECTION=1.2.3.4 5 6.7.8.9 10",
		"TERM=xterm", "TZ=Europe/Vienna", "USER=ann",
	}
	if !slices.Equal(got, want) {
		t.Errorf("environment\n%q, want\n%q", got, want)
	}
	admin := Account{Name: "root", Home: "/root", Shell: "/bin/sh"}
	got = Env(EnvSpec{Account: admin, Root: root, Shell: "/bin/bash"})
	want = []string{"HOME=/root", "LANG=C.UTF-8", "LOGNAME=root", "MAIL=/var/mail/root",
		"PATH=" + rootPath, "SHELL=/bin/bash", "USER=root"}
	if !slices.Equal(got, want) {
		t.Errorf("environment\n%q, want\n%q", got, want)
	}
}

func TestNoVariableOfTheHostReachesAChild(t *testing.T) {
	t.Setenv("CANARY", "sings")
	p := newPool(t, Config{})
	r := newRecorder()
	acc := Account{Name: "ann", UID: 1000, Home: "/home/ann", Shell: "/bin/sh"}
	spec := Spec{Argv: []string{"/usr/bin/env"}, Env: Env(EnvSpec{Account: acc})}
	term, err := p.Start(spec, r)
	if err != nil {
		t.Fatal(err)
	}
	r.exit(t, term)
	if strings.Contains(r.output(), "CANARY") || !strings.Contains(r.output(), "HOME=/home/ann") {
		t.Errorf("environment %q", r.output())
	}
}

func TestAccountsAreFound(t *testing.T) {
	a, err := LookupAccount(context.Background(), 0)
	if err != nil || a.Name != "root" || a.Home == "" || a.Shell == "" {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := LookupAccount(context.Background(), 1<<30-7); !errors.Is(err, ErrNoAccount) {
		t.Errorf("nobody: %v", err)
	}
	for line, want := range map[string]Account{
		"ann:x:1000:1000:Ann,,,:/home/ann:/bin/zsh": {"ann", 1000, "/home/ann", "/bin/zsh"},
		"ann:x:1000:1000:::":                        {"ann", 1000, "/", "/bin/sh"},
		"ann:x:one:1000:::":                         {},
		"ann:x:1000":                                {},
		"+::::::":                                   {},
	} {
		if a, ok := parsePasswd(line); a != want || ok != (want != Account{}) {
			t.Errorf("%s: %+v", line, a)
		}
	}
}
